"""Capture AutoGen AgentChat runs: record the message streams of agents, alone or in a team."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from planproof.core.content import Json
from planproof.integrations.capture.recorder import Recorder


def attach(recorder: Recorder, *agents: Any) -> None:
    """Record all messages and calls of these agents; can stop an agent before its call."""
    message_log = _MessageLog(recorder)
    for agent in agents:
        agent.on_messages_stream = _wrap_stream(agent.on_messages_stream, message_log)


class _MessageLog:
    """Messages of all agents without duplicates, in the form of a team result."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._messages: dict[str, Json] = {}

    def add(self, messages: Sequence[Any]) -> None:
        """Add new messages and record the log."""
        for message in messages:
            self._messages.setdefault(message.id, message.model_dump(mode="json"))
        self._recorder.record(list(self._messages.values()), reader="autogen")


def _wrap_stream(
    stream: Callable[..., AsyncIterator[Any]], message_log: _MessageLog
) -> Callable[..., Any]:
    async def on_messages_stream(messages: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        message_log.add(messages)
        async for message in stream(messages, *args, **kwargs):
            # The last item is a response that contains the message.
            message_log.add([getattr(message, "chat_message", message)])
            yield message

    return on_messages_stream
