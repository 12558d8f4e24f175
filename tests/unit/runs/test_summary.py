"""A run at a glance, on runs whose figures were counted by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from planproof.core.finding import Findings
from planproof.core.usage import Usage
from planproof.core.verdict import Measures, Outcome
from planproof.runs.summary import SummaryBuilder, summarize
from tests.run_builders import (
    failed_verdict,
    make_results,
    make_scored_results,
    result,
    scored_verdict,
    verdict_with,
)
from tests.unit.finding_builders import findings, step

LEVELS = (1.0, 0.75, 0.5, 0.25, 0.0)


def test_every_figure_of_a_run_that_was_counted_by_hand() -> None:
    run = [
        result(0, verdict_with(findings("EEE")), id="a", seconds=1.0),  # 1.0
        result(1, verdict_with(findings("EEE", minor=1)), id="b", seconds=4.0),  # 0.75
        result(2, verdict_with(findings("EEL")), id="c", seconds=0.5),  # 0.5
        result(3, verdict_with(findings("EPLL", major=1)), seconds=2.0),  # 0.25
        result(4, verdict_with(findings("OOE")), id="e", seconds=2.0),  # 0.0
        result(5, failed_verdict(Outcome.NO_PLAN), id="f"),
        result(6, failed_verdict(cause="timeout"), id="g", seconds=30.0),
        result(7, failed_verdict(cause="timeout"), id="h", seconds=30.0),
    ]
    summary = summarize(run)
    assert (summary.cases, summary.scored, summary.mean) == (8, 5, 0.5)
    assert (summary.min_score, summary.passed) == (0.75, 2)
    assert summary.levels == {1.0: 1, 0.75: 1, 0.5: 1, 0.25: 1, 0.0: 1}
    assert list(summary.levels) == list(LEVELS)
    assert summary.statuses == {
        "executed": 3 + 3 + 2 + 1 + 1,
        "partial": 1,
        "missing": 1 + 2,
        "ambiguous": 0,
        "out_of_order": 2,
    }
    assert summary.extras == {"major": 1, "minor": 1}
    assert summary.unscored == {"judge_failed (timeout)": 2, "no_plan": 1}
    # Deviations: step 1 in e, step 2 in the fourth case and e, step 3 in c and the fourth, step 4
    # in the fourth.
    assert [(step.text, step.deviations, step.total) for step in summary.missed] == [
        ("Do thing 2", 2, 5),
        ("Do thing 3", 2, 5),
        ("Do thing 4", 1, 1),
        ("Do thing 1", 1, 5),
    ]
    assert [case.position for case in summary.lowest] == [4, 3, 2, 1]
    assert [case.position for case in summary.slowest] == [6, 7, 1, 3, 4, 0, 2, 5]
    assert [case.id for case in summary.unjudged] == ["f", "g", "h"]
    assert summary.known == 1
    assert summary.seconds == 69.5
    assert summary.cost is None


def test_an_empty_run_has_no_mean() -> None:
    summary = summarize([])
    assert (summary.cases, summary.scored, summary.mean, summary.passed) == (0, 0, None, 0)
    assert summary.levels == dict.fromkeys(LEVELS, 0)
    assert (summary.missed, summary.lowest, summary.slowest, summary.unscored) == ((), (), (), {})


def test_a_run_without_a_score_has_no_mean_either() -> None:
    summary = summarize(make_scored_results([None, None]))
    assert (summary.cases, summary.scored, summary.mean) == (2, 0, None)


@pytest.mark.parametrize(
    ("min_score", "passed"), [(0.0, 5), (0.25, 4), (0.5, 3), (0.75, 2), (0.8, 1), (1.0, 1)]
)
def test_a_case_passes_with_the_minimum_itself(min_score: float, passed: int) -> None:
    assert summarize(make_scored_results([*LEVELS, None]), min_score=min_score).passed == passed


def test_the_mean_does_not_hang_on_the_order() -> None:
    scores = [0.1, 0.7, 0.3, 1e-17, 1.0, 0.9]
    forwards = summarize(make_scored_results(scores)).mean
    assert forwards == summarize(make_scored_results(reversed(scores))).mean
    assert forwards == float(sum(map(Fraction, scores)) / 6)


def test_a_score_between_two_levels_counts_as_the_lower() -> None:
    assert summarize(make_scored_results([0.99, 0.74])).levels[0.75] == 1


def test_parents_and_steps_that_the_plan_lets_out_are_not_counted() -> None:
    steps = (step("1", "E"), step("1.1", "L", parent="1"), step("2", "L", waived=True))
    summary = summarize(make_results({"a": verdict_with(Findings(steps))}))
    assert summary.statuses == {
        "executed": 0,
        "partial": 0,
        "missing": 1,
        "ambiguous": 0,
        "out_of_order": 0,
    }
    assert [step.text for step in summary.missed] == ["Do thing 1.1"]


def test_the_cost_is_that_of_all_and_not_known_when_one_is_not() -> None:
    known = Usage(calls=2, tokens_in=100, tokens_out=10, cost=0.25)
    run = [
        result(0, failed_verdict(cost=known)),
        result(1, scored_verdict(1.0)),
        result(2, failed_verdict(cost=known)),
    ]
    cost = summarize(run).cost
    assert cost == Usage(calls=4, tokens_in=200, tokens_out=20, cost=0.5)
    unknown = result(3, failed_verdict(cost=Usage(calls=1)))
    with_unknown = summarize([*run, unknown]).cost
    assert with_unknown is not None
    assert (with_unknown.calls, with_unknown.cost) == (5, None)


def test_only_a_few_cases_are_kept_and_their_long_texts_are_cut() -> None:
    run = [
        result(n, failed_verdict(), id="x" * 5_000 if n == 40 else None, seconds=float(n % 41))
        for n in range(1_000)
    ]
    summary = summarize(run)
    assert [case.position for case in summary.slowest] == [40 + 41 * n for n in range(10)]
    assert [case.position for case in summary.unjudged] == list(range(10))
    assert summary.slowest[0].id == "x" * 1_000


def test_a_running_summary_says_how_far_it_is() -> None:
    running = SummaryBuilder()
    assert (running.cases, running.mean) == (0, None)
    for each in make_scored_results([1.0, 0.5, None]):
        running.add(each)
    assert (running.cases, running.scored, running.mean, running.passed) == (3, 2, 0.75, 1)
    assert running.unscored == {"judge_failed": 1}


def test_measures_are_means_of_the_cases_that_have_them() -> None:
    verdicts = (
        replace(scored_verdict(1.0), measures=Measures(step_share=1.0, action_share=0.5)),
        replace(scored_verdict(0.5), measures=Measures(step_share=0.5, order_share=0.75)),
        scored_verdict(0.25),
        failed_verdict(),
    )
    summary = summarize(result(position, verdict) for position, verdict in enumerate(verdicts))
    assert summary.measures == Measures(step_share=0.75, order_share=0.75, action_share=0.5)
    assert summarize(()).measures == Measures()


def test_cases_below_the_minimum_confidence_are_counted() -> None:
    counted = SummaryBuilder(min_confidence=0.5)
    for position, confidence in enumerate((0.4, 0.5, None)):
        counted.add(result(position, replace(scored_verdict(1.0), confidence=confidence)))
    counted.add(result(3, failed_verdict()))
    assert counted.below_confidence == 2
