"""The gate, on runs whose answers are plain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planproof.core.verdict import Measures
from planproof.errors import InvalidInput
from planproof.runs.compare import compare
from planproof.runs.gate import GateConditions, check_gate, parse_shares
from planproof.runs.run_records import RunState
from planproof.runs.summary import summarize
from tests.run_builders import RUN, make_scored_results

Scores = list[float | None]


def _find_failed_conditions(
    conditions: GateConditions,
    scores: Scores,
    base: Scores | None = None,
    *,
    state: RunState = RunState.FINISHED,
    min_score: float = 0.75,
) -> list[str]:
    """The conditions that do not hold."""
    summary = summarize(make_scored_results(scores), min_score=min_score)
    against = (
        None if base is None else compare(make_scored_results(base), make_scored_results(scores))
    )
    found = check_gate(conditions, replace(RUN, state=state), summary, against)
    return [check.condition for check in found if not check.held]


@pytest.mark.parametrize(
    ("conditions", "scores", "broken"),
    [
        (GateConditions(), [1.0, 0.0], []),
        (GateConditions(), [1.0, None], ["at most 0 unscored"]),
        (GateConditions(max_unscored=1), [1.0, None], []),
        (GateConditions(max_unscored=1), [None, None, 1.0], ["at most 1 unscored"]),
        (GateConditions(min_mean=0.5), [1.0, 0.0], []),
        (GateConditions(min_mean=0.51), [1.0, 0.0], ["mean score at least 0.51"]),
        (GateConditions(min_mean=0.8), [0.7, 0.8, 0.9], []),  # a tie passes, to the last bit
        (GateConditions(min_mean=0.1), [0.1] * 3, []),
        (GateConditions(min_mean=1.0, max_unscored=1), [1.0, None], []),  # no score is no zero
        (GateConditions(min_mean=0.0), [], ["the run has results", "mean score at least 0"]),
        (
            GateConditions(min_mean=0.0, max_unscored=9),
            [None],
            ["mean score at least 0"],
        ),
        (GateConditions(min_pass_rate=0.5), [0.75, 0.5], []),
        (
            GateConditions(min_pass_rate=0.6),
            [0.75, 0.5],
            ["at least 0.6 of the cases score 0.75 or more"],
        ),
        (
            GateConditions(min_pass_rate=0.0, max_unscored=1),
            [None],
            ["at least 0 of the cases score 0.75 or more"],
        ),
    ],
)
def test_a_run_by_itself(conditions: GateConditions, scores: Scores, broken: list[str]) -> None:
    assert _find_failed_conditions(conditions, scores) == broken


@pytest.mark.parametrize(
    ("conditions", "base", "scores", "broken"),
    [
        (GateConditions(), [1.0, 0.5], [1.0, 0.5], []),
        (
            GateConditions(),
            [1.0, 0.5],
            [0.5, 1.0],
            [],
        ),  # one worse, one better: the mean is the same
        (GateConditions(), [1.0, 0.5], [0.75, 0.5], ["mean not lower than in the base"]),
        (GateConditions(tolerance=0.125), [1.0, 0.5], [0.75, 0.5], []),
        (
            GateConditions(tolerance=0.12),
            [1.0, 0.5],
            [0.75, 0.5],
            ["mean at most 0.12 lower than in the base"],
        ),
        (GateConditions(max_worse=1), [1.0, 0.5], [0.5, 1.0], []),
        (
            GateConditions(max_worse=0),
            [1.0, 0.5],
            [0.5, 1.0],
            ["at most 0 worse than in the base"],
        ),
        # A case that the base had not lowers the mean, but makes no case worse.
        (GateConditions(), [1.0], [1.0, 0.0], []),
        # Nothing to compare with is no proof.
        (GateConditions(), [], [1.0], ["mean not lower than in the base"]),
        (GateConditions(), [None], [1.0], ["mean not lower than in the base"]),
        (
            GateConditions(),
            [1.0],
            [None],
            ["at most 0 unscored", "mean not lower than in the base"],
        ),
    ],
)
def test_a_run_against_another(
    conditions: GateConditions, base: Scores, scores: Scores, broken: list[str]
) -> None:
    assert _find_failed_conditions(conditions, scores, base) == broken


@pytest.mark.parametrize("state", [RunState.RUNNING, RunState.INTERRUPTED])
def test_a_run_that_is_not_finished_does_not_pass(state: RunState) -> None:
    assert _find_failed_conditions(GateConditions(), [1.0], state=state) == ["the run is finished"]


def test_passing_is_at_the_minimum_that_was_asked_for() -> None:
    assert _find_failed_conditions(GateConditions(min_pass_rate=1), [0.5], min_score=0.5) == []


def test_every_condition_shows_its_figures_passed_or_failed() -> None:
    scores: Scores = [1.0, 0.5, None]
    summary = summarize(make_scored_results(scores))
    against = compare(make_scored_results([1.0, 1.0, 1.0, 1.0]), make_scored_results(scores))
    asked = GateConditions(
        min_mean=0.7, min_pass_rate=0.4, max_unscored=0, tolerance=0.1, max_worse=0
    )
    interval, gone = "95 % interval -0.5000 to +0.0000", "only in the base: 1"
    assert [check.told for check in check_gate(asked, RUN, summary, against)] == [
        "it is finished",
        "3",
        "1 of 3; 1 judge_failed",
        "0.7500 over 2 scored",
        "0.5000, 1 of 2",
        f"-0.2500 over 2 pairs, {interval}; 1 worse, 0 better; {gone}",
        "1 of 2 pairs",
    ]


def test_a_limit_of_worse_cases_needs_a_base() -> None:
    with pytest.raises(InvalidInput, match="needs a base run"):
        check_gate(GateConditions(max_worse=0), RUN, summarize(make_scored_results([1.0])))


@pytest.mark.parametrize(
    ("shares", "broken"),
    [
        ({"step_share": 0.75}, []),
        ({"step_share": 0.76}, ["mean step_share at least 0.76"]),
        ({"step_share": 0.5, "order_share": 0.0}, ["mean order_share at least 0"]),
    ],
)
def test_means_of_measures(shares: dict[str, float], broken: list[str]) -> None:
    summary = replace(summarize(make_scored_results([1.0])), measures=Measures(step_share=0.75))
    found = check_gate(GateConditions(min_shares=shares), RUN, summary)
    assert [check.condition for check in found if not check.held] == broken


def test_shares_are_parsed() -> None:
    assert parse_shares(["step_share=0.9", "order_share=1"]) == {
        "step_share": 0.9,
        "order_share": 1.0,
    }


@pytest.mark.parametrize(
    "text", ["", "step_share", "step_share=", "step_share=nan", "step_share=1.1", "steps=0.5"]
)
def test_other_shares_are_errors(text: str) -> None:
    with pytest.raises(InvalidInput, match="not a measure"):
        parse_shares([text])
