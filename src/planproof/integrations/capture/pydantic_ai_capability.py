"""Pydantic AI: a capability that sees the messages before and after each request to the model."""

from __future__ import annotations

from typing import Any

from planproof.integrations.capture.recorder import Recorder
from planproof.integrations.hosts import import_framework, make_subclass


def capability(recorder: Recorder) -> Any:
    """The capability, for `Agent(capabilities=[...])`; it stops the agent before the call."""
    base = import_framework("pydantic_ai.capabilities", "pydantic-ai").AbstractCapability
    return make_subclass(base, _Capability)(recorder)


class _Capability:
    """Hands over the messages of a run as `all_messages_json()` gives them."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Take what the model is asked, with the results of the calls before."""
        self._record(ctx.messages)
        return request_context

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:
        """Take the answer, whose calls are yet to be made."""
        del request_context
        self._record([*ctx.messages, response])
        return response

    async def after_run(self, ctx: Any, *, result: Any) -> Any:
        """Take the whole run."""
        del ctx
        self._record(result.all_messages())
        return result

    def _record(self, messages: list[Any]) -> None:
        dump = import_framework(
            "pydantic_ai.messages", "pydantic-ai"
        ).ModelMessagesTypeAdapter.dump_python
        self._recorder.record(dump(messages, mode="json"), reader="pydantic-ai")
