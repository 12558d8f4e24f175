"""Speakers: the turns of several agents, each known by a free name, in prose.

What counts as done: code that the next turn ran, a call in the text, a hand-off to another
agent, and what a program reports that it did. What an agent merely says it did is a message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from planproof.core.content import Json
from planproof.core.json_values import embedded, is_object, text_at
from planproof.core.trace import Kind
from planproof.readers.toolkit.call_markup import Segment, is_plain, segments
from planproof.readers.toolkit.checklists import checklists
from planproof.readers.toolkit.code_runs import CodeRuns, is_executor, is_run_result
from planproof.readers.toolkit.conversation import SYSTEMS, TOOLS, USERS
from planproof.readers.toolkit.json_answers import write_structured
from planproof.readers.toolkit.ledgers import is_ledger, write_ledger
from planproof.readers.toolkit.narrated_actions import as_deed, drives_browser, write_deed
from planproof.readers.toolkit.text_pointers import Place
from planproof.readers.toolkit.trace_builder import Result, Transcript

_STAGE = re.compile(r"(?P<who>[^()]{1,80})\((?P<how>[^()]{1,80})\)\s{0,8}")
# Looked up once: most of what is said are messages.
_MESSAGE = Kind.MESSAGE
_THINKING = frozenset(("thought", "thinking", "reasoning"))


def speak_by_name(messages: Sequence[dict[str, Json]]) -> bool:
    """Whether messages with the usual roles are a group chat, where the speaker is the name."""
    names: set[str | None] = set()
    for message in messages:
        if "tool_responses" in message:
            return True
        if "name" in message and message.get("role") in ("user", "assistant"):
            names.add(text_at(message, "name"))
    return len(names - {None}) > 1


@dataclass(frozen=True, slots=True)
class _Speaker:
    """What a name says of whoever bears it, and the stage direction behind it."""

    who: str
    role: str
    receiver: str | None
    thinks: bool
    executes: bool
    browses: bool

    @classmethod
    def named(cls, name: str) -> _Speaker:
        stage = _STAGE.fullmatch(name)
        who, how = (stage["who"].strip(), stage["how"].strip()) if stage else (name, "")
        return cls(
            who=who,
            role=who.lower(),
            receiver=how[2:].strip() if how.startswith("->") else None,
            thinks=how.lower() in _THINKING,
            executes=is_executor(who),
            browses=drives_browser(who),
        )


class Speakers:
    """Writes what named speakers say, in order, into a transcript."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self.code = CodeRuns(transcript)
        self._sent: set[str] = set()
        self._known: dict[str, _Speaker] = {}

    def flush(self) -> None:
        """Write what still waited for the next turn."""
        self.code.flush()

    def said(self, text: str, place: Place, speaker: str) -> None:
        """Write one turn; a stage direction may stand behind the name: "Boss (thought)"."""
        known = self._known.get(speaker)
        if known is None:
            known = self._known[speaker] = _Speaker.named(speaker)
        who, role = known.who, known.role
        whole = place(0, len(text))
        if known.executes or (is_run_result(text) and not self.code.is_by(who)):
            self.code.report(text, whole, who)
            return
        self.flush()
        if role in TOOLS:
            self._transcript.answer(Result(text.strip(), whole, actor="tool"))
            return
        self._transcript.begin_turn()
        if role in USERS:
            self._transcript.say(_MESSAGE, text.strip(), whole, "user")
        elif role in SYSTEMS:
            self._transcript.say(Kind.SYSTEM, text.strip(), whole, "system")
        elif known.receiver is not None:
            self.hand_off(known.receiver, text, whole, who)
        elif (known.thinks or "orchestrator" in role) and is_ledger(text):
            write_ledger(self._transcript, text, place, who)
        elif known.thinks:
            self._transcript.say(Kind.REASONING, text.strip(), whole, who)
        else:
            self._acted(text, place, who, by_program=known.browses and who in self._sent)

    def hand_off(self, receiver: str, text: str, pointer: str, who: str) -> None:
        """Write that one agent sends another to work.

        The turns of the other are not made its children: it is one chat, in which each of them
        is as much a step of the work as the hand-off.
        """
        self._sent.add(receiver)
        self._transcript.hand_off(receiver, text, pointer, who)

    def _acted(self, text: str, place: Place, who: str, *, by_program: bool) -> None:
        whole = place(0, len(text))
        deed = as_deed(text, by_program=by_program)
        if deed is not None:
            with self._transcript.reading_text(text, whole, who):
                write_deed(self._transcript, deed, whole, who)
            return
        value = embedded(text)
        if is_object(value):
            with self._transcript.reading_text(text, whole, who):
                if write_structured(self._transcript, value, whole, who):
                    return
        if is_plain(text):
            if not self.code.hold(text, place, who):
                self._prose(_MESSAGE, text, (0, len(text)), place, who)
            return
        found = segments(text)
        acts = any(segment.call is not None for segment in found)
        if acts or not self.code.hold(text, place, who):
            # Of one who speaks to others it is a message also beside a call.
            thinks = acts and who == "assistant"
            with self._transcript.reading_text(text, whole, who):
                for segment in found:
                    self._spoke(segment, text, place, who, thinks=thinks)

    def _spoke(self, segment: Segment, text: str, place: Place, who: str, *, thinks: bool) -> None:
        pointer = place(segment.start, segment.end)
        if segment.call is not None:
            self._transcript.call(segment.call, pointer, who)
        elif segment.sort == "result":
            piece = text[segment.start : segment.end].strip()
            # A result that no call waits for is the speaker's own word.
            source = "environment" if self._transcript.awaits_result() else who
            self._transcript.answer(Result(piece, pointer, actor=source))
            # Nothing but its results divides such a text: what follows was issued later.
            self._transcript.begin_turn()
        else:
            if segment.sort == "thought" and self._transcript.has_just_called():
                self._transcript.begin_turn()
            thought = segment.sort == "thought" or (thinks and segment.sort == "prose")
            kind = Kind.REASONING if thought else _MESSAGE
            self._prose(kind, text, (segment.start, segment.end), place, who)

    def _prose(
        self, kind: Kind, text: str, stretch: tuple[int, int], place: Place, who: str
    ) -> None:
        """Write what is said; the checklists in it are plans."""
        begin, close = stretch
        position = begin
        for start, end in checklists(text[begin:close]):
            first, last = begin + start, begin + end
            self._say(kind, text, (position, first), place, who)
            self._transcript.plan(text[first:last].strip(), place(first, last), who)
            position = last
        self._say(kind, text, (position, close), place, who)

    def _say(self, kind: Kind, text: str, stretch: tuple[int, int], place: Place, who: str) -> None:
        self._transcript.say(kind, text[slice(*stretch)].strip(), place(*stretch), who)
