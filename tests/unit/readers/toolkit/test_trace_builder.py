from __future__ import annotations

import pytest

from planproof.core.content import Image
from planproof.core.trace import Event, EventStatus, Kind, SkippedPart
from planproof.readers.toolkit.tool_calls import ToolCall
from planproof.readers.toolkit.trace_builder import ToolResult, TraceBuilder


def test_a_result_finds_its_call_by_id_also_when_ids_repeat() -> None:
    transcript = TraceBuilder()
    transcript.begin_turn()
    first = transcript.add_call(ToolCall("a", id="1"), "/0", "x")
    second = transcript.add_call(ToolCall("b", id="1"), "/1", "x")
    transcript.add_result(ToolResult("for a", "/2", call_id="1"))
    transcript.add_result(ToolResult("for b", "/3", call_id="1"))
    third = transcript.add_result(ToolResult("for nobody", "/4", call_id="1"))
    assert (first.output, second.output) == ("for a", "for b")
    assert third.kind is Kind.OBSERVATION


def test_an_id_that_is_used_again_is_that_of_the_newest_turn() -> None:
    transcript = TraceBuilder()
    transcript.begin_turn()
    old = transcript.add_call(ToolCall("a", id="1"), "/0", "x")
    transcript.begin_turn()
    new = transcript.add_call(ToolCall("b", id="1"), "/1", "x")
    transcript.add_result(ToolResult("for b", "/2", call_id="1"))
    assert (old.output, new.output) == ("", "for b")
    transcript.add_result(ToolResult("late, for a", "/3", call_id="1"))
    assert old.output == "late, for a"


def test_a_record_of_which_nothing_comes_is_skipped() -> None:
    transcript = TraceBuilder()
    with transcript.skipping_if_unread("/0", "empty"):
        transcript.add_message(Kind.MESSAGE, " ", "/0/text", "x")
    with transcript.skipping_if_unread("/1", "empty"):
        transcript.add_message(Kind.MESSAGE, "hi", "/1/text", "x")
    call = transcript.add_call(ToolCall("a"), "/2/call", "x")
    call.set_output("b", "/3/output")
    transcript.skip_unread(("/0", "/1", "/2", "/3", "/4"), "repeats")
    assert transcript.build("t").skipped == (
        SkippedPart("/0", "empty"),
        SkippedPart("/4", "repeats", repeats=True),
    )


def test_a_result_without_an_id_goes_to_the_first_open_call_of_the_last_turn() -> None:
    transcript = TraceBuilder()
    transcript.begin_turn()
    old = transcript.add_call(ToolCall("a"), "/0", "x")
    transcript.begin_turn()
    new = transcript.add_call(ToolCall("a"), "/1", "x")
    other = transcript.add_call(ToolCall("b"), "/2", "x")
    assert transcript.has_unanswered_calls()
    transcript.add_result(ToolResult("b", "/3", name="b"))
    transcript.add_result(ToolResult("a", "/4"))
    assert not transcript.has_unanswered_calls()
    assert (old.output, new.output, other.output) == ("", "a", "b")
    assert transcript.add_result(ToolResult("c", "/5")).kind is Kind.OBSERVATION


def test_a_result_that_names_its_call_takes_the_place_of_one_that_came_next() -> None:
    transcript = TraceBuilder()
    transcript.begin_turn()
    call = transcript.add_call(ToolCall("a", id="1"), "/0", "x")
    transcript.add_result(ToolResult("a log line", "/1"))
    transcript.add_result(ToolResult("4", "/2", call_id="1"))
    assert (call.output, call.output_pointer) == ("4", "/2")
    other = transcript.drafts[-1]
    assert (other.kind, other.text, other.pointer) == (Kind.OBSERVATION, "a log line", "/1")


def test_a_result_of_another_tool_is_an_observation() -> None:
    transcript = TraceBuilder()
    transcript.begin_turn()
    transcript.add_call(ToolCall("a"), "/0", "x")
    assert transcript.add_result(ToolResult("b", "/1", name="b")).kind is Kind.OBSERVATION


def test_observations_are_not_part_of_the_surrounding_turn() -> None:
    transcript = TraceBuilder()
    transcript.begin_turn()
    before = transcript.add_call(ToolCall("a", id="1"), "/0", "x")
    lost = transcript.add_result(ToolResult("?", "/1", call_id="9", images=(Image("image/png"),)))
    after = transcript.add_call(ToolCall("b"), "/2", "x")
    assert before.turn == after.turn != lost.turn
    assert lost.images


def test_a_turn_goes_on_under_the_same_key() -> None:
    transcript = TraceBuilder()
    turns: list[int] = []
    for key in ("a", "b", "a", None, "b", None):
        transcript.begin_turn(key)
        turns.append(transcript.turn)
    assert turns == [1, 2, 1, 3, 2, 4]


def test_an_empty_message_is_not_an_event() -> None:
    transcript = TraceBuilder()
    assert transcript.add_message(Kind.MESSAGE, " \n", "/0", "x") is None
    assert not transcript.drafts


def test_the_trace_has_ids_in_order_parents_by_id_and_what_was_skipped() -> None:
    transcript = TraceBuilder([SkippedPart("L1", "before")])
    parent = transcript.add_call(ToolCall("a"), "/0", "x")
    transcript.parent = parent
    transcript.time = "t"
    transcript.add_message(Kind.MESSAGE, "hi", "/1", "x")
    transcript.skip("/2", "odd")
    transcript.add_result(
        ToolResult("r", "/3", status=EventStatus.ERROR, images=(Image("image/png"),))
    )
    trace = transcript.build("test")
    assert [event.id for event in trace.events] == ["e1", "e2"]
    assert trace.events[1].parent == "e1"
    assert trace.events[1].time == "t"
    assert (trace.events[0].status, trace.events[0].output_pointer) == (EventStatus.ERROR, "/3")
    assert trace.events[0].images
    assert trace.skipped == (SkippedPart("L1", "before"), SkippedPart("/2", "odd"))
    assert transcript.change_count == 4


def test_a_draft_becomes_an_event_that_nobody_can_change() -> None:
    transcript = TraceBuilder()
    first = transcript.add_call(ToolCall("ls"), "/0", "agent")
    transcript.parent = first
    transcript.add_message(Kind.MESSAGE, "hi", "/1", "agent")
    events = transcript.build("x").events
    assert events[1] == Event(
        id="e2", kind=Kind.MESSAGE, pointer="/1", actor="agent", text="hi", parent="e1"
    )
    assert isinstance(events[0], Event)
    assert len({*events}) == 2
    with pytest.raises(AttributeError):
        events[0].text = "other"  # pyright: ignore[reportAttributeAccessIssue]


def test_names_that_somebody_else_mentioned() -> None:
    builder = TraceBuilder()
    builder.add_message(Kind.MESSAGE, "Use goto(place) or get_board.", "/0", "user")
    builder.add_message(Kind.MESSAGE, "I use make_move.", "/1", "assistant")
    assert builder.is_mentioned("goto(", "assistant")
    assert builder.is_mentioned("get_board", "assistant")
    assert not builder.is_mentioned("get_board(", "assistant")
    assert not builder.is_mentioned("make_move", "assistant")
    assert builder.is_mentioned("make_move", "other")
    assert not builder.is_mentioned("place", "assistant")
    builder.add_message(Kind.MESSAGE, "make_move(x) it is.", "/2", "user")
    assert builder.is_mentioned("make_move", "assistant")
