"""Capture LangChain and LangGraph runs with a callback handler that collects messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from threading import RLock
from typing import Any
from uuid import UUID

from planproof.integrations.capture.recorder import Recorder
from planproof.integrations.hosts import import_framework, make_subclass, to_json_value


def callback(recorder: Recorder) -> Any:
    """Return the handler for `config={"callbacks": [...]}`; it can stop the agent before a call."""
    base = import_framework("langchain_core.callbacks", "langchain-core").BaseCallbackHandler
    return make_subclass(base, _Callback)(recorder)


class _Callback:
    """Collects the messages to and from a model, and the results of tools.

    Runs inside a tool, such as another agent, belong to the call of that tool and are not recorded.
    """

    raise_error = True
    run_inline = True

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._lock = RLock()
        self._messages: list[Any] = []
        self._tool_run_ids: set[UUID] = set()
        """Ids of tool runs and of all runs inside them."""

    def on_chain_start(self, *_: Any, run_id: UUID, parent_run_id: UUID | None, **__: Any) -> None:
        """Remember runs that are inside a tool."""
        if parent_run_id in self._tool_run_ids:
            self._tool_run_ids.add(run_id)

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: Sequence[Sequence[Any]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None,
        **_: Any,
    ) -> None:
        """Record the new messages that a model is given."""
        del serialized
        if parent_run_id in self._tool_run_ids:
            self._tool_run_ids.add(run_id)
        elif messages:
            self._record(messages[0])

    def on_llm_end(self, response: Any, *, run_id: UUID, **_: Any) -> None:
        """Record the model's answer before its calls are made."""
        message = getattr(response.generations[0][0], "message", None)
        if message is not None and run_id not in self._tool_run_ids:
            self._record([*self._messages, message])

    def on_tool_start(self, *_: Any, run_id: UUID, **__: Any) -> None:
        """Remember that the runs that follow are inside a tool."""
        self._tool_run_ids.add(run_id)

    def on_tool_end(self, output: Any, *, parent_run_id: UUID | None, **_: Any) -> None:
        """Record a call's result if it is a message; otherwise the model is given one later."""
        if parent_run_id not in self._tool_run_ids and getattr(output, "type", None) == "tool":
            self._record([*self._messages, output])

    def _record(self, messages: Sequence[Any]) -> None:
        dump = import_framework("langchain_core.messages", "langchain-core").messages_to_dict
        # Tools run in threads, and the last record must contain all messages.
        with self._lock:
            unmatched = Counter(map(_identity, self._messages))
            for message in messages:
                identity = _identity(message)
                if unmatched[identity] > 0:
                    unmatched[identity] -= 1
                else:
                    self._messages.append(message)
            self._recorder.record(to_json_value(dump(self._messages)), reader="langchain")


def _identity(message: Any) -> Hashable:
    """Return a key that identifies a message; its id may only be assigned later."""
    calls = tuple(call["id"] for call in getattr(message, "tool_calls", ()))
    answers = getattr(message, "tool_call_id", None)
    return (message.type, calls, answers or str(message.content))
