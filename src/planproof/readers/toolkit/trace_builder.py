"""The transcript: where readers write down events, and results find the calls they belong to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from msgspec import Struct

from planproof.core.content import Image, Json
from planproof.core.trace import Event, EventStatus, Kind, Skipped, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.readers.toolkit.call_outcomes import outcome_of
from planproof.readers.toolkit.tool_calls import Call

# Looked up once: every event asks for some of them.
_ACTION, _BOOKKEEPING, _MESSAGE = Kind.ACTION, Kind.BOOKKEEPING, Kind.MESSAGE
_UNKNOWN = EventStatus.UNKNOWN
_NAMELESS = frozenset({None, "assistant", "agent", "ai", "model"})
_bare_draft = object.__new__


@dataclass(slots=True, eq=False)
class Draft:
    """An event while its trace is still being read: its result may be yet to come.

    It has the fields of an event, and only these.
    """

    kind: Kind
    pointer: str
    name: str | None = None
    actor: str | None = None
    text: str = ""
    arguments: Json = None
    output: str = ""
    output_pointer: str | None = None
    status: EventStatus = EventStatus.UNKNOWN
    time: str | None = None
    parent: Draft | None = None
    turn: int = 0
    images: tuple[Image, ...] = ()
    id: str = ""

    def returned(self, output: str, pointer: str, status: EventStatus | None = None) -> None:
        """Note what came back; where the record does not say how it ended, the output does."""
        self.output = output
        self.output_pointer = pointer
        self.status = status or outcome_of(output)


class Result(Struct):
    """What came back from a call. `status` is what the record itself says, if it says so."""

    text: str
    pointer: str
    call_id: str | None = None
    name: str | None = None
    actor: str | None = None
    status: EventStatus | None = None
    images: tuple[Image, ...] = ()


@dataclass(slots=True, eq=False)
class _TextCalls:
    """A text in which calls were recognised, and the drafts written for it.

    `answers` are results that came from elsewhere to these calls, each with the draft before it.
    """

    text: str
    pointer: str
    actor: str | None
    turn: int
    drafts: list[Draft] = field(default_factory=list[Draft])
    answers: list[tuple[Draft, Result]] = field(default_factory=list[tuple[Draft, Result]])


class Transcript:
    """Collects drafts in order; `parent` and `time` are given to what is written next.

    A call is a record, or it was recognised in what an agent wrote (`reading_text`). The latter
    counts only for an agent whose calls are not records: anybody can write what looks like one.
    """

    def __init__(self, skipped: Sequence[Skipped] = ()) -> None:
        self.drafts: list[Draft] = []
        self.turn = 0
        self.time: str | None = None
        self.parent: Draft | None = None
        self.calls = 0
        self._skipped = list(skipped)
        # What was skipped before was not written here.
        self._notes = -len(self._skipped)
        self._turns: dict[str, int] = {}
        self._last_turn = 0
        self._by_id: dict[str, list[Draft]] = {}
        self._unanswered: OrderedDict[int, Draft] = OrderedDict()
        self._calling_turn = 0
        self._callers: set[tuple[str | None, str]] = set()
        self._text_calls: dict[int, _TextCalls] = {}
        self._reading: _TextCalls | None = None
        self._unanswered_in_text: OrderedDict[int, Draft] = OrderedDict()

    def begin_turn(self, key: str | None = None) -> None:
        """What follows is a new turn, or goes on with the turn of the same key."""
        if key is not None and key in self._turns:
            self.turn = self._turns[key]
            return
        self._last_turn += 1
        self.turn = self._last_turn
        if key is not None:
            self._turns[key] = self.turn

    def add(self, draft: Draft) -> Draft:
        """Write an event down, in the turn that is under way."""
        draft.turn = draft.turn or self.turn
        draft.time = draft.time or self.time
        draft.parent = draft.parent or self.parent
        self.drafts.append(draft)
        return draft

    def say(self, kind: Kind, text: str, pointer: str, actor: str | None) -> Draft | None:
        """Write down what somebody said or thought, if it is anything."""
        if not text or text.isspace():
            return None
        return self._write(kind, pointer, None, actor, text)

    def plan(self, text: str, pointer: str, actor: str | None) -> Draft | None:
        """Write down a plan that the format itself marks as one, if there is anything in it."""
        if not text or text.isspace():
            return None
        return self._write(_BOOKKEEPING, pointer, "plan", actor, text)

    def call(self, call: Call, pointer: str, actor: str | None, *, recorded: bool = True) -> Draft:
        """Write down an action whose result may follow; not every one is the record of a call."""
        if self._reading is not None:
            return self._call_in_text(call, pointer, actor)
        if recorded:
            self._callers.add((actor, call.name))
        self.calls += 1
        draft = self._write(_ACTION, pointer, call.name, actor, call.text, call.arguments)
        if self.turn != self._calling_turn:
            self._calling_turn = self.turn
            if self._unanswered:
                self._unanswered.clear()
        self._unanswered[id(draft)] = draft
        if call.id:
            self._by_id.setdefault(call.id, []).append(draft)
        return draft

    def hand_off(self, receiver: str, task: str, pointer: str, actor: str | None) -> Draft:
        """Write down that an agent turned to another one."""
        return self.call(Call(receiver or "hand-off", text=task), pointer, actor, recorded=False)

    @contextmanager
    def reading_text(self, text: str, pointer: str, actor: str | None) -> Generator[None]:
        """Remember that what is written meanwhile was recognised in this text of an agent."""
        first = len(self.drafts)
        found = self._reading = _TextCalls(text, pointer, actor, self.turn)
        try:
            yield
        finally:
            self._reading = None
            found.drafts = self.drafts[first:]

    def answer(self, result: Result) -> Draft:
        """Tie a result to its call; one without a call is an observation."""
        self._notes += 1
        draft = self._called(result)
        if draft is None:
            return self._observe(result)
        if self._text_calls:
            found = self._text_calls.get(id(draft))
            if found is not None and found is not self._reading:
                found.answers.append((self.drafts[-1], result))
        if draft.output_pointer is not None:
            # What merely came next was tied to the call; this one names it.
            self._observe(Result(draft.output, draft.output_pointer, status=draft.status))
        draft.returned(result.text, result.pointer, result.status)
        if result.images:
            draft.images += result.images
        return draft

    def observe(self, text: str, pointer: str, actor: str | None) -> Draft:
        """Write down a result that belongs to no call."""
        return self._observe(Result(text, pointer, actor=actor))

    @property
    def writes(self) -> int:
        """Grows with everything that is written or noted."""
        return len(self.drafts) + len(self._skipped) + self._notes

    def note(self) -> None:
        """Note that something was understood that is written down only later."""
        self._notes += 1

    def awaits_result(self) -> bool:
        """Whether the last turn that called something has not had all its results yet."""
        return bool(self._unanswered or self._unanswered_in_text)

    def has_just_called(self) -> bool:
        """Return whether the last event is a call of this turn."""
        last = self.drafts[-1] if self.drafts else None
        return last is not None and last.kind is _ACTION and last.turn == self.turn

    def is_answered(self, call_id: str | None) -> bool:
        """Whether the call of this id has its result already, told where the tool ran."""
        waiting = self._by_id.get(call_id) if call_id is not None else None
        return bool(waiting) and waiting[0].output_pointer is not None

    def skip(self, pointer: str, why: str) -> None:
        """Note a part of the source that gives no event."""
        self._skipped.append(Skipped(pointer, why))

    def trace(self, reader: str) -> Trace:
        """The finished trace. The drafts are used up: they become its events."""
        if self._text_calls:
            self._drop_forged_calls()
        for number, draft in enumerate(self.drafts, 1):
            draft.id = f"e{number}"
        made: Any
        for made in self.drafts:
            if made.parent is not None:
                made.parent = made.parent.id
            # They have the same fields; to make each anew would take a fifth of all the reading.
            made.__class__ = Event
        events = cast("tuple[Event, ...]", tuple(self.drafts))
        return Trace(events, reader, tuple(self._skipped))

    def _call_in_text(self, call: Call, pointer: str, actor: str | None) -> Draft:
        self.calls += 1
        draft = self._write(_ACTION, pointer, call.name, actor, call.text, call.arguments)
        # Kept apart: what is written in a text never takes the result of a call.
        waiting = self._unanswered_in_text
        if waiting and next(iter(waiting.values())).turn != self.turn:
            waiting.clear()
        waiting[id(draft)] = draft
        assert self._reading is not None
        self._text_calls[id(draft)] = self._reading
        return draft

    def _drop_forged_calls(self) -> None:
        """Put the text back in the place of calls in it, for agents whose calls are records."""
        known = Vocabulary()
        callers = {
            actor
            for actor, tool in self._callers
            if not known.keeps_books(tool) and not known.closes(tool)
        }
        if not callers:
            return
        # Where one of two has no name of its own, nobody can say that they are not the same.
        nameless = not callers.isdisjoint(_NAMELESS)
        forged = [
            found
            for found in self._text_calls.values()
            if nameless or found.actor in callers or found.actor in _NAMELESS
        ]
        if not forged:
            return
        texts: dict[int, Draft] = {}
        results: dict[int, list[Draft]] = {}
        for found in dict.fromkeys(forged):
            text = Draft(_MESSAGE, found.pointer, actor=found.actor, text=found.text.strip())
            text.turn, text.time = found.turn, found.drafts[0].time
            text.parent = found.drafts[0].parent
            texts.update((id(draft), text) for draft in found.drafts)
            for before, result in found.answers:
                results.setdefault(id(before), []).append(self._observation(result))
        drafts, self.drafts = self.drafts, []
        placed: set[int] = set()
        for draft in drafts:
            written = texts.get(id(draft), draft)
            if id(written) not in placed:
                self.drafts.append(written)
                placed.add(id(written))
            self.drafts += results.get(id(draft), ())
        calling = {(draft.turn, draft.actor) for draft in self.drafts if draft.kind is _ACTION}
        for draft in texts.values():
            if (draft.turn, draft.actor) in calling:
                draft.kind = Kind.REASONING
        for draft in self.drafts:
            while draft.parent is not None and id(draft.parent) in texts:
                draft.parent = texts[id(draft.parent)].parent

    def _write(
        self,
        kind: Kind,
        pointer: str,
        name: str | None,
        actor: str | None,
        text: str,
        arguments: Json = None,
    ) -> Draft:
        # Field by field: nearly every event is made here, and `__init__` takes half as long again.
        draft = _bare_draft(Draft)
        draft.kind = kind
        draft.pointer = pointer
        draft.name = name
        draft.actor = actor
        draft.text = text
        draft.arguments = arguments
        draft.output = ""
        draft.output_pointer = None
        draft.status = _UNKNOWN
        draft.time = self.time
        draft.parent = self.parent
        draft.turn = self.turn
        draft.images = ()
        draft.id = ""
        self.drafts.append(draft)
        return draft

    def _observe(self, result: Result) -> Draft:
        return self.add(self._observation(result))

    def _observation(self, result: Result) -> Draft:
        self._last_turn += 1
        kind = _MESSAGE if result.actor == "user" else Kind.OBSERVATION
        draft = Draft(kind, result.pointer, result.name, result.actor, result.text)
        draft.turn = self._last_turn
        draft.images = result.images
        draft.status = result.status or outcome_of(result.text)
        return draft

    def _called(self, result: Result) -> Draft | None:
        if result.call_id:
            waiting = self._by_id.get(result.call_id)
            if not waiting:
                return None
            draft = waiting.pop(0)
            self._unanswered.pop(id(draft), None)
            return draft
        for waiting in (self._unanswered, self._unanswered_in_text):
            for key, draft in waiting.items():
                if result.name is None or draft.name == result.name:
                    del waiting[key]
                    return draft
        return None
