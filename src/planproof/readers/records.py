"""Number the records of any source, for a model that says what each of them is.

This reader knows no format. A record is a line of a text, a line of JSON Lines, or an item of the
outermost list in JSON; every record becomes one event with a pointer. What kind of event it is, no
program can say, so a trace of this reader is not understood until a model has said it:
`classify_records` applies the model's answer, as far as the records bear it out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from msgspec import structs

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at
from planproof.core.pointer import escape
from planproof.core.quotes import to_searchable_text
from planproof.core.trace import Event, Kind, RecordCounts, RecordKind, SkippedPart, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.record_counts import RECORDS, has_words
from planproof.readers.toolkit.conversation import SYSTEM_ROLES, TOOL_ROLES, USER_ROLES
from planproof.readers.toolkit.entries import point_to_lines

_LONG_TEXT = 4_000
"""Characters. A longer text outside of a list is split into lines."""
_LABEL_KEYS = ("type", "kind", "role", "event", "event_type")
_MAX_DEPTH = 12
_MAX_NAME_CHARS = 80
_FIELD = "a field beside the records"
_KindName: TypeAlias = Literal["user", "result", "other"]
_KINDS = {
    "action": Kind.ACTION,
    "result": Kind.OBSERVATION,
    "message": Kind.MESSAGE,
    "reasoning": Kind.REASONING,
    "user": Kind.MESSAGE,
    "other": Kind.SYSTEM,
}
_AGENT, _USER = "assistant", "user"
_KINDS_BY_ROLES: tuple[tuple[frozenset[str], tuple[_KindName, ...]], ...] = (
    (USER_ROLES, ("user", "result", "other")),  # some formats give results to the user's role
    (SYSTEM_ROLES, ("other",)),
    (TOOL_ROLES, ("result", "other")),
)
"""What a record can be whose `role` names a speaker other than the agent."""
_ACTORS = {"action": _AGENT, "message": _AGENT, "reasoning": _AGENT, "user": _USER}


class RecordsReader:
    """Reads any source as numbered records; used by name, or where no other reader does."""

    name = RECORDS

    def sniff(self, source: Source) -> bool:
        """Return False: this reader is for what no other reader understands."""
        del source
        return False

    def read(self, source: Source) -> Trace:
        """Return one event for each record, none of them classified."""
        skipped = list(source.skipped)
        records = [*_split_source(source, skipped)]
        events = tuple(
            _make_event(f"e{number}", pointer, value)
            for number, (pointer, value) in enumerate(records, 1)
        )
        counts = RecordCounts(records=len(events), read=0)
        return Trace(events, self.name, tuple(skipped), counts)


def _split_source(source: Source, skipped: list[SkippedPart]) -> Iterator[tuple[str, Json]]:
    if source.form == "text":
        yield from _split_lines(source.document, "")
    elif source.form == "jsonl":
        for line, value in source.document:
            yield from _split(value, f"L{line}", skipped, in_list=True)
    else:
        yield from _split(source.document, "", skipped, in_list=False)


def _split_lines(text: str, pointer: str) -> Iterator[tuple[str, Json]]:
    prefix = f"{pointer}/" if pointer else ""
    for number, line in enumerate(text.split("\n"), 1):
        if has_words(line):
            yield f"{prefix}{point_to_lines(number, number)}", line


def _split(
    value: Json, pointer: str, skipped: list[SkippedPart], *, in_list: bool, depth: int = 0
) -> Iterator[tuple[str, Json]]:
    """Yield the records in a value.

    Lists and objects are split down to the items of a list. An item is a record, unless it has
    parts that look like records, such as the calls of a message.
    """
    if isinstance(value, str) and not in_list and len(value) > _LONG_TEXT:
        yield from _split_lines(value, pointer)
        return
    children = [*_iter_children(value, pointer)]
    if depth >= _MAX_DEPTH:
        is_split = False
    elif in_list:
        is_split = _contains_records(value)
    else:
        is_split = is_list(value) or any(_is_container(child) for _, child in children)
    if is_split:
        inside = in_list or (is_list(value) and len(value) > 1)
        for place, child in children:
            if _is_record(child, is_item=is_list(value)):
                yield from _split(child, place, skipped, in_list=inside, depth=depth + 1)
            else:
                skipped.append(SkippedPart(place, _FIELD))
    else:
        yield pointer, value


def _is_record(value: Json, *, is_item: bool) -> bool:
    """Return whether a value says something: not empty, and as a field not a single word."""
    if isinstance(value, str):
        return len(value.split(None, 1)) > (not is_item)
    return (is_object(value) or is_list(value)) and len(value) > 0


def _iter_children(value: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    if is_list(value):
        for index, item in enumerate(value):
            yield f"{pointer}/{index}", item
    elif is_object(value):
        for key, item in value.items():
            yield f"{pointer}/{escape(key)}", item


def _contains_records(value: Json) -> bool:
    """Return whether a value is or contains a list of several objects of a type or role."""
    pending = [value]
    while pending:
        item = pending.pop()
        if is_list(item):
            objects = [child for child in item if is_object(child)]
            if sum(text_at(child, *_LABEL_KEYS) is not None for child in objects) > 1:
                return True
            pending += item
        elif is_object(item):
            pending += item.values()
    return False


def _is_container(value: Json) -> bool:
    """Return whether a value may contain several records: an object, a list, or a long text."""
    if isinstance(value, str):
        return len(value) > _LONG_TEXT
    return isinstance(value, (dict, list))


def _make_event(event_id: str, pointer: str, value: Json) -> Event:
    if is_object(value):
        return Event(id=event_id, kind=Kind.OBSERVATION, pointer=pointer, arguments=value)
    return Event(id=event_id, kind=Kind.OBSERVATION, pointer=pointer, text=_write(value))


def _write(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class ClassifiedRecords:
    """A trace whose events have kinds, those kinds as far as they were accepted, and objections."""

    trace: Trace
    kinds: tuple[RecordKind, ...]
    objections: tuple[str, ...]


def classify_records(trace: Trace, kinds: Iterable[RecordKind]) -> ClassifiedRecords:
    """Return a trace of the records reader with the kinds that a model gave its records.

    The first kind of a record counts. An action needs a name that is written in its record, and
    can't be a record in which the user, the system or a tool has its say; otherwise it is a
    message. The result of an action follows it, and becomes its output. Records without a kind
    are no events of the agent.
    """
    by_record, objections = _expand(trace, kinds)
    joined = _join_lines(trace, by_record)
    checked = {
        event.id: _check(event, by_record[event.id], objections)
        for event in joined
        if event.id in by_record
    }
    outputs = _find_outputs(joined, checked, objections)
    results = {result.id for result in outputs.values()}
    events = [
        _classify(event, checked.get(event.id), outputs.get(event.id))
        for event in joined
        if event.id not in results
    ]
    counts = RecordCounts(records=len(trace.events), read=len(by_record))
    return ClassifiedRecords(
        replace(trace, events=tuple(events), record_counts=counts),
        _merge_ranges(trace, by_record, checked, outputs),
        tuple(objections),
    )


def _expand(trace: Trace, kinds: Iterable[RecordKind]) -> tuple[dict[str, RecordKind], list[str]]:
    """Return the kind of each record that has one, and objections to ids that do not exist."""
    ids = [event.id for event in trace.events]
    index_by_id = {event: index for index, event in enumerate(ids)}
    # For each record the next one without a kind, so that ranges that overlap take linear time.
    following = list(range(len(ids) + 1))
    by_record: dict[str, RecordKind] = {}
    objections: list[str] = []
    for kind in kinds:
        first, _, last = kind.events.partition("-")
        start, end = index_by_id.get(first), index_by_id.get(last or first)
        if start is None or end is None or end < start:
            objections.append(f"no records {kind.events[:_MAX_NAME_CHARS]!r} in the trace")
            continue
        while (index := _find_free(following, start)) <= end:
            by_record[ids[index]] = kind
            following[index] = start = index + 1
    return by_record, objections


def _find_free(following: list[int], index: int) -> int:
    """Return the first record at or after this one that has no kind yet."""
    found = index
    while following[found] != found:
        found = following[found]
    while following[index] != found:
        following[index], index = found, following[index]
    return found


def _join_lines(trace: Trace, by_record: Mapping[str, RecordKind]) -> list[Event]:
    """Return the records with lines joined: continuations, and the lines of one result."""
    joined: list[Event] = []
    lines: list[str] = []
    last: RecordKind | None = None
    for event in trace.events:
        kind = by_record.get(event.id)
        continues = kind is not None and (
            kind.kind == "continuation" or (kind.kind == "result" and kind is last)
        )
        pointer = _join_pointers(joined[-1].pointer, event.pointer) if joined and continues else ""
        if pointer:
            joined[-1] = structs.replace(joined[-1], pointer=pointer)
            lines.append(event.text)
        else:
            _add_lines(joined, lines)
            joined.append(event)
        if kind is None or kind.kind != "continuation":
            last = kind
    _add_lines(joined, lines)
    return joined


def _add_lines(events: list[Event], lines: list[str]) -> None:
    """Add lines to the text of the last event, all at once."""
    if lines:
        events[-1] = structs.replace(events[-1], text="\n".join([events[-1].text, *lines]))
        lines.clear()


def _join_pointers(first: str, second: str) -> str:
    """Return the pointer to a range of lines of one text; empty if they are not such lines."""
    path, _, lines = first.rpartition("/")
    other_path, _, other_lines = second.rpartition("/")
    if path != other_path or not lines.startswith("L") or not other_lines.startswith("L"):
        return ""
    start, end = lines[1:].partition("-")[0], other_lines[1:].rpartition("-")[2]
    if not (start.isdecimal() and end.isdecimal()):
        return ""
    return f"{path}/L{start}-{end}" if path else f"L{start}-{end}"


def _check(event: Event, kind: RecordKind, objections: list[str]) -> RecordKind:
    """Return the kind of a record as far as the record bears it out."""
    role = _get_role(event.arguments)
    if kind.kind == "continuation":
        kind = replace(kind, kind="message", name=None, of=None)
    for roles, allowed in _KINDS_BY_ROLES:
        if role in roles and kind.kind not in allowed:
            objections.append(f"record {event.id} has the role {role!r}, so it is {allowed[0]!r}")
            return replace(kind, kind=allowed[0], name=None, of=None)
    if kind.kind != "action":
        return replace(kind, name=None)
    name = (kind.name or "").strip()
    why = ""
    if not name or len(name) > _MAX_NAME_CHARS or len(name.split()) != 1:
        why = "is an action without a name of one word"
    elif not _is_word_in(name, to_searchable_text(event.arguments or event.text)):
        why = f"does not contain the name {name!r}"
    if why:
        objections.append(f"record {event.id} {why}")
        return replace(kind, kind="message", name=None, of=None)
    return replace(kind, name=name, of=None)


def _is_word_in(word: str, text: str) -> bool:
    """Return whether a text contains a word, as a whole."""
    start = text.find(word)
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(word) : start + len(word) + 1]
        if not (_continues(before, word[0]) or _continues(after, word[-1])):
            return True
        start = text.find(word, start + 1)
    return False


def _continues(beside: str, end: str) -> bool:
    return end.isalnum() and (beside.isalnum() or beside == "_")


def _get_role(value: Json) -> str:
    role = value.get("role") if is_object(value) else None
    return role.lower() if isinstance(role, str) else ""


def _find_outputs(
    events: Sequence[Event], kinds: Mapping[str, RecordKind], objections: list[str]
) -> dict[str, Event]:
    """Return the result of each action that has one, by the id of the action."""
    outputs: dict[str, Event] = {}
    actions: set[str] = set()
    for event in events:
        kind = kinds.get(event.id)
        if kind is None:
            continue
        if kind.kind == "action":
            actions.add(event.id)
        elif kind.kind == "result" and kind.of:
            if kind.of in actions:
                outputs.setdefault(kind.of, event)
            else:
                objections.append(f"record {event.id}: no action {kind.of!r} before it")
    return outputs


def _classify(event: Event, kind: RecordKind | None, output: Event | None) -> Event:
    name = kind.kind if kind is not None else "other"
    classified = structs.replace(event, kind=_KINDS[name], actor=_ACTORS.get(name))
    if name != "action":
        # Only the arguments of an action are arguments.
        text = event.text if event.arguments is None else _write(event.arguments)
        return structs.replace(classified, arguments=None, text=text)
    assert kind is not None
    classified = structs.replace(classified, name=kind.name)
    if output is None:
        return classified
    text = output.text if output.arguments is None else _write(output.arguments)
    return structs.replace(classified, output=text, output_pointer=output.pointer)


def _merge_ranges(
    trace: Trace,
    by_record: Mapping[str, RecordKind],
    checked: Mapping[str, RecordKind],
    outputs: Mapping[str, Event],
) -> tuple[RecordKind, ...]:
    """Return the accepted kinds, with neighbours of one kind as a range."""
    actions = {result.id: action for action, result in outputs.items()}
    merged: list[RecordKind] = []
    last: str | None = None
    for event in trace.events:
        kind = checked.get(event.id)
        if kind is None and event.id in by_record:
            kind = by_record[event.id]  # a line that was joined with the one before
            if kind.kind == "result":
                kind = replace(kind, of=merged[-1].of)
        elif kind is not None:
            kind = replace(kind, of=actions.get(event.id))
        if kind is None:
            last = None
            continue
        before = merged[-1] if merged and last is not None else None
        alike = before is not None and (before.kind, before.of) == (kind.kind, kind.of)
        # Lines of one result are joined, so results of their own must not become a range.
        own = kind.kind == "action" or (kind.kind == "result" and event.id in checked)
        if before is not None and alike and not own:
            first = before.events.partition("-")[0]
            merged[-1] = replace(before, events=f"{first}-{event.id}")
        else:
            merged.append(replace(kind, events=event.id))
        last = event.id
    return tuple(merged)
