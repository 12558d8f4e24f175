from __future__ import annotations

from typing import Any

import pytest

from planproof.core.trace import EventStatus
from planproof.readers.decoding.source import Source
from planproof.readers.recognition import load_reader
from tests.unit.readers.samples import ALL, actions, brief, lines, read, tool_call
from tests.unit.readers.span_samples import MEMORY


def step(**fields: Any) -> dict[str, Any]:
    return {"step_number": 1, "model_output": None, "observations": None, **fields}


def test_task_plan_code_and_an_answer_without_code() -> None:
    trace = read(MEMORY)
    assert brief(trace) == [
        ("message", None, "Which station was warmer?"),
        ("reasoning", None, "## Facts\n- two"),
        ("bookkeeping", "plan", "## Plan\n1. Read.\n2. Answer."),
        ("reasoning", None, "Thought: I read."),
        ("action", "python_interpreter", "print(read('north'))"),
        ("reasoning", None, "North, I think."),
        ("observation", None, "There is no code in it."),
    ]
    [ran] = actions(trace)
    assert (ran.output, ran.output_pointer) == ("Execution logs:\n13.0", "/2/observations")
    assert (ran.status, ran.time) == (EventStatus.OK, "2026-01-01T09:00:01+00:00")
    assert trace.events[-1].status is EventStatus.ERROR
    assert trace.skipped == ()


@pytest.mark.parametrize("wrapped", [{"steps": MEMORY, "output": "x"}, lines(*MEMORY)])
def test_steps_under_a_key_and_as_lines(wrapped: Any) -> None:
    assert read(wrapped).reader == "smolagents"
    assert brief(read(wrapped)) == brief(read(MEMORY))


def test_calls_of_one_step_share_a_turn_and_what_came_back() -> None:
    calls = [tool_call("a", {"x": 1}), tool_call("b", {}), {"id": "odd"}]
    trace = read([step(tool_calls=calls, observations="both", model_output="I call.")])
    assert [(e.name, e.output, e.turn) for e in actions(trace)] == [
        ("a", "both", 1),
        ("b", "both", 1),
    ]
    assert brief(trace)[0] == ("reasoning", None, "I call.")
    assert [part.pointer for part in trace.skipped] == ["/0/tool_calls/2"]


@pytest.mark.parametrize(
    ("fields", "output", "status"),
    [
        ({"error": {"type": "E", "message": "no"}, "observations": "logs"}, "no", "error"),
        ({"error": "no"}, "no", "error"),
        ({"action_output": "done"}, "done", "ok"),
        ({"action_output": [1]}, "[1]", "ok"),
        ({}, "", "unknown"),
    ],
)
def test_what_came_back(fields: dict[str, Any], output: str, status: str) -> None:
    [call] = actions(read([step(tool_calls=[tool_call("a", {})], **fields)]))
    assert (call.output, call.status.value) == (output, status)


def test_code_in_the_answer_or_in_its_own_field() -> None:
    told = step(model_output="Thought: x\nCode:\n```py\ngo()\n```<end_code>", observations="ok")
    noted = step(code_action="go()", model_output_message={"role": "a", "content": "Thought: x"})
    parts = step(model_output=[{"type": "text", "text": "Thought: x\n<code>go()"}])
    for sample in (told, noted, parts):
        assert brief(read([sample])) == [
            ("reasoning", None, "Thought: x"),
            ("action", "python_interpreter", "go()"),
        ]


def test_facts_beside_the_plan_and_a_system_prompt() -> None:
    older: dict[str, Any] = {
        "facts": "none",
        "plan": "Here is the plan:\n1. Go.",
        "model_output_message_plan": {},
    }
    trace = read([{"system_prompt": "Be brief."}, older])
    assert brief(trace) == [
        ("system", None, "Be brief."),
        ("reasoning", None, "none"),
        ("bookkeeping", "plan", "Here is the plan:\n1. Go."),
    ]
    assert trace.skipped == ()


def test_invalid_steps_are_skipped() -> None:
    source = Source.from_value([*MEMORY, {"odd": 1}, 7])
    assert [part.pointer for part in load_reader("smolagents").read(source).skipped] == ["/4", "/5"]


def test_others_are_not_claimed() -> None:
    reader = load_reader("smolagents")
    assert [name for name in ALL if reader.sniff(Source.from_value(ALL[name]))] == [
        "memory of steps"
    ]
    assert not reader.sniff(Source.from_value([{"task": "x"}]))
    assert not reader.sniff(Source.from_value("text"))
