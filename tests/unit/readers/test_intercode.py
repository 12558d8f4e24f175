from __future__ import annotations

from typing import Any

import pytest

from planproof.core.trace import EventStatus
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


def test_the_task_and_a_run_inside_two_wrappers() -> None:
    run = {"query": "Count.", "logs": {"turn_history": {"actions": ["wc a"], "observations": []}}}
    trace = read(run)
    assert trace.reader == "intercode"
    assert brief(trace) == [("message", None, "Count."), ("action", "wc", "wc a")]
    assert trace.events[0].actor == "user"
    assert trace.events[1].pointer == "/logs/turn_history/actions/0"


@pytest.mark.parametrize("reader", ["intercode", "general"])
def test_a_document_without_a_run_has_no_events(reader: str) -> None:
    assert not read({"logs": {"turn_history": {"logs": {"turn_history": {}}}}}, reader).events


def test_a_run_that_lies_elsewhere_is_found_by_the_general_reader() -> None:
    trace = read({"x": [{"actions": ["ls"], "observations": ["a"]}]})
    assert (trace.reader, brief(trace)) == ("general", [("action", "ls", "ls")])
