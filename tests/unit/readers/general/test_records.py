from __future__ import annotations

from typing import Any

import pytest

from planproof.trace import Trace
from tests.unit.readers.samples import (
    LANGCHAIN,
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


def test_messages_of_a_graph_under_keys_of_its_own() -> None:
    trace = read(LANGCHAIN)
    assert brief(trace) == [
        ("message", None, "What is new?"),
        ("reasoning", None, "I search."),
        ("action", "web_search", ""),
        ("message", None, "Nothing is new."),
    ]
    assert trace.events[1].pointer == "/values/messages/1/additional_kwargs/reasoning_content"
    assert actions(trace)[0].arguments == {"query": "news"}
    assert {event.time for event in trace.events} == {None}


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


def test_notices_are_no_deeds_of_the_agent() -> None:
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


def test_parts_that_say_what_they_are() -> None:
    trace = read(
        [
            {
                "kind": "request",
                "parts": [
                    {"part_kind": "system-prompt", "content": "Be good."},
                    {"part_kind": "user-prompt", "content": "Go."},
                ],
            },
            {
                "kind": "response",
                "parts": [
                    {"part_kind": "thinking", "content": "Hm."},
                    {
                        "part_kind": "tool-call",
                        "tool_name": "a",
                        "args": '{"x": 1}',
                        "tool_call_id": "1",
                    },
                ],
            },
            {
                "kind": "request",
                "parts": [
                    {
                        "part_kind": "tool-return",
                        "tool_name": "a",
                        "content": "b",
                        "tool_call_id": "1",
                    }
                ],
            },
            {"kind": "response", "parts": [{"part_kind": "text", "content": "Done."}]},
        ]
    )
    assert brief(trace) == [
        ("system", None, "Be good."),
        ("message", None, "Go."),
        ("reasoning", None, "Hm."),
        ("action", "a", ""),
        ("message", None, "Done."),
    ]
    assert actions(trace)[0].output == "b"
    assert trace.events[2].turn == trace.events[3].turn
