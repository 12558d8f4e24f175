"""AutoGen AgentChat: agents whose messages are seen as they come, alone or in a team."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from planproof.core.content import Json
from planproof.integrations.capture.recorder import Recorder


def attach(recorder: Recorder, *agents: Any) -> None:
    """See all that these agents are told, say and call; stops one of them before its call."""
    message_log = _MessageLog(recorder)
    for agent in agents:
        agent.on_messages_stream = _wrap_stream(agent.on_messages_stream, message_log)


class _MessageLog:
    """The messages of all agents, each once, as a result of a team holds them."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._messages: dict[str, Json] = {}

    def add(self, messages: Sequence[Any]) -> None:
        """Take what is new."""
        for message in messages:
            self._messages.setdefault(message.id, message.model_dump(mode="json"))
        self._recorder.record(list(self._messages.values()), reader="autogen")


def _wrap_stream(
    stream: Callable[..., AsyncIterator[Any]], message_log: _MessageLog
) -> Callable[..., Any]:
    async def on_messages_stream(messages: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        message_log.add(messages)
        async for message in stream(messages, *args, **kwargs):
            # The last is a response, which holds the message.
            message_log.add([getattr(message, "chat_message", message)])
            yield message

    return on_messages_stream
