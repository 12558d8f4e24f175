from __future__ import annotations

import json
from typing import Any

import pytest

from planproof.trace import EventStatus
from tests.unit.readers.samples import (
    FLAT_SPANS,
    SPAN_TREE,
    actions,
    brief,
    nested_span,
    read,
)

FLAT = "llm__output_messages__0__message"


def span(start: Any, parent: Any = None, status: Any = None, **attributes: Any) -> dict[str, Any]:
    return {
        "name": "s",
        "spanId": f"s{start}",
        "parentSpanId": parent,
        "startTimeUnixNano": start,
        "status": status,
        "attributes": {key.replace("__", "."): value for key, value in attributes.items()},
    }


def tool(start: Any, name: str = "a", **more: Any) -> dict[str, Any]:
    return span(start, gen_ai__operation__name="execute_tool", gen_ai__tool__name=name, **more)


def model(start: Any, **more: Any) -> dict[str, Any]:
    return span(start, gen_ai__operation__name="chat", **more)


def test_what_the_model_asks_for_and_what_then_runs_is_one_action() -> None:
    trace = read(FLAT_SPANS)
    assert brief(trace) == [("action", "get_time", "")]
    [call] = trace.events
    assert (call.pointer, call.output_pointer) == ("/1/attributes", "/1/attributes/gen_ai.output")
    assert (call.arguments, call.output, call.status) == ({"zone": "UTC"}, "12:00", EventStatus.OK)
    assert call.time == "2025-09-16T12:43:19.903043+00:00"


def test_a_tree_of_spans_with_code_that_calls_tools() -> None:
    trace = read(SPAN_TREE)
    assert brief(trace) == [
        ("reasoning", None, "Facts."),
        ("reasoning", None, "Thought: I search."),
        ("action", "python", "for q in queries:\n    search(q)"),
        ("action", "search", ""),
        ("message", None, "Done."),
    ]
    code, search = actions(trace)
    assert code.output == "Execution logs:\n3 results"
    assert code.output_pointer == "/spans/0/child_spans/1/span_attributes/output.value"
    assert (search.parent, search.arguments) == (code.id, {"query": "ships"})
    assert search.turn == code.turn
    assert trace.events[-1].parent is None


def test_a_tool_that_the_code_names_with_all_its_values_is_told_already() -> None:
    step = nested_span(
        "Step 1",
        "CHAIN",
        1,
        children=[
            nested_span("LLM", "LLM", 2, output__value="Code:\n```py\nfinal_answer('7')\n```"),
            nested_span(
                "F",
                "TOOL",
                3,
                tool__name="final_answer",
                input__value='{"args": ["7"], "kwargs": {}}',
            ),
            nested_span("F", "TOOL", 4, tool__name="other", input__value="{}"),
        ],
    )
    found = actions(read([step]))
    assert [event.name for event in found] == ["python", "other"]
    assert found[0].status is EventStatus.OK


def test_code_outside_of_any_step_has_no_outcome() -> None:
    [run] = actions(read([model(1, output__value="Code:\n```py\ngo()\n```")]))
    assert (run.text, run.output, run.status) == ("go()", "", EventStatus.UNKNOWN)


def test_spans_are_put_in_the_order_in_which_they_began() -> None:
    assert [e.name for e in read([tool(30, "c"), tool(10, "a"), tool(20, "b")]).events] == [
        "a",
        "b",
        "c",
    ]
    assert [e.name for e in read([tool("30", "b"), tool("4", "a")]).events] == ["a", "b"]
    texts = [tool("2025-01-02", "b"), tool("2025-01-01", "a")]
    assert [e.name for e in read(texts).events] == ["a", "b"]
    mixed = [tool("2025-01-02", "b"), tool(7, "a"), tool(True, "c"), tool(10**40, "d")]
    assert [e.name for e in read(mixed).events] == ["b", "a", "c", "d"]


def test_calls_that_one_answer_asks_for_share_a_turn() -> None:
    parts: list[Any] = [
        {"type": "text", "content": "I go."},
        {"type": "tool_call", "name": "a", "arguments": {}},
        {"type": "tool_call", "name": "b"},
        3,
    ]
    asked = json.dumps([{"role": "assistant", "parts": parts}])
    trace = read(
        [model(1, gen_ai__output__messages=asked), tool(2, "b"), tool(3, "a"), tool(4, "c")]
    )
    assert [(e.kind.value, e.name, e.turn) for e in trace.events] == [
        ("message", None, 1),
        ("action", "a", 1),
        ("action", "b", 1),
        ("action", "c", 2),
    ]


