"""Chats of unknown make: messages with the usual roles, and turns of speakers of any name."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import key_with_text, parse_time, text_at
from planproof.readers.toolkit.code_runs import is_run_result
from planproof.readers.toolkit.conversation import (
    AGENT_ROLES,
    ROLES,
    TOOL_ROLES,
    USER_ROLES,
    Conversation,
    get_role,
)
from planproof.readers.toolkit.speakers import Speakers
from planproof.readers.toolkit.text_pointers import make_constant_pointer
from planproof.readers.toolkit.trace_builder import TraceBuilder

_SPEAKER_KEYS = ("name", "source", "speaker", "agent", "sender")
_TEXT_KEYS = ("content", "text", "message")


def is_turn(value: dict[str, Json]) -> bool:
    """Whether this is what somebody said in a chat: a speaker of any name, and text."""
    speaks = isinstance(value.get("role"), str) or key_with_text(value, _SPEAKER_KEYS) is not None
    return speaks and key_with_text(value, _TEXT_KEYS) is not None


class Chat:
    """Writes the turns of a chat, in order, into a transcript."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self.conversation = Conversation(builder)
        self._speakers = Speakers(builder)

    def add_turn(self, value: dict[str, Json], pointer: str, turn: str | None = None) -> None:
        """Write one turn; code in it waits to see whether the next one runs it."""
        moment = value.get("timestamp") or value.get("created_at")
        if moment is not None:
            self._builder.time = parse_time(moment)
        role = get_role(value)
        speaker = text_at(value, *_SPEAKER_KEYS)
        key = key_with_text(value, _TEXT_KEYS)
        if role in TOOL_ROLES or key is None:
            self.flush()
            self.conversation.add_message(value, pointer, turn)
        elif key != "message" and role in ROLES and speaker in (None, role):
            self._add_message(value, pointer, key, turn)
        else:
            self._speakers.add_turn(
                value[key], make_constant_pointer(f"{pointer}/{key}"), speaker or value["role"]
            )

    def flush(self) -> None:
        """Write what still waited for the next turn."""
        self._speakers.flush()

    def _add_message(
        self, value: dict[str, Json], pointer: str, key: str, turn: str | None
    ) -> None:
        role = get_role(value)
        text, text_pointer = value[key], f"{pointer}/{key}"
        code = self._speakers.code_runs
        if role in USER_ROLES and code.has_pending and is_run_result(text):
            code.add_report(text, text_pointer, "user")
            return
        self.flush()
        if role in AGENT_ROLES and not (value.get("tool_calls") or value.get("function_call")):
            self._builder.begin_turn(turn)
            if code.defer_code(text, make_constant_pointer(text_pointer), "assistant"):
                return
        self.conversation.add_message(value, pointer, turn)
