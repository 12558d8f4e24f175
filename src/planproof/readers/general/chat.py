"""Chats of unknown make: messages with the usual roles, and turns of speakers of any name."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import key_with_text, text_at, time_of
from planproof.readers.toolkit.code_runs import is_run_result
from planproof.readers.toolkit.conversation import (
    AGENTS,
    ROLES,
    TOOLS,
    USERS,
    Conversation,
    role_of,
)
from planproof.readers.toolkit.speakers import Speakers
from planproof.readers.toolkit.text_pointers import at
from planproof.readers.toolkit.trace_builder import Transcript

_SPEAKERS = ("name", "source", "speaker", "agent", "sender")
_SPEECH = ("content", "text", "message")


def is_turn(value: dict[str, Json]) -> bool:
    """Whether this is what somebody said in a chat: a speaker of any name, and text."""
    speaks = isinstance(value.get("role"), str) or key_with_text(value, _SPEAKERS) is not None
    return speaks and key_with_text(value, _SPEECH) is not None


class Chat:
    """Writes the turns of a chat, in order, into a transcript."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self.conversation = Conversation(transcript)
        self._speakers = Speakers(transcript)

    def turn(self, value: dict[str, Json], pointer: str, turn: str | None = None) -> None:
        """Write one turn; code in it waits to see whether the next one runs it."""
        moment = value.get("timestamp") or value.get("created_at")
        if moment is not None:
            self._transcript.time = time_of(moment)
        role = role_of(value)
        speaker = text_at(value, *_SPEAKERS)
        key = key_with_text(value, _SPEECH)
        if role in TOOLS or key is None:
            self.flush()
            self.conversation.message(value, pointer, turn)
        elif key != "message" and role in ROLES and speaker in (None, role):
            self._message(value, pointer, key, turn)
        else:
            self._speakers.said(value[key], at(f"{pointer}/{key}"), speaker or value["role"])

    def flush(self) -> None:
        """Write what still waited for the next turn."""
        self._speakers.flush()

    def _message(self, value: dict[str, Json], pointer: str, key: str, turn: str | None) -> None:
        role = role_of(value)
        text, place = value[key], f"{pointer}/{key}"
        code = self._speakers.code
        if role in USERS and code.waiting and is_run_result(text):
            code.report(text, place, "user")
            return
        self.flush()
        if role in AGENTS and not (value.get("tool_calls") or value.get("function_call")):
            self._transcript.begin_turn(turn)
            if code.hold(text, at(place), "assistant"):
                return
        self.conversation.message(value, pointer, turn)
