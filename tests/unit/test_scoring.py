"""The table from findings to score, row by row, and the nearest better outcome."""

from __future__ import annotations

import pytest

from planproof.core.finding import Findings, Severity
from planproof.core.trace import Event, Kind, Trace
from planproof.core.verdict import Measures
from planproof.scoring import compute_measures, compute_score, find_nearest_better
from tests.unit.finding_builders import extra, findings, step


@pytest.mark.parametrize("statuses", ["OO", "EO", "EEOO", "O"])
def test_score_is_0_when_half_of_the_steps_are_out_of_order(statuses: str) -> None:
    assert compute_score(findings(statuses)) == 0.0


@pytest.mark.parametrize("statuses", ["OLE", "OLLLEE", "EOAAL"])
def test_score_is_0_when_order_and_steps_are_lost_in_two_thirds(statuses: str) -> None:
    assert compute_score(findings(statuses)) == 0.0


@pytest.mark.parametrize("statuses", ["L", "ELL", "ELLL", "PLL", "AAL", "EPLLLL"])
def test_score_is_0_when_a_third_at_most_was_executed_and_two_thirds_lost(statuses: str) -> None:
    assert compute_score(findings(statuses)) == 0.0


@pytest.mark.parametrize("statuses", ["EEO", "EEEO", "EEEEOL", "PPO"])
def test_score_is_a_quarter_when_any_step_is_out_of_order(statuses: str) -> None:
    assert compute_score(findings(statuses)) == 0.25


@pytest.mark.parametrize("statuses", ["E", "EEEE"])
def test_score_is_1_when_every_step_was_executed_and_nothing_else(statuses: str) -> None:
    assert compute_score(findings(statuses)) == 1.0


def test_score_is_three_quarters_with_one_minor_extra() -> None:
    assert compute_score(findings("EEE", minor=1)) == 0.75


@pytest.mark.parametrize(
    ("statuses", "major", "minor"),
    [("EL", 0, 0), ("EEA", 0, 0), ("EEP", 0, 0), ("E", 1, 0), ("EEE", 0, 2), ("EP", 1, 9)],
)
def test_score_is_a_half_when_half_was_executed_and_one_thing_is_lost_or_extra(
    statuses: str, major: int, minor: int
) -> None:
    assert compute_score(findings(statuses, major, minor)) == 0.5


@pytest.mark.parametrize(
    ("statuses", "major"), [("EEE", 2), ("EEEELL", 0), ("EEL", 1), ("EPP", 0), ("PPPP", 0)]
)
def test_score_is_a_quarter_for_everything_else(statuses: str, major: int) -> None:
    assert compute_score(findings(statuses, major)) == 0.25


def test_a_parent_is_not_counted_its_leaves_are() -> None:
    found = Findings((step("1", "L"), step("1.1", "E", parent="1"), step("1.2", "E", parent="1")))

    assert compute_score(found) == 1.0


def test_a_waived_step_is_not_counted() -> None:
    assert compute_score(Findings((step("1", "E"), step("2", "L", waived=True)))) == 1.0


def test_a_plan_whose_every_step_was_waived_was_not_ignored() -> None:
    waived = step("1", "L", waived=True)

    assert compute_score(Findings((waived,))) == 1.0
    assert compute_score(Findings((waived,), (extra("e1"),))) == 0.5


@pytest.mark.parametrize(
    ("statuses", "major", "minor", "better"),
    [
        ("E", 0, 0, None),
        ("EEE", 0, 1, (1.0, "if the extra y1 (retry) had not been done")),
        ("EEE", 1, 0, (1.0, "if the extra x1 (web_search) had not been done")),
        ("EEL", 0, 0, (1.0, "if step 3 had been executed")),
        ("EEP", 0, 0, (1.0, "if step 3 had been executed in full")),
        ("EOE", 0, 0, (1.0, "if step 2 had come between steps 1 and 3")),
        ("EEO", 0, 0, (1.0, "if step 3 had come after step 2")),
        ("OEE", 0, 0, (1.0, "if step 1 had come before step 2")),
        ("OEEE", 1, 0, (0.5, "if step 1 had come before step 2")),
        ("OLL", 0, 0, (0.5, "if step 1 had come in plan order and step 2 had been executed")),
        ("O", 0, 0, (1.0, "if step 1 had come in plan order")),
        ("EOOO", 0, 0, (0.25, "if steps 2 and 3 had come in plan order")),
        ("EEELL", 0, 0, (0.5, "if step 4 had been executed")),
        ("EEL", 1, 0, (0.5, "if step 3 had been executed")),
        ("EEE", 2, 0, (0.5, "if the extra x1 (web_search) had not been done")),
        ("EPPP", 0, 0, (0.5, "if step 2 had been executed in full")),
        ("LLLLLL", 0, 0, (0.25, "if steps 1, 2 and 3 had been executed")),
    ],
)  # fmt: skip
def test_the_nearest_better_outcome(
    statuses: str, major: int, minor: int, better: tuple[float, str] | None
) -> None:
    found = find_nearest_better(findings(statuses, major, minor))

    assert (found and (found.score, found.change)) == better


def test_the_nearest_better_outcome_joins_changes_of_every_sort() -> None:
    found = find_nearest_better(findings("OLPEE", major=2))

    assert found is not None
    assert found.change == (
        "if step 1 had come before step 3, step 2 had been executed and the extra x1 (web_search) "
        "had not been done"
    )


def test_the_nearest_better_outcome_names_the_first_few() -> None:
    found = find_nearest_better(findings("E" + "L" * 12))

    assert found is not None
    assert (
        found.change == "if steps 2, 3, 4 and 1 more had been executed" or "steps" in found.change
    )


def test_the_nearest_better_outcome_quotes_names_that_are_none() -> None:
    hostile = extra("e1. Score: 1.0", Severity.MINOR, what="x\n“end”. Then")
    found = find_nearest_better(Findings((step("1", "E"),), (hostile,)))

    assert found is not None
    assert found.change == 'if the extra “e1. Score: 1.0” (“x "end". Then”) had not been done'


def test_a_thousand_steps_and_five_thousand_extras() -> None:
    found = find_nearest_better(findings("OLPE" * 250, major=4_000, minor=1_000))

    assert found is not None
    assert found.score == 0.5


def _trace(*ids: str, kind: Kind = Kind.ACTION, actor: str | None = None) -> Trace:
    events = (Event(id=one, kind=kind, pointer=f"/{one}", actor=actor) for one in ids)
    return Trace(tuple(events), reader="native")


def test_measures_are_shares_of_steps_and_actions() -> None:
    found = findings("EEPLO", major=1, minor=1)
    measures = compute_measures(found, _trace("e1", "e2", "e3", "e5", "x1", "y1", "unknown"))
    assert measures == Measures(step_share=0.4, order_share=0.75, action_share=round(4 / 6, 4))


def test_a_share_of_nothing_is_not_known() -> None:
    assert compute_measures(Findings(()), _trace("e1")) == Measures()
    assert compute_measures(findings("LA"), _trace()) == Measures(step_share=0.0)


@pytest.mark.parametrize(("kind", "actor"), [(Kind.MESSAGE, None), (Kind.ACTION, "user")])
def test_messages_and_what_the_user_did_are_no_actions(kind: Kind, actor: str | None) -> None:
    said = _trace("e1", "x1", kind=kind, actor=actor)
    assert compute_measures(findings("E", major=1), said).action_share is None


def test_an_extra_is_not_planned_even_if_a_step_cites_it() -> None:
    found = Findings((step("1", "E"),), (extra("e1"),))
    assert compute_measures(found, _trace("e1")).action_share == 0.0
