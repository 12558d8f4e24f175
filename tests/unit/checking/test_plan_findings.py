"""Where the user spoke in the middle of a run."""

from __future__ import annotations

from planproof.checking.plan_findings import find_replies_to_user
from tests.trace_builders import asked, did, noted, said, thought
from tests.unit.checking.judge_cases import read


def test_the_request_that_begins_a_run_is_nothing_to_note() -> None:
    assert find_replies_to_user(read(asked("Go."), did("a"), did("b"))) == {}


def test_only_what_comes_right_after_the_user_is_noted() -> None:
    trace = read(asked("Go."), did("a"), asked("Wait."), did("b"), did("c"))
    assert find_replies_to_user(trace) == {"e4": "e3"}


def test_calls_and_words_of_one_turn_answer_together() -> None:
    trace = read(did("a"), asked("Wait."), (said("Yes."), did("b"), did("c")), did("d"))
    assert find_replies_to_user(trace) == {"e3": "e2", "e4": "e2", "e5": "e2"}


def test_thoughts_and_books_come_between_without_answering() -> None:
    trace = read(did("a"), asked("Wait."), thought("Hm."), noted("think"), did("b"))
    assert find_replies_to_user(trace) == {"e5": "e2"}


def test_without_turns_one_event_answers() -> None:
    trace = read(
        *({**event, "turn": 0} for event in (did("a"), asked("Wait."), did("b"), did("c")))
    )
    assert find_replies_to_user(trace) == {"e3": "e2"}
