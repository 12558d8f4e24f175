from __future__ import annotations

from typing import Any

import pytest

from planproof.core.trace import UNVERIFIED, Trace
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


def test_pairs_of_speakers_and_texts() -> None:
    trace = read(
        [
            ["system", "Be brief."],
            ["user", "Is it warm?"],
            ["assistant", "Thought: I look.\nAction: weather[Oslo]"],
            ["env", "3"],
            ["assistant", "It is cold."],
        ]
    )
    assert brief(trace) == [
        ("system", None, "Be brief."),
        ("message", None, "Is it warm?"),
        ("reasoning", None, "I look."),
        ("action", "weather", "Oslo"),
        ("message", None, "It is cold."),
    ]
    [call] = actions(trace)
    assert (call.pointer, call.output, call.output_pointer) == ("/2/1", "3", "/3/1")


def test_pairs_of_calls_and_results() -> None:
    steps = [[{"tool": "weather", "tool_input": {"city": "Oslo"}, "log": "I look."}, "3"]]
    trace = read({"input": "Is it warm?", "intermediate_steps": steps})
    [call] = actions(trace)
    assert (call.name, call.arguments, call.output) == ("weather", {"city": "Oslo"}, "3")
    assert call.output_pointer == "/intermediate_steps/0/1"


def test_steps_with_numbered_keys() -> None:
    trajectory = {
        "thought_0": "I look.",
        "tool_name_0": "weather",
        "tool_args_0": {"city": "Oslo"},
        "observation_0": "3",
        "thought_1": "I am done.",
        "tool_name_1": "finish",
        "tool_args_1": {},
        "observation_1": "Completed.",
    }
    trace = read({"trajectory": trajectory, "final_answer": "It is cold."})
    assert brief(trace) == [
        ("reasoning", None, "I look."),
        ("action", "weather", ""),
        ("reasoning", None, "I am done."),
        ("action", "finish", ""),
        ("message", None, "It is cold."),
    ]
    [weather, _] = actions(trace)
    assert (weather.arguments, weather.output) == ({"city": "Oslo"}, "3")
    assert weather.output_pointer == "/trajectory/observation_0"


def test_actions_with_a_type() -> None:
    trace = read(
        {
            "episode": [
                {"action": {"action_type": "click", "x": 1}, "summary": "It opened."},
                {"action": {"action_type": "type", "text": "8"}, "summary": "It is set."},
            ]
        }
    )
    assert [(e.name, e.arguments) for e in actions(trace)] == [
        ("click", {"x": 1}),
        ("type", {"text": "8"}),
    ]
    trace = read([{"action_type": "CLICK", "action_args": {"id": 1}}])
    assert [(e.name, e.arguments) for e in actions(trace)] == [("CLICK", {"id": 1})]


def test_a_final_answer_that_was_said_is_not_repeated() -> None:
    steps = [{"action": "answer", "thought": "I know it.", "observation": "It is cold."}]
    trace = read({"steps": steps, "final_answer": "It is cold."})
    assert [event.kind.value for event in trace.events] == ["reasoning", "action"]


BY_SHAPE: dict[str, tuple[Any, list[tuple[str | None, Any, str]]]] = {
    "events named by their type": (
        [
            {"eventType": "ToolInvoked", "data": {"toolName": "weather", "arguments": {"a": 1}}},
            {"eventType": "ToolReturned", "data": {"toolName": "weather", "result": "3"}},
            {"eventType": "AgentReplied", "data": {"text": "It is cold."}},
        ],
        [("weather", {"a": 1}, "3")],
    ),
    "parts with a call and its result": (
        [
            {"_role": "user", "_content": [{"text": "Is it warm?"}]},
            {
                "_role": "assistant",
                "_content": [
                    {"tool_call": {"tool_name": "weather", "arguments": {"a": 1}, "id": "c"}}
                ],
            },
            {
                "_role": "tool",
                "_content": [
                    {"tool_call_result": {"result": "3", "origin": {"id": "c"}, "error": False}}
                ],
            },
            {"_role": "assistant", "_content": [{"text": "It is cold."}]},
        ],
        [("weather", {"a": 1}, "3")],
    ),
    "commands and what they printed": (
        [
            {"cmd": "ls", "stdout": "a.py", "exit_code": 0},
            {"cmd": "cat a.py", "stdout": "x", "exit_code": 0},
        ],
        [("shell", {"cmd": "ls"}, "a.py"), ("shell", {"cmd": "cat a.py"}, "x")],
    ),
}


@pytest.mark.parametrize("name", BY_SHAPE)
def test_what_the_walk_does_not_read_is_read_by_its_shape(name: str) -> None:
    document, expected = BY_SHAPE[name]
    trace = read(document)
    assert trace.reader == "general"
    assert [(e.name, e.arguments, e.output) for e in actions(trace)] == expected
    assert {event.recognition for event in actions(trace)} == {UNVERIFIED}


def test_calls_that_only_their_type_names_are_not_read_by_shape() -> None:
    records = [
        {"role": "user", "items": [{"$type": "TextContent", "Text": "Is it warm?"}]},
        {"role": "assistant", "items": [{"$type": "CallContent", "Given": {"a": 1}}]},
        {"role": "tool", "items": [{"$type": "ResultContent", "Result": "3"}]},
    ]
    assert actions(read(records)) == []
