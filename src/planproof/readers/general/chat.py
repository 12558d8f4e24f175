"""Chats of several speakers: who speaks is a free name, and actions may be told in prose."""

from __future__ import annotations

import re
from dataclasses import dataclass

from planproof.content import Json
from planproof.readers.pieces.calls import Call
from planproof.readers.pieces.conversation import (
    AGENTS,
    ROLES,
    SYSTEMS,
    TOOLS,
    USERS,
    Conversation,
    role_of,
)
from planproof.readers.pieces.deeds import as_deed, drives_browser, write_deed
from planproof.readers.pieces.fences import Block, blocks
from planproof.readers.pieces.outcomes import outcome_of
from planproof.readers.pieces.shapes import key_with_text, text_at, time_of
from planproof.readers.pieces.transcript import Draft, Result, Transcript
from planproof.trace import EventStatus, Kind

_SPEAKERS = ("name", "source", "speaker", "agent", "sender")
_SPEECH = ("content", "text", "message")
_STAGE = re.compile(r"(?P<who>[^()]{1,80})\((?P<how>[^()]{1,80})\)\s{0,8}")
_EXECUTOR = re.compile(r"terminal|executor|code[_ ]?runner|interpreter|sandbox", re.IGNORECASE)
_LEDGER = re.compile(
    r"\s{0,8}(?:(?:initial|updated|new|current) (?:plan|ledger|facts?)\b|next speaker\b)",
    re.IGNORECASE,
)
_RUN_RESULT = ("exitcode:", "exit code:", "code output:")


def is_turn(value: dict[str, Json]) -> bool:
    """Whether this is what somebody said in a chat: a speaker of any name, and text."""
    speaks = isinstance(value.get("role"), str) or key_with_text(value, _SPEAKERS) is not None
    return speaks and key_with_text(value, _SPEECH) is not None


@dataclass(slots=True)
class _Code:
    """A message with code blocks, which count as run only if the next turn runs them."""

    text: str
    pointer: str
    actor: str
    turn: int
    blocks: list[Block]
    time: str | None


class Chat:
    """Writes the turns of a chat, in order, into a transcript."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self.conversation = Conversation(transcript)
        self._code: _Code | None = None
        self._sent: set[str] = set()

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
            self._speech(value[key], f"{pointer}/{key}", speaker or value["role"])

    def flush(self) -> None:
        """Write the code that nobody ran as what it is: something said."""
        if self._code is not None:
            code, self._code = self._code, None
            self._write_said(code, code.text)

    def _message(self, value: dict[str, Json], pointer: str, key: str, turn: str | None) -> None:
        role = role_of(value)
        text, place = value[key], f"{pointer}/{key}"
        if role in USERS and self._code is not None and _is_run_result(text):
            self._run(text, place, "user")
            return
        self.flush()
        calls = value.get("tool_calls") or value.get("function_call")
        if role in AGENTS and not calls and self._hold(text, place, "assistant"):
            return
        self.conversation.message(value, pointer, turn)

    def _speech(self, text: str, pointer: str, speaker: str) -> None:
        if _is_run_result(text) or _EXECUTOR.search(speaker):
            self._run(text, pointer, speaker)
            return
        self.flush()
        stage = _STAGE.fullmatch(speaker)
        who, how = (stage["who"].strip(), stage["how"].strip()) if stage else (speaker, "")
        if who.lower() in USERS:
            self._transcript.begin_turn()
            self._transcript.say(Kind.MESSAGE, text, pointer, "user")
        elif who.lower() in SYSTEMS:
            self._transcript.begin_turn()
            self._transcript.say(Kind.SYSTEM, text, pointer, "system")
        elif how.startswith("->"):
            receiver = how[2:].strip()
            self._sent.add(receiver)
            self._transcript.begin_turn()
            self._transcript.call(Call(receiver or "hand-off", text=text), pointer, who)
        elif how.lower() in ("thought", "thinking", "reasoning"):
            self._transcript.begin_turn()
            kind = Kind.BOOKKEEPING if _LEDGER.match(text) else Kind.REASONING
            self._transcript.say(kind, text, pointer, who)
        else:
            self._said(text, pointer, who)

    def _said(self, text: str, pointer: str, who: str) -> None:
        deed = as_deed(text, by_program=who in self._sent and drives_browser(who))
        if deed is not None:
            self._transcript.begin_turn()
            write_deed(self._transcript, deed, pointer, who)
        elif not self._hold(text, pointer, who):
            self._transcript.begin_turn()
            self.conversation.prose(text, pointer, who)

    def _hold(self, text: str, pointer: str, who: str) -> bool:
        found = [block for block in blocks(text) if block.runs_as] if "```" in text else []
        if not found:
            return False
        self._transcript.begin_turn()
        self._transcript.writes += 1
        self._code = _Code(text, pointer, who, self._transcript.turn, found, self._transcript.time)
        return True

    def _run(self, output: str, pointer: str, executor: str) -> None:
        code, self._code = self._code, None
        if code is None:
            if _is_run_result(output):
                self._transcript.answer(Result(output, pointer, actor=executor))
            else:
                self._transcript.begin_turn()
                self._transcript.say(Kind.SYSTEM, output, pointer, executor)
            return
        position = 0
        status = outcome_of(output)
        draft: Draft | None = None
        for block in code.blocks:
            self._write_said(code, code.text[position : block.start])
            draft = Draft(Kind.ACTION, code.pointer, block.runs_as, code.actor, block.code)
            # One output for all blocks: when it failed, it does not say in which of them.
            draft.status = status if status is EventStatus.OK else EventStatus.UNKNOWN
            draft.turn, draft.time = code.turn, code.time
            self._transcript.add(draft)
            position = block.end
        assert draft is not None
        draft.returned(output, pointer, status)
        self._write_said(code, code.text[position:])

    def _write_said(self, code: _Code, text: str) -> None:
        if text.strip():
            draft = Draft(Kind.MESSAGE, code.pointer, actor=code.actor, text=text.strip())
            draft.turn, draft.time = code.turn, code.time
            self._transcript.add(draft)


def _is_run_result(text: str) -> bool:
    return text[:80].lstrip().lower().startswith(_RUN_RESULT)
