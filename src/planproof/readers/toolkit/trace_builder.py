"""Build a trace: collect event drafts and match tool results to their calls."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager

from msgspec import Struct, structs

from planproof.core.content import Image, Json
from planproof.core.pointer import collect_ancestors
from planproof.core.trace import UNVERIFIED, Event, EventStatus, Kind, SkippedPart, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.readers.toolkit.code_calls import split_code_calls
from planproof.readers.toolkit.tool_calls import ToolCall, infer_status

REPORTED = "report"
"""The recognition of what a program reports that it did, with what it then saw."""
PROSE = "prose"
"""The recognition of what somebody reports that they did on a page, with what they then saw."""
# A function, or a name with an underscore, which no word of a language has.
_NAME = re.compile(r"\b[A-Za-z_]\w{0,80}\(|\b[a-z][a-z0-9]{0,40}_\w{1,80}")
_GENERIC_ACTORS = frozenset({None, "assistant", "agent", "ai", "model"})


class EventDraft(Struct, eq=False):
    """An event while its trace is still being read; its result may come later."""

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
    parent: EventDraft | None = None
    turn: int = 0
    images: tuple[Image, ...] = ()
    recognition: str = ""

    def set_output(self, output: str, pointer: str, status: EventStatus | None = None) -> None:
        """Set the output; without `status`, infer it from the output."""
        self.output = output
        self.output_pointer = pointer
        self.status = status or infer_status(output)


class ToolResult(Struct):
    """The result of a call; `status` is the one given by the record, if any."""

    text: str
    pointer: str
    call_id: str | None = None
    name: str | None = None
    actor: str | None = None
    status: EventStatus | None = None
    images: tuple[Image, ...] = ()


class _TextCalls:
    """A text in which calls were recognised, and the drafts created for it.

    `results` are results of these calls from outside the text, each with the draft before it.
    `turns` are those from the one in which the text begins to the one after its last result: a
    call that was recorded next to the text is in one of them.
    """

    def __init__(self, builder: TraceBuilder, text: str, pointer: str, actor: str | None) -> None:
        self._builder = builder
        self.text, self.pointer, self.actor, self.turn = text, pointer, actor, builder.turn
        self.turns = range(self.turn, self.turn + 1)
        self.drafts: list[EventDraft] = []
        self.results: list[tuple[EventDraft, ToolResult]] = []

    # Every text of an agent is read in this context: written out, it takes a third of the time.
    def __enter__(self) -> None:
        self._builder.current_text = self
        self._first = len(self._builder.drafts)

    def __exit__(self, *error: object) -> None:
        self._builder.current_text = None
        self.drafts = self._builder.drafts[self._first :]
        self.turns = range(self.turn, max(self.turn, self._builder.turn) + 1)

    @property
    def is_page_report(self) -> bool:
        """True if the text tells what its actor did to a page, which nothing else answers."""
        return any(draft.recognition == PROSE for draft in self.drafts)


class TraceBuilder:
    """Collects drafts in order; `parent` and `time` apply to the drafts added next.

    A call is either recorded, or recognised in an agent's text (`reading_text`). The latter counts
    only for agents without recorded calls, since any text can contain something that looks like a
    call; if calls of one form are answered (`Action:`, a tag, a fence ...), only in that form; and
    if none are answered, only for an agent that does not mostly talk.
    """

    def __init__(self, skipped: Sequence[SkippedPart] = ()) -> None:
        self.drafts: list[EventDraft] = []
        self.turn = 0
        self.time: str | None = None
        self.parent: EventDraft | None = None
        self.call_count = 0
        self.change_count = 0
        """A counter that grows with each addition or skipped part."""
        self._skipped = list(skipped)
        self._turn_by_key: dict[str, int] = {}
        self._last_turn = 0
        # The calls of each turn apart: an id that is used again is that of the newest turn.
        self._calls_by_id: dict[str, list[list[EventDraft]]] = {}
        self._unanswered: OrderedDict[int, EventDraft] = OrderedDict()
        self._callers: set[tuple[str | None, str]] = set()
        self._text_calls: dict[int, _TextCalls] = {}
        self.current_text: _TextCalls | None = None
        self._unanswered_in_text: OrderedDict[int, EventDraft] = OrderedDict()
        self._text_calls_by_id: dict[str, list[list[EventDraft]]] = {}
        # The calls before the last one in the same code, by the id of the last one.
        self._same_code: dict[int, list[EventDraft]] = {}
        # Who mentioned the names of functions and tools, and how many events were searched.
        self._mentions: dict[str, set[str | None]] = {}
        self._searched = 0
        self._answered_forms: dict[str | None, set[str]] = {}

    def begin_turn(self, key: str | None = None) -> None:
        """Begin a new turn, or continue the turn with the same key."""
        if key is not None and key in self._turn_by_key:
            self.turn = self._turn_by_key[key]
            return
        self._last_turn += 1
        self.turn = self._last_turn
        if key is not None:
            self._turn_by_key[key] = self.turn

    def add_draft(self, draft: EventDraft) -> EventDraft:
        """Add an event to the current turn."""
        if not draft.turn:
            draft.turn = self.turn
        if draft.time is None:
            draft.time = self.time
        if draft.parent is None:
            draft.parent = self.parent
        self.change_count += 1
        self.drafts.append(draft)
        return draft

    def add_message(
        self, kind: Kind, text: str, pointer: str, actor: str | None
    ) -> EventDraft | None:
        """Add a message or reasoning, unless its text is blank."""
        if not text or text.isspace():
            return None
        return self.add_draft(EventDraft(kind, pointer, None, actor, text))

    def add_plan(self, text: str, pointer: str, actor: str | None) -> None:
        """Add a plan that the format itself marks as one, unless its text is blank."""
        draft = self.add_message(Kind.BOOKKEEPING, text, pointer, actor)
        if draft is not None:
            draft.name = "plan"

    def add_call(
        self, call: ToolCall, pointer: str, actor: str | None, *, recorded: bool = True
    ) -> EventDraft:
        """Add an action whose result may follow.

        Not `recorded` is one that says nothing of how the agent calls its tools, such as a
        hand-off; no result that comes next belongs to it.
        """
        self.call_count += 1
        draft = self.add_draft(
            EventDraft(Kind.ACTION, pointer, call.name, actor, call.text, call.arguments)
        )
        # Separate, so that a call recognised in a text never takes the result of a recorded call.
        waiting, by_id = self._unanswered, self._calls_by_id
        if self.current_text is not None:
            waiting, by_id = self._unanswered_in_text, self._text_calls_by_id
            draft.recognition = call.recognition or "text"
            self._text_calls[id(draft)] = self.current_text
        elif recorded:
            self._callers.add((actor, call.name))
        if waiting and next(iter(waiting.values())).turn != self.turn:
            waiting.clear()
        if recorded:
            waiting[id(draft)] = draft
        if call.id:
            turns = by_id.setdefault(call.id, [])
            if not turns or turns[-1][-1].turn != draft.turn:
                turns.append([])
            turns[-1].append(draft)
        return draft

    def add_text_call(self, call: ToolCall, pointer: str, actor: str | None) -> None:
        """Add a call that was recognised in a text; one by one if it is code that only calls tools.

        The result of such code belongs to its last call, and its status to all of them.
        """
        calls = split_code_calls(call, lambda name: self.is_mentioned(f"{name}(", actor))
        before = [self.add_call(made, pointer, actor, recorded=False) for made in calls[:-1]]
        last = self.add_call(calls[-1], pointer, actor)
        if before:
            self._same_code[id(last)] = before

    def add_handoff(self, receiver: str, task: str, pointer: str, actor: str | None) -> EventDraft:
        """Add a hand-off from one agent to another."""
        return self.add_call(
            ToolCall(receiver or "hand-off", text=task), pointer, actor, recorded=False
        )

    def reading_text(
        self, text: str, pointer: str, actor: str | None
    ) -> AbstractContextManager[None]:
        """Mark the drafts added in this context as recognised in this text of an agent."""
        return _TextCalls(self, text, pointer, actor)

    def drop_last(self, draft: EventDraft) -> bool:
        """Remove the last event, to add it again in another form; False if it is another one."""
        if not self.drafts or self.drafts[-1] is not draft:
            return False
        self.drafts.pop()
        self.turn = draft.turn
        return True

    def replace_drafts(self, start: int, end: int, drafts: list[EventDraft]) -> None:
        """Put other events in the place of those from `start` to `end`."""
        self.change_count += len(drafts)
        self.drafts[start:end] = drafts

    def add_again(self, index: int, add: Callable[[], None]) -> None:
        """Remove an event, and let `add` add it in another form in the same place."""
        state, after = (self.turn, self.time, self.parent), self.drafts[index + 1 :]
        draft = self.drafts[index]
        self.turn, self.time, self.parent = draft.turn, draft.time, draft.parent
        self.replace_drafts(index, len(self.drafts), [])
        add()
        self.turn, self.time, self.parent = state
        self.drafts += after

    def add_result(self, result: ToolResult) -> EventDraft:
        """Attach a result to its call, or add it as an observation if it has none."""
        self.change_count += 1
        draft = self._pop_matching_call(result)
        if draft is None:
            return self._add_unmatched_result(result)
        if self._text_calls:
            text_calls = self._text_calls.get(id(draft))
            if text_calls is not None and text_calls is not self.current_text:
                text_calls.results.append((self.drafts[-1], result))
                self._answered_forms.setdefault(text_calls.actor, set()).add(draft.recognition)
        if draft.output_pointer is not None:
            # The previous result was attached only because it came next; this one names the call.
            self._add_unmatched_result(
                ToolResult(draft.output, draft.output_pointer, status=draft.status)
            )
        draft.set_output(result.text, result.pointer, result.status)
        for made in self._same_code.get(id(draft), ()):
            made.status = draft.status
        if result.images:
            draft.images += result.images
        return draft

    def answer(self, draft: EventDraft, result: ToolResult) -> None:
        """Attach a result to a call that is known."""
        self.change_count += 1
        self._unanswered.pop(id(draft), None)
        self._unanswered_in_text.pop(id(draft), None)
        draft.set_output(result.text, result.pointer, result.status)
        draft.images += result.images

    def add_observation(self, text: str, pointer: str, actor: str | None) -> EventDraft:
        """Add a result that belongs to no call."""
        return self._add_unmatched_result(ToolResult(text, pointer, actor=actor))

    def mark_deferred(self) -> None:
        """Count a change for input that was understood but is added only later."""
        self.change_count += 1

    def is_mentioned(self, name: str, actor: str | None) -> bool:
        """Return whether somebody else than the actor wrote a name before, such as a prompt.

        With a parenthesis at its end, the name must be that of a function: `goto(`.
        """
        # Each text is searched once, for all names.
        for draft in self.drafts[self._searched :]:
            self._note_names(draft.text, draft.actor)
            self._note_names(draft.output, None)
        self._searched = len(self.drafts)
        return any(by != actor for by in self._mentions.get(name, ()))

    def _note_names(self, text: str, actor: str | None) -> None:
        for name in set(_NAME.findall(text)):
            for form in {name, name.removesuffix("(")}:
                self._mentions.setdefault(form, set()).add(actor)

    def has_unanswered_calls(self) -> bool:
        """Return whether calls of the last calling turn still lack results."""
        return bool(self._unanswered or self._unanswered_in_text)

    def has_just_called(self) -> bool:
        """Return whether the last event is a call of this turn."""
        last = self.drafts[-1] if self.drafts else None
        return last is not None and last.kind is Kind.ACTION and last.turn == self.turn

    def skip(self, pointer: str, why: str, *, repeats: bool = False) -> None:
        """Record a part of the source that yields no event."""
        self.change_count += 1
        self._skipped.append(SkippedPart(pointer, why, repeats))

    @contextmanager
    def skipping_if_unread(
        self, pointer: str, why: str, *, repeats: bool = False
    ) -> Generator[None]:
        """Skip the record that is read in this context, if nothing comes of it."""
        before = self.change_count
        yield
        if self.change_count == before:
            self.skip(pointer, why, repeats=repeats)

    def skip_unread(self, pointers: Iterable[str], why: str) -> None:
        """Skip those records in which nothing was read or skipped, as repeats of others."""
        known = {part.pointer for part in (*self.drafts, *self._skipped)}
        known |= {draft.output_pointer for draft in self.drafts if draft.output_pointer}
        known |= collect_ancestors(known)
        for pointer in pointers:
            if pointer not in known:
                self.skip(pointer, why, repeats=True)

    def map_pointers(self, locate: Callable[[str], str]) -> None:
        """Replace all pointers, for a source that was read in another form."""
        self._skipped = [
            structs.replace(part, pointer=locate(part.pointer)) for part in self._skipped
        ]
        for draft in self.drafts:
            draft.pointer = locate(draft.pointer)
            if draft.output_pointer is not None:
                draft.output_pointer = locate(draft.output_pointer)
        for text_calls in self._text_calls.values():
            text_calls.pointer = locate(text_calls.pointer)

    def build(self, reader: str) -> Trace:
        """Return the finished trace."""
        if self._text_calls:
            self._drop_forged_calls()
            self._mark_unverified_calls()
        has_parents = any(draft.parent is not None for draft in self.drafts)
        numbered = enumerate(self.drafts if has_parents else (), 1)
        ids = {id(draft): f"e{number}" for number, draft in numbered}
        # By keyword: a quarter of the time that `Event(**structs.asdict(draft))` takes.
        events = [
            Event(
                id=f"e{number}",
                kind=draft.kind,
                pointer=draft.pointer,
                name=draft.name,
                actor=draft.actor,
                text=draft.text,
                arguments=draft.arguments,
                output=draft.output,
                output_pointer=draft.output_pointer,
                status=draft.status,
                time=draft.time,
                parent=None if draft.parent is None else ids[id(draft.parent)],
                turn=draft.turn,
                images=draft.images,
                recognition=draft.recognition,
            )
            for number, draft in enumerate(self.drafts, 1)
        ]
        return Trace(tuple(events), reader, tuple(self._skipped))

    def _drop_forged_calls(self) -> None:
        """Replace calls recognised in texts that are not calls by the texts."""
        forged = self._find_forged_texts()
        texts: dict[int, EventDraft] = {}
        results: dict[int, list[EventDraft]] = {}
        for text_calls in forged:
            text = EventDraft(
                Kind.MESSAGE,
                text_calls.pointer,
                actor=text_calls.actor,
                text=text_calls.text.strip(),
            )
            text.turn, text.time = text_calls.turn, text_calls.drafts[0].time
            text.parent = text_calls.drafts[0].parent
            texts.update((id(draft), text) for draft in text_calls.drafts)
            for before, result in text_calls.results:
                results.setdefault(id(before), []).append(self._make_observation(result))
        placed = (
            added
            for draft in self.drafts
            for added in (texts.get(id(draft), draft), *results.get(id(draft), ()))
        )
        self.drafts = list({id(draft): draft for draft in placed}.values())
        calling = {(draft.turn, draft.actor) for draft in self.drafts if draft.kind is Kind.ACTION}
        for text_calls in forged:
            if any((turn, text_calls.actor) in calling for turn in text_calls.turns):
                texts[id(text_calls.drafts[0])].kind = Kind.REASONING
        for draft in self.drafts:
            while draft.parent is not None and id(draft.parent) in texts:
                draft.parent = texts[id(draft.parent)].parent

    def _find_forged_texts(self) -> list[_TextCalls]:
        """Return the texts of agents that call in another way, or that only talk."""
        known = Vocabulary()
        callers = {
            actor
            for actor, tool in self._callers
            if not known.is_bookkeeping(tool) and not known.is_closing(tool)
        }
        # If one of two actors has only a generic name, they may be the same.
        has_generic_caller = not callers.isdisjoint(_GENERIC_ACTORS)
        texts = list(dict.fromkeys(self._text_calls.values()))
        inside = {id(draft) for text_calls in texts for draft in text_calls.drafts}
        others_answered = bool(self._answered_forms) or any(
            draft.kind is Kind.ACTION and draft.output_pointer and id(draft) not in inside
            for draft in self.drafts
        )
        calling = Counter(text_calls.actor for text_calls in texts)
        talking = Counter(
            draft.actor
            for draft in self.drafts
            if draft.kind is Kind.MESSAGE and id(draft) not in inside
        )
        return [
            text_calls
            for text_calls in texts
            if has_generic_caller
            or text_calls.actor in callers
            or (callers and text_calls.actor in _GENERIC_ACTORS)
            or not self._may_be_answered(text_calls, known)
            or (
                text_calls.actor not in self._answered_forms
                # Calls without answers count only where the whole format works so.
                and (
                    (others_answered and not text_calls.is_page_report)
                    or calling[text_calls.actor] < talking[text_calls.actor]
                )
                and not any(draft.recognition == REPORTED for draft in text_calls.drafts)
            )
        ]

    def _may_be_answered(self, text_calls: _TextCalls, known: Vocabulary) -> bool:
        """Return False if the answered calls of the agent are all of other forms than these."""
        answered = self._answered_forms.get(text_calls.actor)
        return answered is None or any(
            draft.recognition in answered or known.is_closing(draft.name or "")
            for draft in text_calls.drafts
            if draft.kind is Kind.ACTION
        )

    def _mark_unverified_calls(self) -> None:
        """Mark the calls in texts of actors whose calls nothing outside the text answers."""
        answered = {calls.actor for calls in self._text_calls.values() if calls.results}
        for draft in self.drafts:
            calls = self._text_calls.get(id(draft))
            is_told = draft.recognition == REPORTED
            if calls is not None and calls.actor not in answered and not is_told:
                draft.recognition = UNVERIFIED

    def _add_unmatched_result(self, result: ToolResult) -> EventDraft:
        return self.add_draft(self._make_observation(result))

    def _make_observation(self, result: ToolResult) -> EventDraft:
        self._last_turn += 1
        kind = Kind.MESSAGE if result.actor == "user" else Kind.OBSERVATION
        draft = EventDraft(kind, result.pointer, result.name, result.actor, result.text)
        draft.turn = self._last_turn
        draft.images = result.images
        draft.status = result.status or infer_status(result.text)
        return draft

    def _pop_matching_call(self, result: ToolResult) -> EventDraft | None:
        if result.call_id:
            waiting = self._calls_by_id.get(result.call_id) or self._text_calls_by_id.get(
                result.call_id
            )
            if not waiting:
                return None
            draft = waiting[-1].pop(0)
            if not waiting[-1]:
                waiting.pop()
            self._unanswered.pop(id(draft), None)
            self._unanswered_in_text.pop(id(draft), None)
            return draft
        for waiting in (self._unanswered, self._unanswered_in_text):
            for key, draft in waiting.items():
                if result.name is None or draft.name == result.name:
                    del waiting[key]
                    return draft
        return None
