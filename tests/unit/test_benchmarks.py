"""The cases that speed is measured on are what they say they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.cases import generate_case
from benchmarks.floor import match_in_order
from benchmarks.large_traces import grow_trace
from benchmarks.measure import BenchmarkRow
from benchmarks.prompts import find_event_ids, measure_prompt_length
from planproof.core.trace import Kind
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace


@pytest.mark.parametrize(("steps", "events"), [(10, 50), (8, 60), (100, 1_250)])
def test_a_case_has_the_steps_and_events_that_it_was_asked_for(steps: int, events: int) -> None:
    case = generate_case(steps=steps, events=events, seed=2)
    trace = read_trace(Source.from_text(case.trace))
    assert trace.reader == "openai-messages"
    assert len(trace.events) == events
    assert len(parse_plan(case.plan).leaves) == steps


def test_the_same_seed_gives_the_same_bytes_and_another_one_others() -> None:
    assert generate_case(steps=4, events=20, seed=1) == generate_case(steps=4, events=20, seed=1)
    assert generate_case(steps=4, events=20, seed=1) != generate_case(steps=4, events=20, seed=2)


def test_too_few_events_are_refused() -> None:
    with pytest.raises(ValueError, match="too few"):
        generate_case(steps=10, events=10)


def test_the_floor_matches_tool_names_in_order() -> None:
    calls = [{"tool_calls": [{"function": {"name": name}}]} for name in ("a", "b", "c")]
    assert match_in_order(json.dumps(calls), ["a", "c"]) == 1.0
    assert match_in_order(json.dumps(calls), ["c", "a"]) == 0.5


def test_the_prompt_names_every_event_within_its_budget() -> None:
    rows = list(measure_prompt_length())
    assert len(rows) == 3
    assert all(row.is_within_budget for row in rows), rows
    assert find_event_ids("e1 action\ne3-e5 e7 (4 alike)\n e9 x\n") == {
        "e1",
        "e3",
        "e4",
        "e5",
        "e7",
    }


def test_a_row_without_a_budget_always_passes() -> None:
    assert BenchmarkRow("", "", "", 99.0).is_within_budget
    assert BenchmarkRow("", "", "", 2.0, budget=2.0).is_within_budget
    assert not BenchmarkRow("", "", "", 2.1, budget=2.0).is_within_budget


def test_a_grown_trace_is_the_same_one_many_times_over(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    messages = [
        {"role": "assistant", "content": "I look at what is there.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "a.txt"},
    ]
    for name, text in {
        "list.json": json.dumps(messages),
        "object.json": json.dumps({"model": "m", "messages": messages}),
        "lines.jsonl": "\n".join(map(json.dumps, messages)),
    }.items():
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        data = grow_trace(file, 40_000)
        trace = read_trace(Source.from_bytes(data))
        assert 40_000 <= len(data) < 45_000
        assert trace.reader == "openai-messages"
        calls = [event for event in trace.events if event.kind is Kind.ACTION]
        assert len(calls) == len(trace.events) // 2 > 5
        assert all(event.output == "a.txt" for event in calls)


def test_numeric_ids_are_renumbered(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps([{"id": 3, "cause": 2, "trace_id": 9, "count": 1}]))
    entries = json.loads(grow_trace(file, 300))
    assert [entry["id"] for entry in entries[:3]] == [3, 1_000_003, 2_000_003]
    assert {entry["trace_id"] for entry in entries} == {9}
