from __future__ import annotations

from typing import Any

import pytest

from planproof.readers.general.commands import command_name
from planproof.trace import EventStatus
from tests.unit.readers.samples import ARRAYS, actions, brief, read


def test_actions_and_what_came_back() -> None:
    trace = read(ARRAYS)
    assert brief(trace) == [
        ("action", "ls", "ls /tmp"),
        ("action", "head", "```bash\nhead -n 1 a.txt\n```"),
        ("action", "sql", "SELECT 1"),
    ]
    first, second, third = actions(trace)
    assert (first.pointer, first.output_pointer) == (
        "/turn_history/actions/0",
        "/turn_history/observations/0",
    )
    assert [first.status, second.status, third.status] == [
        EventStatus.OK,
        EventStatus.ERROR,
        EventStatus.OK,
    ]
    assert [event.turn for event in trace.events] == [1, 2, 3]


def test_thoughts_calls_and_a_result_that_is_still_to_come() -> None:
    run = {
        "thoughts": ["hm", None, "so"],
        "actions": [{"name": "look", "args": {"at": 1}}, {}, "go"],
        "observations": ["a", {"b": 1}],
        "success": [False],
    }
    trace = read(run)
    assert brief(trace) == [
        ("reasoning", None, "hm"),
        ("action", "look", ""),
        ("action", "command", "{}"),
        ("reasoning", None, "so"),
        ("action", "go", "go"),
    ]
    assert [(a.output, a.status.value) for a in actions(trace)] == [
        ("a", "error"),
        ('{"b": 1}', "ok"),
        ("", "unknown"),
    ]


@pytest.mark.parametrize("run", [{"actions": ["a"]}, {"actions": ["a"] * 5, "results": ["b"]}])
def test_arrays_that_do_not_belong_together(run: dict[str, Any]) -> None:
    assert not read(run).events


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("ls -la", "ls"),
        ("  ./run.sh", "./run.sh"),
        ("```BASH\nfind . -name x\n```", "find"),
        ("show tables", "sql"),
        ("Let us try: `grep -c x a.txt` (count)", "grep"),
        ("echo `date`", "echo"),
        ("Let us go", "Let"),
        ("", "command"),
        ("((1))", "command"),
    ],
)
def test_the_tool_behind_a_command(command: str, name: str) -> None:
    assert command_name(command) == name
