"""Steps and extras in the order in which they happened."""

from __future__ import annotations

from dataclasses import replace

from planproof.core.finding import Extra, Status, StepFinding
from planproof.core.verdict import Outcome, Verdict
from planproof.reports.timeline import order_by_time
from tests.unit.reports.verdicts import SCORED, extra, step


def _order(*steps: StepFinding, extras: tuple[Extra, ...] = ()) -> list[str]:
    verdict = Verdict(outcome=Outcome.SCORED, reason="", steps=steps, extras=extras)
    return [f.event if isinstance(f, Extra) else f.number for f in order_by_time(verdict)]


def test_steps_are_placed_where_they_began_and_missing_ones_after_their_predecessor() -> None:
    found = [f.event if isinstance(f, Extra) else f.number for f in order_by_time(SCORED)]
    assert found == ["1", "2", "5", "e4", "e5", "3", "4"]


def test_ids_are_compared_as_numbers() -> None:
    assert _order(step("1", Status.EXECUTED, "e10"), extras=(extra("e9"),)) == ["e9", "1"]


def test_ids_of_others_are_placed_by_their_pointers() -> None:
    later, sooner = replace(extra("aa"), pointer="/10"), replace(extra("bb"), pointer="/9")
    assert _order(extras=(later, sooner)) == ["bb", "aa"]


def test_a_parent_comes_before_its_first_sub_step() -> None:
    first = step("1", Status.EXECUTED, "e9")
    parent = step("2", Status.EXECUTED)
    children = [
        replace(step("2.1", Status.EXECUTED, "e5"), parent="2"),
        replace(step("2.2", Status.EXECUTED, "e3"), parent="2"),
    ]
    assert _order(first, parent, *children) == ["2", "2.2", "2.1", "1"]


def test_steps_that_were_never_begun_keep_the_order_of_the_plan() -> None:
    assert _order(*(step(str(n), Status.MISSING) for n in range(1, 13))) == [
        str(n) for n in range(1, 13)
    ]
