from __future__ import annotations

from typing import Any

import pytest

from planproof.core.trace import EventStatus
from tests.unit.readers.framework_samples import (
    GRAPH_MESSAGES,
    LANGCHAIN,
    STATE_HISTORY,
    SUPERVISED,
    call_of_graph,
)
from tests.unit.readers.samples import actions, brief, read

TOLD = [
    ("message", None, "What is new?"),
    ("reasoning", None, "I search."),
    ("action", "web_search", ""),
    ("message", None, "Nothing is new."),
]


@pytest.mark.parametrize("name", [name for name in LANGCHAIN if name != "supervised agents"])
def test_every_dump_format_reads_the_same(name: str) -> None:
    trace = read(LANGCHAIN[name])
    assert brief(trace) == TOLD
    [search] = actions(trace)
    assert (search.arguments, search.output) == ({"query": "news"}, "[]")
    empty = ["state without new messages"] if name == "history of a thread" else []
    assert [part.why for part in trace.skipped] == empty


def test_pointers_lead_into_the_wrapping() -> None:
    state = actions(read(LANGCHAIN["state of a thread"]))[0]
    assert state.pointer == "/values/messages/1/tool_calls/0"
    assert actions(read(LANGCHAIN["messages, dumped"]))[0].pointer == "/1/kwargs/tool_calls/0"
    assert actions(read(LANGCHAIN["messages, to dict"]))[0].output_pointer == "/2/data/content"


def test_a_history_has_each_message_once_in_order() -> None:
    times = [event.time for event in read(STATE_HISTORY).events]
    assert times == [f"2026-01-25T01:37:0{second}Z" for second in (1, 2, 2, 4)]
    assert {event.time for event in read(LANGCHAIN["state of a thread"]).events} == {None}


def test_a_history_without_times_grows() -> None:
    states = [{"values": state["values"]} for state in STATE_HISTORY]
    assert brief(read(states)) == TOLD
    torn = read([*states, "lost"], reader="langchain")
    assert (brief(torn), [part.pointer for part in torn.skipped]) == (TOLD, ["/4", "/5"])


def test_agents_under_a_supervisor_keep_the_call_that_started_them() -> None:
    trace = read(SUPERVISED)
    assert brief(trace) == [
        ("message", None, "Book a room and a flight."),
        ("reasoning", None, "Rooms first."),
        ("action", "transfer_to_room_agent", ""),
        ("action", "book_room", ""),
        ("action", "transfer_back_to_supervisor", ""),
        ("message", None, "There is no room."),
    ]
    over, book, back = actions(trace)
    assert (over.parent, book.parent, back.parent) == (None, over.id, over.id)
    assert trace.events[-1].parent is None
    assert (book.actor, book.status) == ("room_agent", EventStatus.ERROR)
    assert [part.pointer for part in trace.skipped] == ["/3/invalid_tool_calls/0", "/8"]


def test_the_graph_inside_a_task_works_for_the_call_before() -> None:
    delegating = [
        {"type": "human", "content": "Go."},
        {"type": "ai", "content": "", "tool_calls": [call_of_graph("task", {"to": "a"}, "k1")]},
    ]
    inner: dict[str, Any] = {"values": {"messages": GRAPH_MESSAGES}, "next": []}
    state: dict[str, Any] = {
        "values": {"messages": delegating},
        "tasks": [{"id": "x", "name": "tools", "state": inner}, {"id": "y", "state": None}],
    }
    trace = read(state)
    task, search = actions(trace)
    assert (task.parent, search.parent) == (None, task.id)
    assert search.pointer == "/tasks/0/state/values/messages/1/tool_calls/0"


def test_calls_given_twice_are_one_and_summaries_are_thoughts() -> None:
    messages = [
        {"type": "human", "content": "Go."},
        {
            "type": "ai",
            "content": [
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I look."}]},
                {"type": "function_call", "id": "fc_1", "call_id": "k1", "name": "look"},
            ],
            "tool_calls": [call_of_graph("look", {}, "k1")],
        },
    ]
    assert brief(read(messages))[1:] == [("reasoning", None, "I look."), ("action", "look", "")]


def test_updates_name_the_node_and_their_interrupts() -> None:
    updates: list[Any] = [
        {"planner": {"messages": GRAPH_MESSAGES[:2]}},
        {"__interrupt__": [{"value": "Shall I?", "id": "i1"}]},
        {"tools": {"messages": GRAPH_MESSAGES[2:3]}},
        {"quiet": None},
    ]
    trace = read(updates)
    [search] = actions(trace)
    assert (search.actor, search.output) == ("planner", "[]")
    assert search.pointer == "/0/planner/messages/1/tool_calls/0"
    assert [part.pointer for part in trace.skipped] == ["/1", "/3"]


@pytest.mark.parametrize(
    "foreign",
    [
        {"values": [1], "channel_values": {"messages": [{"type": "human"}]}},
        [{"type": "human", "role": "user", "content": "x"}],
        [{"type": ["human"], "content": "x"}],
        [{"a": {"messages": [1]}}],
        [{"values": {"messages": []}}],
    ],
)
def test_what_only_looks_alike_is_not_claimed(foreign: Any) -> None:
    assert read(foreign).reader != "langchain"
