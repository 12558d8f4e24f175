from __future__ import annotations

from typing import Any

import pytest

from planproof.core.trace import Trace
from tests.unit.readers.samples import (
    actions,
    brief,
    lines,
    read,
)


def skipped(trace: Trace) -> list[str]:
    return [part.pointer for part in trace.skipped]


def test_calls_with_a_result_in_between_are_two_turns() -> None:
    call: dict[str, Any] = {"type": "function_call", "name": "a", "arguments": "{}"}
    records = [
        {**call, "call_id": "1"},
        {**call, "call_id": "2"},
        {"type": "function_call_output", "call_id": "1", "output": "x"},
        {"type": "function_call_output", "call_id": "2", "output": "y"},
        {**call, "call_id": "3"},
    ]
    found = actions(read(records))
    assert [event.turn for event in found] == [1, 1, 2]
    assert [event.output for event in found] == ["x", "y", ""]


STEPS: list[Any] = [
    (
        {"tool": "search", "input": {"q": "x"}, "output": "y"},
        ("action", "search", ""),
        ({"q": "x"}, "y", "/steps/0/output", "ok"),
    ),
    (
        {"tool_name": "a", "error": "timed out"},
        ("action", "a", ""),
        (None, "timed out", "/steps/0/error", "error"),
    ),
    (
        {"name": "a", "args": {}, "status": "failed"},
        ("action", "a", ""),
        ({}, "", None, "error"),
    ),
    (
        {"function_call": {"name": "a", "arguments": "{}"}, "result": {"b": 1}},
        ("action", "a", ""),
        ({}, '{"b": 1}', "/steps/0/result", "ok"),
    ),
    (
        {"action": "ls -la", "observation": "a.txt"},
        ("action", "ls", "ls -la"),
        (None, "a.txt", "/steps/0/observation", "ok"),
    ),
    (
        {"action": "search", "input": "cats", "step": 1},
        ("action", "search", "cats"),
        (None, "", None, "unknown"),
    ),
    (
        {"command": {"name": "read", "args": {"f": 1}}, "result": "x"},
        ("action", "read", ""),
        ({"f": 1}, "x", "/steps/0/result", "ok"),
    ),
    (
        {"action": {"click": 3}, "thought": ""},
        ("action", "command", '{"click": 3}'),
        (None, "", None, "unknown"),
    ),
]


@pytest.mark.parametrize(("record", "event", "rest"), STEPS)
def test_a_step_with_its_own_result(record: dict[str, Any], event: Any, rest: Any) -> None:
    trace = read({"steps": [record]})
    assert brief(trace) == [event]
    [done] = trace.events
    assert (done.arguments, done.output, done.output_pointer, done.status.value) == rest


def test_the_thought_of_a_step_comes_first() -> None:
    trace = read([{"thought": "I look.", "action": "ls", "observation": "a"}])
    assert brief(trace) == [("reasoning", None, "I look."), ("action", "ls", "ls")]


@pytest.mark.parametrize(
    "record",
    [
        {"action": ""},
        {"action": "alone"},
        {"type": "odd", "x": 1},
        {"type": "tool_call", "function": {}},
        {"kind": "odd"},
    ],
)
def test_a_record_of_another_kind_is_skipped_among_known_ones(record: dict[str, Any]) -> None:
    trace = read([{"tool": "a"}, record], reader="general")
    assert (len(trace.events), skipped(trace)) == (1, ["/1"])


def test_notices_are_not_actions_of_the_agent() -> None:
    trace = read(
        lines(
            {"type": "summary", "summary": "Earlier work", "leafUuid": "x"},
            {"type": "reasoning", "text": "Hm.", "content": ["So.", {"text": "Or so."}, 3]},
            {"type": "reasoning", "encrypted_content": "x"},
        )
    )
    assert brief(trace) == [
        ("system", None, "Earlier work"),
        ("reasoning", None, "So."),
        ("reasoning", None, "Or so."),
        ("reasoning", None, "Hm."),
    ]
    assert [event.pointer for event in trace.events][1:] == [
        "L2/content/0",
        "L2/content/1/text",
        "L2/text",
    ]
    assert skipped(trace) == ["L3"]


def test_events_whose_content_is_a_message_of_parts() -> None:
    call = {"functionCall": {"id": "1", "name": "a", "args": {"x": 1}}}
    back = {"functionResponse": {"id": "1", "name": "a", "response": {"y": 2}}}
    trace = read(
        [
            {"author": "user", "content": {"role": "user", "parts": [{"text": "Go."}]}},
            {"author": "root", "content": {"role": "model", "parts": [{"text": "So."}, call]}},
            {"author": "root", "content": {"role": "user", "parts": [back]}},
        ]
    )
    assert brief(trace) == [
        ("message", None, "Go."),
        ("reasoning", None, "So."),
        ("action", "a", ""),
    ]
    assert actions(trace)[0].output == '{"y": 2}'


def test_a_turn_with_lists_of_calls_and_results() -> None:
    turns: list[dict[str, Any]] = [
        {
            "iteration": 1,
            "response": "I read both.",
            "toolCalls": [
                {"id": "1", "name": "readFile", "arguments": {"path": "a"}},
                {"id": "2", "name": "readFile", "arguments": {"path": "b"}},
            ],
            "toolResults": [
                {"tool": "readFile", "result": {"content": "A"}},
                {"tool": "readFile", "result": {"content": "B"}},
            ],
        },
        {"iteration": 2, "response": "Both are short.", "toolCalls": []},
    ]
    trace = read({"taskId": "t", "iterations": turns, "finalResponse": "Both are short."})
    assert brief(trace) == [
        ("reasoning", None, "I read both."),
        ("action", "readFile", ""),
        ("action", "readFile", ""),
        ("message", None, "Both are short."),
    ]
    assert [(e.pointer, e.arguments, e.output) for e in actions(trace)] == [
        ("/iterations/0/toolCalls/0", {"path": "a"}, '{"content": "A"}'),
        ("/iterations/0/toolCalls/1", {"path": "b"}, '{"content": "B"}'),
    ]
    assert actions(trace)[1].output_pointer == "/iterations/0/toolResults/1/result"


def test_records_of_calls_and_of_their_outcomes() -> None:
    turns: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": "Mend it."},
        {
            "type": "tool_call",
            "content": "",
            "tool_calls": [
                {"call_id": "a", "name": "read", "arguments": {"path": "x"}},
                {"call_id": "b", "name": "test", "arguments": {}},
            ],
        },
        {"type": "tool_result", "call_id": "b", "outcome": {"type": "success", "result": 1}},
        {"type": "tool_result", "call_id": "a", "outcome": {"type": "success", "result": 2}},
    ]
    found = actions(read({"turns": turns, "usage": {}}))
    assert [(e.name, e.output_pointer) for e in found] == [
        ("read", "/turns/3/outcome"),
        ("test", "/turns/2/outcome"),
    ]
    assert found[0].turn == found[1].turn


def test_calls_listed_again_next_to_the_messages_are_read_once() -> None:
    call: dict[str, Any] = {"id": "1", "name": "read", "arguments": {}}
    messages: list[dict[str, Any]] = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    trace = read({"run": {"messages": messages, "tool_calls": [call], "response": "Done."}})
    assert [event.pointer for event in actions(trace)] == ["/run/messages/0/tool_calls/0"]
