"""Trace files of 30 tools, compared with what a person noted from the raw files.

The files are read from outside the checkout. `noted_traces.jsonl` has a line for each:

- `calls`: how many calls it holds; `results`: how many of them have one; `loose`: results whose
  call is not in the file; `todo_updates`: updates of a to-do list that are not calls there.
- `order`: the names of the first five calls. `argument`: the number of a call, the name of an
  argument and how its value begins (without a name: the code or command). `result`: the number of a
  call, and how its result begins.
- `texts`: how many messages and thoughts it holds, where that was counted.
- `scored`: false for a file without a run of an agent.
- `index`: where the counts that come with the files differ from these, what they count.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planproof import evaluate
from planproof.core.content import Json
from planproof.core.json_values import format_value, is_list, is_object
from planproof.core.pointer import resolve
from planproof.core.trace import Event, Kind
from planproof.core.verdict import Outcome
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.reports.side_by_side import build_rows
from tests.third_party import V2_TRACES, with_v2_traces

pytestmark = with_v2_traces

NOTED: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__).with_name("noted_traces.jsonl").read_text("utf-8").splitlines()
]
_TODO_UPDATE = "update_plan"
_by_file = pytest.mark.parametrize("noted", NOTED, ids=lambda noted: noted["file"])


def _list_calls(events: tuple[Event, ...], noted: dict[str, Any]) -> list[Event]:
    """Return the calls; updates of a to-do list only if they are calls in the file."""
    calls = [event for event in events if event.kind in (Kind.ACTION, Kind.BOOKKEEPING)]
    updates = noted.get("todo_updates", 0)
    assert not updates or [event.name for event in calls].count(_TODO_UPDATE) == updates
    return [event for event in calls if not updates or event.name != _TODO_UPDATE]


def _get_argument(calls: list[Event], number: int, name: str) -> str:
    call = calls[number - 1]
    value: Json = call.arguments[name] if is_object(call.arguments) else call.text
    return _fold(format_value(value[0] if is_list(value) else value))


def _get_result(calls: list[Event], number: int) -> str:
    return _fold(calls[number - 1].output)


def _fold(text: str) -> str:
    """Return a text without white space; JSON inside a result may be indented."""
    return "".join(text.split())


def _open(noted: dict[str, Any]) -> Source:
    return Source.from_path(V2_TRACES / noted["file"])


def test_every_file_is_noted() -> None:
    files = {str(path.relative_to(V2_TRACES)) for path in V2_TRACES.rglob("*") if path.is_file()}
    assert {noted["file"] for noted in NOTED} == files - {"FORMATS.md", "index.jsonl"}


@_by_file
def test_calls_and_results_are_those_of_the_file(noted: dict[str, Any]) -> None:
    source = _open(noted)
    trace = read_trace(source)
    assert trace.reader == noted["reader"]
    calls = _list_calls(trace.events, noted)
    assert len(calls) == noted["calls"]
    assert sum(call.output_pointer is not None for call in calls) == noted["results"]
    loose = sum(event.kind is Kind.OBSERVATION for event in trace.events)
    assert loose == noted.get("loose", 0)
    assert [call.name for call in calls[:5]] == noted["order"]
    if "argument" in noted:
        number, name, start = noted["argument"]
        assert _get_argument(calls, number, name).startswith(_fold(start))
    if "result" in noted:
        number, start = noted["result"]
        assert _get_result(calls, number).startswith(_fold(start))
    if "texts" in noted:
        texts = [e for e in trace.events if e.kind in (Kind.MESSAGE, Kind.REASONING)]
        assert len(texts) == noted["texts"]
    for event in trace.events:
        resolve(source.document, event.pointer)
        resolve(source.document, event.output_pointer or event.pointer)


@_by_file
def test_every_record_is_read_or_skipped_for_a_reason(noted: dict[str, Any]) -> None:
    source = _open(noted)
    trace = read_trace(source)
    rows = build_rows(source, trace)
    # Lines and items of a list; other keys of a document hold settings.
    assert not [row.pointer for row in rows if row.is_unread and row.pointer[-1:].isdecimal()]
    assert all(part.why for part in trace.skipped)
    coverage = evaluate(task="Do it.", plan="1. Do it.", trace=source).coverage
    assert coverage is not None
    assert (coverage.events, coverage.skipped) == (len(trace.events), len(trace.skipped))
    reasons = {part.why for part in trace.skipped}
    assert all(any(why in note for note in coverage.notes) for why in reasons)
    assert coverage.unread_characters == 0 or trace.skipped


@_by_file
def test_only_a_file_that_was_read_is_scored(noted: dict[str, Any]) -> None:
    verdict = evaluate(task="Do it.", plan="1. Do it.", trace=_open(noted))
    scored = noted.get("scored", True)
    assert verdict.outcome is (Outcome.SCORED if scored else Outcome.NOT_UNDERSTOOD)
    assert (verdict.score is not None) == scored


def test_counts_differ_from_the_index_only_where_it_is_noted() -> None:
    lines = V2_TRACES.joinpath("index.jsonl").read_text("utf-8").splitlines()
    counts = {entry["file"]: entry["count"] for entry in map(json.loads, lines)}
    differing = {
        noted["file"]
        for noted in NOTED
        if noted["file"] in counts
        and (noted["calls"], noted["results"] + noted.get("loose", 0))
        != (counts[noted["file"]]["calls"], counts[noted["file"]]["results"])
    }
    assert differing == {noted["file"] for noted in NOTED if "index" in noted}
