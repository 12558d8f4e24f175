"""Goldens cut off, shuffled, doubled, mixed up, with odd fields: events and gaps told, or an error.

An entry is one message, span, step or line: an item of the longest list in the file.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from planproof.core.json_values import is_list, is_object
from planproof.core.pointer import escape, resolve
from planproof.core.trace import Kind, Trace
from planproof.errors import PlanproofError
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from tests.golden_files import GOLDENS, Golden

TEXTS = [golden for golden in GOLDENS if golden.is_one_text]


class Entries:
    """The entries of a golden, and the file that others in their place would make.

    `way` holds the keys that lead to them.
    """

    def __init__(self, golden: Golden, way: tuple[str, ...], values: list[Any]) -> None:
        self.golden = golden
        self.way = way
        self.values = values

    def __repr__(self) -> str:
        return self.golden.name

    @property
    def as_lines(self) -> bool:
        return self.golden.file.suffix == ".jsonl"

    def file_of(self, values: list[Any]) -> str:
        if self.as_lines:
            return "\n".join(map(json.dumps, values))
        document: Any = json.loads(self.golden.text)
        if not self.way:
            return json.dumps(values)
        inside: Any = document
        for key in self.way[:-1]:
            inside = inside[key]
        inside[self.way[-1]] = values
        return json.dumps(document)

    def place(self, number: int) -> str:
        """The pointer to the entry of that number."""
        if self.as_lines:
            return f"L{number + 1}"
        return "".join(f"/{escape(key)}" for key in self.way) + f"/{number}"


def _lists(value: Any, way: tuple[str, ...] = ()) -> Iterator[tuple[int, tuple[str, ...]]]:
    if is_list(value):
        yield len(value), way
    elif is_object(value):
        for key, item in value.items():
            yield from _lists(item, (*way, key))


def _entries(golden: Golden) -> Entries | None:
    if golden.file.suffix == ".jsonl":
        return Entries(golden, (), [json.loads(line) for line in golden.text.splitlines()])
    if golden.file.suffix != ".json":
        return None
    document: Any = json.loads(golden.text)
    for _, way in sorted(_lists(document), reverse=True):
        values = document
        for key in way:
            values = values[key]
        # Parallel arrays are no entries: what stands at one place belongs together.
        if any(map(is_object, values)):
            return Entries(golden, way, values)
    return None


WITH_ENTRIES = [entries for entries in map(_entries, TEXTS) if entries is not None]
# Their entries have times, or ids by which one that comes again is known.
TIMED = {"claude-code", "google-adk", "openai-agents", "opentelemetry", "openinference"}
IDENTIFIED = TIMED | {"codex", "openhands"}
LINES = [entries for entries in WITH_ENTRIES if entries.as_lines and len(entries.values) > 2]
IN_TIME = [entries for entries in WITH_ENTRIES if entries.golden.expected["reader"] in TIMED]


ODD: list[Any] = [None, True, 0, 10**30, 0.5, "", "x", '{"a":', [], [[]], [None], {}, {"a": [1]}]


def read(text: str, reader: str | None = None) -> tuple[Source, Trace] | None:
    """The source and its trace, which is sound; None for an error that says what is wrong."""
    try:
        source = Source.from_text(text)
        trace = read_trace(source, reader=reader)
    except PlanproofError:
        return None
    assert len(trace.by_id) == len(trace.events)
    for event in trace.events:
        resolve(source.document, event.pointer)
        if event.output_pointer is not None:
            resolve(source.document, event.output_pointer)
        assert event.parent is None or event.parent in trace.by_id
    return source, trace


def list_actions(trace: Trace) -> list[tuple[str | None, str]]:
    """The actions: tool, and what it was called with."""
    called = (event for event in trace.events if event.kind in (Kind.ACTION, Kind.BOOKKEEPING))
    return [(event.name, f"{event.text} {json.dumps(event.arguments)}") for event in called]


def are_calls(trace: Trace) -> bool:
    """Whether actions are written as calls; code in a chat is run or not by what follows it."""
    return all(event.arguments is not None for event in trace.events if event.kind is Kind.ACTION)


def is_accounted_for(trace: Trace, place: str) -> bool:
    """Whether an entry gave an event or is named as left out, alone or with what is around it."""
    pointers = [event.pointer for event in trace.events]
    pointers += [event.output_pointer or "" for event in trace.events]
    left_out = [part.pointer for part in trace.skipped]
    return any(_is_in(pointer, place) for pointer in pointers) or any(
        _is_in(pointer, place) or _is_in(place, pointer) for pointer in left_out
    )


def has_more_than_notices(entries: Entries, number: int) -> bool:
    """Whether an entry gave an event of its own: something done, said or thought."""
    place = entries.place(number)
    events = entries.golden.trace.events
    return any(_is_in(event.pointer, place) for event in events if event.kind is not Kind.SYSTEM)


def _is_in(pointer: str, place: str) -> bool:
    return pointer == place or (bool(place) and pointer.startswith((f"{place}/", f"{place}#")))


def _in_any_order(entries: Entries) -> st.SearchStrategy[tuple[Entries, list[int]]]:
    return st.tuples(st.just(entries), st.permutations(list(range(len(entries.values)))))


@given(st.sampled_from(TEXTS), st.data())
def test_cut_off(golden: Golden, data: st.DataObject) -> None:
    text = golden.text.rstrip()
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    found = read(cut)
    if golden.file.suffix == ".json":
        # What is missing at the end of a document can't be known, so nothing of it is judged.
        assert found is None or found[1].reader != golden.expected["reader"]


@given(st.sampled_from(LINES), st.data())
def test_lines_cut_off_lose_the_last_one_and_say_so(entries: Entries, data: st.DataObject) -> None:
    lines = entries.golden.text.splitlines()
    number = data.draw(st.integers(2, len(lines) - 1))
    whole, broken = lines[:number], lines[number]
    cut = broken[: data.draw(st.integers(1, len(broken) - 1))]
    before, after = read("\n".join(whole)), read("\n".join([*whole, cut]))
    assert before is not None
    assert after is not None
    assert list_actions(after[1]) == list_actions(before[1])
    assert len(after[0].skipped) == len(before[0].skipped) + 1


@given(st.sampled_from(WITH_ENTRIES).flatmap(_in_any_order))
def test_shuffled(shuffled: tuple[Entries, list[int]]) -> None:
    entries, order = shuffled
    found = read(entries.file_of([entries.values[number] for number in order]))
    if found is None:
        return
    for place, number in enumerate(order):
        if is_accounted_for(entries.golden.trace, entries.place(number)):
            assert is_accounted_for(found[1], entries.place(place)), f"entry {number}"
    if are_calls(entries.golden.trace):
        assert Counter(list_actions(entries.golden.trace)) <= Counter(list_actions(found[1]))


@given(st.sampled_from(IN_TIME).flatmap(_in_any_order))
def test_shuffled_entries_come_in_the_order_of_their_times(
    shuffled: tuple[Entries, list[int]],
) -> None:
    entries, order = shuffled
    found = read(entries.file_of([entries.values[number] for number in order]))
    assert found is not None
    assert list_actions(found[1]) == list_actions(entries.golden.trace)


@given(st.sampled_from(WITH_ENTRIES))
def test_doubled(entries: Entries) -> None:
    found = read(entries.file_of([*entries.values, *entries.values]))
    if entries.golden.expected["reader"] in IDENTIFIED:
        assert found is not None
        assert list_actions(found[1]) == list_actions(entries.golden.trace)
    elif found is not None:
        assert Counter(list_actions(entries.golden.trace)) <= Counter(list_actions(found[1]))


@given(st.sampled_from(WITH_ENTRIES), st.sampled_from(WITH_ENTRIES), st.data())
def test_mixed_up(entries: Entries, others: Entries, data: st.DataObject) -> None:
    """What gave events in its own file is not passed over in a file of another format."""
    number = data.draw(st.integers(0, len(others.values) - 1))
    place = data.draw(st.integers(0, len(entries.values)))
    assume(has_more_than_notices(others, number))
    mixed = [*entries.values[:place], others.values[number], *entries.values[place:]]
    # Behind the first entries, at which readers look, it would be read by the reader of the others.
    for reader in (None, entries.golden.expected["reader"]):
        found = read(entries.file_of(mixed), reader)
        if found is None:
            continue
        _, trace = found
        # The general reader may see less in an entry, if it says that it did.
        assert is_accounted_for(trace, entries.place(place)) or (
            trace.reader == "general" and trace.skipped
        )


@given(st.sampled_from(WITH_ENTRIES), st.data())
def test_a_field_of_another_type(entries: Entries, data: st.DataObject) -> None:
    values = copy.deepcopy(entries.values)
    held: Any = values
    while True:
        keys = list(range(len(held))) if is_list(held) else list(held)
        key = data.draw(st.sampled_from(keys))
        if not held[key] or not isinstance(held[key], (dict, list)) or data.draw(st.booleans()):
            break
        held = held[key]
    if data.draw(st.booleans()):
        held[key] = data.draw(st.sampled_from(ODD))
    else:
        del held[key]
    for reader in (None, entries.golden.expected["reader"]):
        read(entries.file_of(values), reader)
