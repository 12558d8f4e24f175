from __future__ import annotations

from typing import Any

import pytest

from planproof.trace import EventStatus, Trace
from tests.unit.readers.samples import (
    CODING_SESSION,
    DEED_RECORDS,
    LANGCHAIN,
    ROLLOUT,
    actions,
    brief,
    lines,
    read,
)


def skipped(trace: Trace) -> list[str]:
    return [part.pointer for part in trace.skipped]


def test_a_coding_session() -> None:
    trace = read(CODING_SESSION)
    assert brief(trace) == [
        ("message", None, "Look around."),
        ("reasoning", None, "A list helps."),
        ("action", "Bash", ""),
        ("action", "Task", ""),
        ("system", None, "Dig."),
        ("action", "Read", ""),
        ("message", None, "There is a.txt."),
    ]
    bash, task, dug = actions(trace)
    assert (bash.output, bash.output_pointer) == ("a.txt", "L7/message/content/0/content")
    assert (task.output, task.status) == ("refused", EventStatus.ERROR)
    assert bash.turn == task.turn == trace.events[1].turn
    assert dug.parent == trace.events[4].parent == task.id
    assert trace.events[-1].parent is None
    assert trace.events[1].time == "2025-09-03T00:47:20Z"
    assert skipped(trace) == ["L8"]


def test_lines_of_a_sub_agent_whose_call_is_not_there() -> None:
    trace = read(
        lines(
            {
                "isSidechain": True,
                "message": {"role": "assistant", "content": [{"type": "text", "text": "Hm."}]},
            },
            {"isMeta": True, "message": {"role": "user", "content": [{"text": "A caveat."}]}},
        )
    )
    assert brief(trace) == [("message", None, "Hm."), ("system", None, "A caveat.")]
    assert trace.events[0].parent is None


def test_a_rollout() -> None:
    trace = read(ROLLOUT)
    assert brief(trace) == [
        ("message", None, "Make it fast."),
        ("reasoning", None, "I look."),
        ("action", "shell", ""),
    ]
    [shell] = actions(trace)
    assert (shell.arguments, shell.status) == ({"command": ["ls"]}, EventStatus.ERROR)
    assert (shell.turn, shell.actor) == (trace.events[1].turn, "assistant")
    assert shell.time == "2025-09-25T01:22:23Z"
    assert skipped(trace) == ["L1", "L6/payload"]


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


def test_deeds_and_what_was_observed() -> None:
    trace = read(DEED_RECORDS)
    assert brief(trace) == [
        ("message", None, "Fix it."),
        ("reasoning", None, "I look first."),
        ("action", "run", ""),
    ]
    [run] = actions(trace)
    assert (run.arguments, run.output) == ({"command": "ls"}, "a.c")
    assert (run.pointer, run.output_pointer, run.time) == (
        "/1/args",
        "/2/content",
        "2025-04-30T16:32:57",
    )


def test_deeds_of_one_answer_of_the_model_are_one_turn() -> None:
    asked = {"tool_call_metadata": {"model_response": {"id": "r"}}}
    records = [
        {"id": 1, "source": "agent", "action": "run", "args": {"command": "a"}, **asked},
        {"id": 2, "source": "agent", "action": "run", "args": {"command": "b"}, **asked},
        {"id": 3, "source": "agent", "action": "think", "args": {"thought": "hm"}},
        {"source": "user", "action": "recall", "args": {"query": "x"}},
        {"source": "agent", "action": "system", "args": {"content": "Be good."}},
        {"observation": "null", "content": "lost"},
    ]
    trace = read(records)
    assert brief(trace) == [
        ("action", "run", ""),
        ("action", "run", ""),
        ("bookkeeping", "think", ""),
        ("system", None, "Be good."),
    ]
    assert [event.turn for event in trace.events][:3] == [1, 1, 2]
    assert trace.events[2].output == "lost"
    assert skipped(trace) == ["/3"]


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
