from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.readers.samples import actions, brief, read
from tests.unit.readers.span_samples import SPAN_TREE, tool_span


def run(kind: str, **fields: Any) -> dict[str, Any]:
    return {"run_type": kind, **fields}


def test_runs_with_their_kind_beside_inputs_and_outputs() -> None:
    run = {
        "run_type": "chain",
        "name": "agent",
        "child_runs": [
            {"run_type": "tool", "name": "search", "inputs": {"q": "x"}, "outputs": {"r": 1}},
            {"run_type": "tool", "name": "fetch", "error": "timed out", "inputs": "x"},
            {"run_type": "llm", "outputs": {"content": "Done."}},
            7,
        ],
    }
    trace = read(run)
    assert brief(trace) == [
        ("action", "search", ""),
        ("action", "fetch", "x"),
        ("message", None, "Done."),
    ]
    assert actions(trace)[0].arguments == {"q": "x"}
    assert (actions(trace)[1].output, actions(trace)[1].status.value) == ("timed out", "error")


ANSWERS: list[Any] = [
    ({"output": "plain"}, [("message", None, "plain")]),
    ({"output": "Thought: hm"}, [("reasoning", None, "Thought: hm")]),
    ({"output": " "}, []),
    ({"output": {"content": [{"text": "hi"}]}}, [("message", None, "hi")]),
    ({"outputs": {"tool_calls": [{"name": "a", "args": {}}, 3]}}, [("action", "a", "")]),
    ({}, []),
]


@pytest.mark.parametrize(("fields", "events"), ANSWERS)
def test_the_forms_of_an_answer(fields: dict[str, Any], events: list[Any]) -> None:
    assert brief(read([run("llm", **fields)])) == events


def test_invalid_entries_among_spans_are_skipped() -> None:
    trace = read([run("tool"), {"x": 1}, 7])
    assert [part.pointer for part in trace.skipped] == ["/1", "/2"]
    assert [event.name for event in trace.events] == ["tool"]


def test_spans_that_have_a_reader_are_read_where_nobody_expects_them_too() -> None:
    held = {"case": {"what": {"happened": [tool_span(1, "a")]}}}
    assert read(held).reader == "general"
    assert [event.name for event in read(held).events] == ["a"]
    assert brief(read({"a": {"b": SPAN_TREE}})) != []


def test_observations_that_are_spans() -> None:
    run: dict[str, Any] = {
        "observations": [
            {"id": "1", "type": "TOOL", "name": "a", "startTime": "2", "input": {}, "output": "b"},
            {"id": "2", "type": "GENERATION", "startTime": "1", "output": {"content": "I go."}},
        ]
    }
    assert brief(read(run)) == [("message", None, "I go."), ("action", "a", "")]


def test_spans_in_mlflow_traces() -> None:
    def span(number: int, name: str, sort: str, **more: Any) -> dict[str, Any]:
        return {
            "trace_id": "A4bCDIShlhOBR54Z0vifgw==",
            "span_id": f"s{number}",
            "parent_span_id": None if number == 1 else "s1",
            "name": name,
            "start_time_unix_nano": 1794807876005147798 + number,
            "end_time_unix_nano": 1794807876210492550 + number,
            "status": {"code": "STATUS_CODE_OK", "message": ""},
            "attributes": {
                "mlflow.spanType": f'"{sort}"',
                **{f"mlflow.{key}": json.dumps(value) for key, value in more.items()},
            },
        }

    spans = [
        span(1, "run_agent", "UNKNOWN", spanInputs={"task": "Refund A-1042."}),
        span(2, "refund", "TOOL", spanInputs={"order": "A-1042"}, spanOutputs="done"),
    ]
    trace = read({"info": {"trace_id": "tr-1"}, "data": {"spans": spans}})
    assert [(event.name, event.arguments, event.output) for event in trace.events] == [
        ("refund", {"order": "A-1042"}, '"done"')
    ]