ANSWERS: list[Any] = [
    ({"output__value": "plain"}, [("message", None, "plain")]),
    ({"output__value": "Thought: hm"}, [("reasoning", None, "Thought: hm")]),
    ({"output__value": " "}, []),
    ({"output__value": "[1, 2]"}, []),
    ({"output": {"content": [{"text": "hi"}]}}, [("message", None, "hi")]),
    (
        {"outputs": {"tool_calls": [{"name": "a", "args": {}}, 3]}},
        [("action", "a", "")],
    ),
    ({"gen_ai__completion__0__content": "hi"}, [("message", None, "hi")]),
    (
        {
            f"{FLAT}__tool_calls__0__tool_call__function__name": "a",
            f"{FLAT}__tool_calls__0__tool_call__function__arguments": "x",
            f"{FLAT}__tool_calls__1__tool_call__function__name": "b",
            f"{FLAT}__tool_calls__2__tool_call__id": "c",
            f"{FLAT}__content": None,
            "llm__output_messages": "odd",
        },
        [("action", "a", "x"), ("action", "b", "")],
    ),
    ({}, []),
]


@pytest.mark.parametrize(("attributes", "events"), ANSWERS)
def test_the_forms_of_an_answer(attributes: dict[str, Any], events: list[Any]) -> None:
    assert brief(read([model(1, **attributes)])) == events


@pytest.mark.parametrize(
    ("more", "status", "output"),
    [
        ({"status": {"code": "STATUS_CODE_ERROR"}}, "error", ""),
        ({"status": "ok", "output__value": "Error: no"}, "error", "Error: no"),
        ({"output__value": "fine"}, "ok", "fine"),
        ({"output__value": {"a": 1}}, "ok", '{"a": 1}'),
        ({}, "unknown", ""),
    ],
)
def test_how_a_tool_ended(more: dict[str, Any], status: str, output: str) -> None:
    [event] = read([tool(1, **more)]).events
    assert (event.status.value, event.output) == (status, output)


def test_the_message_of_a_failed_span_is_its_output() -> None:
    failed = {**tool(1), "status_code": "Error", "status_message": "it broke"}
    [event] = read([failed]).events
    assert (event.output, event.output_pointer, event.status.value) == (
        "it broke",
        "/0/status_message",
        "error",
    )


def test_attributes_as_pairs_under_resource_and_scope() -> None:
    pairs = [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
        {"key": "gen_ai.tool.name", "value": {"stringValue": "a"}},
        {"key": "output.value", "value": "b"},
        {"key": 3},
        "odd",
    ]
    exported: dict[str, Any] = {
        "resourceSpans": [
            {
                "resource": {"attributes": []},
                "scopeSpans": [{"spans": [{"spanId": "1", "name": "x", "attributes": pairs}]}],
            }
        ]
    }
    [event] = read(exported).events
    assert (event.name, event.output) == ("a", "b")
    place = "/resourceSpans/0/scopeSpans/0/spans/0/attributes"
    assert event.pointer == event.output_pointer == place


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


def test_parents_in_a_circle_are_cut() -> None:
    spans = [
        {**tool(1), "span_id": "a", "parent_span_id": "b"},
        {**tool(2), "span_id": "b", "parent_span_id": "a"},
        {**tool(3), "span_id": "c", "parent_span_id": "c"},
    ]
    assert len(read(spans).events) == 3


def test_what_is_no_span_among_spans_is_skipped() -> None:
    trace = read([tool(1), {"x": 1}, 7])
    assert [part.pointer for part in trace.skipped] == ["/1", "/2"]
    assert (
        read([{**tool(1), "attributes": 7, "name": None, "run_type": "tool"}]).events[0].name
        == "tool"
    )


def test_spans_with_their_data_beside_them() -> None:
    spans = [
        {"id": "1", "started_at": "2025-01-01", "span_data": {"type": "agent", "name": "Triage"}},
        {
            "id": "2",
            "parent_id": "1",
            "started_at": "2025-01-02",
            "span_data": {
                "type": "function",
                "name": "look_up",
                "input": '{"x": 1}',
                "output": "y",
            },
        },
        {
            "id": "3",
            "parent_id": "1",
            "started_at": "2025-01-03",
            "span_data": {"type": "handoff", "from_agent": "Triage", "to_agent": "Refunds"},
        },
    ]
    trace = read(spans)
    assert brief(trace) == [("action", "look_up", ""), ("action", "Refunds", "")]
    assert (trace.events[0].arguments, trace.events[1].actor) == ({"x": 1}, "Triage")


def test_observations_that_are_spans() -> None:
    run: dict[str, Any] = {
        "observations": [
            {"id": "1", "type": "TOOL", "name": "a", "startTime": "2", "input": {}, "output": "b"},
            {"id": "2", "type": "GENERATION", "startTime": "1", "output": {"content": "I go."}},
        ]
    }
    assert brief(read(run)) == [("message", None, "I go."), ("action", "a", "")]
