"""The nouns: what little they do themselves."""

from __future__ import annotations

import copy
import pickle

import pytest

import planproof
from planproof.core.content import Content, Image
from planproof.core.finding import Findings, Status, StepFinding
from planproof.core.plan import Plan, Step
from planproof.core.trace import Event, Kind, Trace
from planproof.core.verdict import Outcome, Verdict
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput, PlanproofError, UnknownName


def _finding(number: str, *, parent: str | None = None, waived: bool = False) -> StepFinding:
    return StepFinding(
        number=number, text="", status=Status.MISSING, confidence=1.0, parent=parent, waived=waived
    )


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (InvalidInput("is empty."), "is empty."),
        (InvalidInput("is empty.", where="a.json"), "a.json: is empty."),
        (
            UnknownName("no such reader.", where="--reader", advice="Known: native."),
            "--reader: no such reader. Known: native.",
        ),
    ],
)
def test_an_error_says_where_what_and_what_to_do(error: PlanproofError, told: str) -> None:
    assert str(error) == told


def test_an_error_survives_a_process_boundary() -> None:
    error = InvalidInput("is empty.", where="a.json", advice="Give another.")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is InvalidInput
    assert str(again) == str(error) == str(copy.copy(error))


@pytest.mark.parametrize(
    ("content", "holds_something"),
    [
        (Content(), False),
        (Content(" \n"), False),
        (Content("Go."), True),
        (Content(images=(Image("image/png", url="https://example.com/a.png"),)), True),
    ],
)
def test_content_without_text_and_images_is_empty(content: Content, holds_something: bool) -> None:
    assert bool(content) is holds_something


def test_leaves_are_the_steps_that_no_other_refines() -> None:
    plan = Plan(
        (
            Step(number="1", text="Prepare"),
            Step(number="1.1", text="Clone", parent="1"),
            Step(number="2", text="Run"),
        )
    )
    assert [step.number for step in plan.leaves] == ["1.1", "2"]


def test_parents_and_waived_steps_do_not_count() -> None:
    steps = (
        _finding("1"),
        _finding("1.1", parent="1"),
        _finding("2", waived=True),
        _finding("3"),
    )
    assert [step.number for step in Findings(steps).counted_steps] == ["1.1", "3"]


def test_events_are_found_by_id() -> None:
    event = Event(id="e1", kind=Kind.ACTION, pointer="/0")
    assert Trace((event,)).by_id == {"e1": event}


@pytest.mark.parametrize(
    ("tool", "keeps_books", "closes"),
    [
        ("TodoWrite", True, False),
        ("mcp__notes__write_todos", True, False),
        ("functions.think", True, False),
        ("submit", False, True),
        ("Final_Answer", False, True),
        ("rethink_pricing", False, False),
        ("submit_order", False, False),
        (None, False, False),
    ],
)
def test_tools_are_known_by_their_own_name(
    tool: str | None, keeps_books: bool, closes: bool
) -> None:
    vocabulary = Vocabulary()
    assert vocabulary.is_bookkeeping(tool) is keeps_books
    assert vocabulary.is_closing(tool) is closes


def test_what_is_declared_comes_on_top() -> None:
    vocabulary = Vocabulary(aliases={"find": "search"}).with_declared(
        bookkeeping=frozenset({"Log_Progress"}),
        closing=frozenset({"hand_in"}),
        aliases={"look up": "kb_search"},
    )
    assert vocabulary.is_bookkeeping("log_progress")
    assert vocabulary.is_bookkeeping("think")
    assert vocabulary.is_closing("hand_in")
    assert vocabulary.aliases == {"find": "search", "look up": "kb_search"}


def test_a_verdict_in_brief_has_the_two_fields_of_the_specification() -> None:
    verdict = Verdict(outcome=Outcome.NO_PLAN, reason="No plan was given.")
    assert verdict.brief() == {"score": None, "reason": "No plan was given."}
    assert verdict.full()["outcome"] == "no_plan"


def test_every_exported_name_is_there_and_no_other() -> None:
    for name in planproof.__all__:
        assert getattr(planproof, name) is not None
    assert set(planproof.__all__) <= set(dir(planproof))
    assert planproof.__version__
    with pytest.raises(AttributeError, match="no attribute 'verdicts'"):
        _ = planproof.verdicts
