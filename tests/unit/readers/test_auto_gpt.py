from __future__ import annotations

import json
from typing import Any

import pytest

from planproof.core.trace import EventStatus
from tests.unit.readers.samples import THOUGHTS_AND_COMMANDS, actions, brief, read


def test_thoughts_the_plan_and_the_command() -> None:
    trace = read(THOUGHTS_AND_COMMANDS)
    assert brief(trace) == [
        ("reasoning", None, "I read it."),
        ("bookkeeping", "plan", "- read\n- write"),
        ("action", "read_file", ""),
        ("message", None, "a snippet that adds two numbers."),
        ("action", "finish", ""),
    ]
    assert actions(trace)[0].arguments == {"filename": "a.py"}
    assert [event.pointer for event in trace.events[-2:]] == ["/2/content", "/10/content"]
    assert [event.turn for event in trace.events] == [1, 1, 1, 2, 3]


def step(plan: Any, name: str = "ls") -> dict[str, Any]:
    answer: Any = {"thoughts": {"plan": plan}, "command": {"name": name, "args": {}}}
    return {"role": "assistant", "content": json.dumps(answer)}


def test_a_plan_that_is_a_list_is_one_plan() -> None:
    trace = read({"1": step(["look", "N/A", "tell"]), "2": step("N/A")})
    assert brief(trace)[0] == ("bookkeeping", "plan", "look\nN/A\ntell")
    assert len(trace.events) == 3


def test_results_are_tied_to_their_commands() -> None:
    trace = read(
        {
            "1": {"role": "system", "content": "You are an agent."},
            "2": {"role": "user", "content": "Go."},
            "3": step("- look"),
            "4": {"role": "system", "content": "Command ls returned: a.txt"},
            "5": step("- look again"),
            "6": {"role": "system", "content": "Command ls threw the following error: Error: no"},
            "x": 7,
        },
        reader="auto-gpt",
    )
    assert [event.kind.value for event in trace.events] == [
        "system", "message", "bookkeeping", "action", "bookkeeping", "action",
    ]  # fmt: skip
    assert [(a.output, a.status) for a in actions(trace)] == [
        ("Command ls returned: a.txt", EventStatus.OK),
        ("Command ls threw the following error: Error: no", EventStatus.ERROR),
    ]
    assert [part.pointer for part in trace.skipped] == ["/x"]


@pytest.mark.parametrize(
    "document",
    [
        {"1": {"role": "assistant", "content": "just words"}},
        {"1": {"role": "assistant", "content": None}},
        {"1": [step("a")], "2": 2},
    ],
)
def test_what_is_not_auto_gpt(document: Any) -> None:
    assert read(document).reader != "auto-gpt"
