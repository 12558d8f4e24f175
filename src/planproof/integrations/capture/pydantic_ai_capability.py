"""Capture Pydantic AI runs with a capability that sees the messages around each model request."""

from __future__ import annotations

from typing import Any

from planproof.integrations.capture.recorder import Recorder
from planproof.integrations.hosts import import_framework, make_subclass


def capability(recorder: Recorder) -> Any:
    """Return the capability for `Agent(capabilities=[...])`; can stop the agent before a call."""
    base = import_framework("pydantic_ai.capabilities", "pydantic-ai").AbstractCapability
    return make_subclass(base, _Capability)(recorder)


class _Capability:
    """Records the messages of a run in the form of `all_messages_json()`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Record the request, including the results of earlier calls."""
        self._record(ctx.messages)
        return request_context

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:
        """Record the model's answer before its calls are made."""
        del request_context
        self._record([*ctx.messages, response])
        return response

    async def after_run(self, ctx: Any, *, result: Any) -> Any:
        """Record the whole run."""
        del ctx
        self._record(result.all_messages())
        return result

    def _record(self, messages: list[Any]) -> None:
        dump = import_framework(
            "pydantic_ai.messages", "pydantic-ai"
        ).ModelMessagesTypeAdapter.dump_python
        self._recorder.record(dump(messages, mode="json"), reader="pydantic-ai")
