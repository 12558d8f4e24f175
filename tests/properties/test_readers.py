"""Whatever comes in: a trace or a clear error, and nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planproof.core.json_values import is_list, is_object
from planproof.core.pointer import escape, resolve
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.errors import InvalidInput
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.readers.native import serialize_trace
from tests.unit.readers.samples import ALL
from tests.unit.readers.samples import lines as as_lines

SAMPLES = list(ALL.values())
TEXTS = [sample if isinstance(sample, str) else json.dumps(sample, indent=1) for sample in SAMPLES]
WORDS = sorted(
    {
        word
        for text in TEXTS
        for word in text.replace('"', " ").replace(":", " ").replace(",", " ").split()
        if word.isidentifier() or "." in word or word.startswith("<")
    }
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.sampled_from(WORDS),
    st.sampled_from(["Action: a", "Thought: b", "<execute>", "```py\nx\n```", '{"command": {}}']),
)
KEYS = st.one_of(st.sampled_from(WORDS), st.text(max_size=3))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=25,
)


def read(source_of: Callable[[Any], Source], given: Any) -> tuple[Source, Trace] | None:
    """The trace, or None for an error that says what is wrong."""
    with suppress(InvalidInput):
        source = source_of(given)
        return source, read_trace(source)
    return None


def check(found: tuple[Source, Trace] | None) -> None:
    """What must hold of every trace, whatever it was read from."""
    if found is None:
        return
    source, trace = found
    ids = [event.id for event in trace.events]
    assert len(set(ids)) == len(ids)
    for event in trace.events:
        resolve(source.document, event.pointer)
        if event.output_pointer is not None:
            resolve(source.document, event.output_pointer)
        assert event.parent is None or event.parent in trace.by_id
        event.text.encode()
        event.output.encode()
        json.dumps(event.arguments)
    for part in trace.skipped:
        if not any(part is known for known in source.skipped):
            resolve(source.document, part.pointer)


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all values inside a value."""
    found = [way] if way else []
    entries: list[tuple[Any, Any]] = []
    if is_object(value):
        entries = list(value.items())
    elif is_list(value):
        entries = list(enumerate(value))
    for key, item in entries:
        found += places(item, (*way, key))
    return found


@given(VALUES)
def test_any_json_value_is_read_or_refused(value: Any) -> None:
    check(read(Source.from_value, value))


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    check(read(Source.from_text, text))


@given(st.binary())
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    check(read(Source.from_bytes, data))


@given(st.lists(VALUES, max_size=5))
def test_any_lines_are_read_or_refused(values: list[Any]) -> None:
    check(read(Source.from_text, "\n".join(json.dumps(value) for value in values)))
    check(read(Source.from_text, "\n".join(f"data: {json.dumps(value)}" for value in values)))


@given(st.sampled_from(SAMPLES), st.data())
def test_a_trace_with_any_value_replaced_is_read_or_refused(
    sample: Any, data: st.DataObject
) -> None:
    is_lines = isinstance(sample, str) and sample.startswith("{")
    value: Any = copy.deepcopy(sample)
    if is_lines:
        value = [json.loads(line) for line in sample.split("\n")]
    if isinstance(value, str):
        cut = data.draw(st.integers(0, len(value)))
        value = value[:cut] + data.draw(st.text()) + value[cut + data.draw(st.integers(0, 9)) :]
    else:
        ways = places(value)
        for _ in range(data.draw(st.integers(1, 3))):
            _put(value, data.draw(st.sampled_from(ways)), data.draw(VALUES))
    check(read(Source.from_value, as_lines(*value) if is_lines else value))


def _put(value: Any, way: tuple[Any, ...], new: Any) -> None:
    # The way may have been cut by what was put in before.
    with suppress(KeyError, IndexError, TypeError):
        for key in way[:-1]:
            value = value[key]
        value[way[-1]] = new


@given(st.sampled_from(TEXTS), st.data())
def test_a_trace_that_is_cut_off_is_read_or_refused(text: str, data: st.DataObject) -> None:
    check(read(Source.from_text, text[: data.draw(st.integers(0, len(text)))]))


EVENTS: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.fixed_dictionaries(
        {"kind": st.sampled_from([kind.value for kind in Kind])},
        optional={
            "name": st.text(min_size=1),
            "actor": st.text(min_size=1),
            "text": st.text(),
            "arguments": st.dictionaries(st.text(), st.integers(), min_size=1),
            "output": st.text(),
            "status": st.sampled_from([status.value for status in EventStatus]),
            "time": st.text(min_size=1),
            "turn": st.integers(0, 99),
            "images": st.just([{"media_type": "image/png", "url": None, "data": "AA"}]),
        },
    ),
    min_size=1,
)


@given(EVENTS)
def test_the_native_form_survives_a_round_trip(events: list[dict[str, Any]]) -> None:
    for number, event in enumerate(events[1:], 1):
        event["parent"] = f"e{number}"
    once = read_trace(Source.from_value({"events": events}), reader="native")
    again = read_trace(Source.from_value(serialize_trace(once)), reader="native")
    assert once.events == again.events


@given(VALUES, st.data())
def test_every_place_in_a_document_has_a_pointer(value: Any, data: st.DataObject) -> None:
    document = Source.from_value([value]).document
    way = data.draw(st.sampled_from(places(document)))
    expected = document
    for key in way:
        expected = expected[key]
    pointer = "".join(f"/{escape(str(key))}" for key in way)
    assert resolve(document, pointer) is expected
