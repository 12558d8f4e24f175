"""Records beside the events that were read from them, and those that are least certain."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planproof.core.trace import Event, Kind, SkippedPart, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.reports.side_by_side import RecordRow, build_rows, find_doubts
from tests.own_format import PROFILE, TRACE, make_reader
from tests.unit.readers.samples import ALL


def _rows(text: str, **options: Any) -> tuple[list[RecordRow], Trace]:
    source = Source.from_text(text, name="t")
    trace = read_trace(source, **options)
    return build_rows(source, trace), trace


def _shown(row: RecordRow) -> tuple[str, list[str], list[str]]:
    return row.pointer, [event.id for event in row.events], [event.id for event in row.results]


@pytest.mark.parametrize("name", ALL)
def test_every_event_is_beside_one_record(name: str) -> None:
    source = Source.from_value(ALL[name])
    trace = read_trace(source)
    rows = build_rows(source, trace)
    # Lines and items of a list; other keys of a document hold settings.
    assert not [row.pointer for row in rows if row.is_unread and row.pointer[-1:].isdecimal()]
    placed = [event.id for row in rows for event in row.events]
    assert sorted(placed) == sorted(event.id for event in trace.events)
    find_doubts(rows, trace)


def test_lines_of_json_are_records() -> None:
    rows, _ = _rows(TRACE, profiles=[make_reader()])
    assert [_shown(row) for row in rows] == [
        ("L1", ["e1"], []),
        ("L2", ["e2"], []),
        ("L3", [], ["e2"]),
        ("L4", ["e3"], []),
        ("L5", [], ["e3"]),
        ("L6", ["e4"], []),
    ]


def test_the_items_of_a_list_are_records_and_the_rest_comes_first() -> None:
    document = {
        "id": 7,
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "hello"},
        ],
    }
    rows, _ = _rows(json.dumps(document))
    assert [_shown(row) for row in rows] == [
        ("", [], []),
        ("/messages/0", ["e1"], []),
        ("/messages/1", ["e2"], []),
    ]
    assert json.loads(rows[0].raw) == {"id": 7, "messages": "…"}


def test_values_beside_the_records_of_an_object_are_no_records() -> None:
    document = {"id": "r", "ask": {"text": "hi"}, "answer": [{"text": "hello"}]}
    events = tuple(
        Event(id=f"e{number}", kind=Kind.MESSAGE, pointer=pointer)
        for number, pointer in enumerate(("/ask/text", "/answer/0/text"), 1)
    )
    rows = build_rows(Source.from_value(document), Trace(events))
    assert [_shown(row) for row in rows] == [
        ("", [], []),
        ("/ask", ["e1"], []),
        ("/answer", ["e2"], []),
    ]
    assert json.loads(rows[0].raw) == {"id": "r", "ask": "…", "answer": "…"}


def test_a_text_is_divided_by_the_lines_of_events() -> None:
    source = Source("t", "text", "a\nb\n\nc\nd\ne")
    events = tuple(
        Event(id=id_, kind=Kind.MESSAGE, pointer=pointer)
        for id_, pointer in (("e1", "L2"), ("e2", "L4-5"), ("e3", "L5-6"))
    )
    rows = build_rows(source, Trace(events, "x", (SkippedPart("L1", "no"),)))
    assert [_shown(row) for row in rows] == [
        ("L1", [], []),
        ("L2", ["e1"], []),
        ("L4-6", ["e2", "e3"], []),
    ]
    assert [part.why for part in rows[0].skipped] == ["no"]


def test_lines_that_are_chunks_of_an_event_are_no_unread_records() -> None:
    document = tuple((line, {"id": "x", "t": "a"}) for line in (1, 2, 3))
    event = Event(id="e1", kind=Kind.MESSAGE, pointer="L1-3/t", text="aaa")
    rows = build_rows(Source("t", "jsonl", document), Trace((event,), "x"))
    assert [row.part_of for row in rows] == [None, "e1", "e1"]
    assert not any(row.is_unread for row in rows)


def test_doubts_are_one_for_each_reason_and_skipped_records_come_first() -> None:
    profile = make_reader()
    unknown = json.dumps({"k": "new", "t": "?"}) + "\n"
    rows, trace = _rows(TRACE + unknown * 3, profiles=[profile])
    (doubt,) = find_doubts(rows, trace)
    assert doubt.why == "skipped: no rule of the profile fits records with the keys k, t"
    assert doubt.row.pointer == "L7"


def test_what_was_only_guessed_is_doubted() -> None:
    events = [{"type": "user", "text": "hi"}, {"tool": "ls", "args": {"p": 1}, "output": "a"}]
    rows, trace = _rows(json.dumps({"stuff": events}))
    assert trace.reader == "general"
    assert "guessed: action" in [doubt.why for doubt in find_doubts(rows, trace)]


def test_calls_without_results_and_results_without_calls_are_doubted() -> None:
    trace = TRACE.replace('"n": 1, "t"', '"n": 9, "t"')
    reader = make_reader()
    rows, read = _rows(trace, profiles=[reader])
    found = {doubt.why: doubt.event.id for doubt in find_doubts(rows, read) if doubt.event}
    assert set(found) <= {"a call without a result", "a result without its call"}
    assert found
    assert PROFILE


def test_a_source_of_which_nothing_was_read_is_shown() -> None:
    source = Source.from_value({"a": {"b": 1}})
    rows = build_rows(source, Trace((), "general"))
    assert [doubt.why for doubt in find_doubts(rows, Trace((), "general"))] == ["not read"]
