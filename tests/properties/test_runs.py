"""Runs compared and summed up, against oracles that hold everything in memory."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planproof.core.finding import Status
from planproof.core.verdict import Verdict
from planproof.reports.json import comparison_to_json, summary_to_json
from planproof.runs import statistics
from planproof.runs.compare import compare
from planproof.runs.run_records import Result
from planproof.runs.summary import summarize
from tests.run_builders import RUN, failed_verdict, result, verdict_with
from tests.unit.finding_builders import findings


@pytest.fixture(autouse=True, scope="module")
def few_resamples() -> Iterator[None]:
    """How many there are does not matter here, only the time that they take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statistics, "RESAMPLES", 200)
        yield


@st.composite
def _verdicts(draw: st.DrawFn) -> Verdict:
    statuses = draw(st.text("EPLAO", max_size=5))
    if not statuses:
        return failed_verdict()
    return verdict_with(findings(statuses, draw(st.integers(0, 2)), draw(st.integers(0, 2))))


@st.composite
def _runs(draw: st.DrawFn) -> list[Result]:
    ids, contents = st.sampled_from(["a", "b", "c", "d", None]), st.sampled_from("xyz")
    return [
        result(position, draw(_verdicts()), id=draw(ids), case=draw(contents))
        for position in range(draw(st.integers(0, 12)))
    ]


def _pairs(base: list[Result], new: list[Result]) -> list[tuple[Result, Result]]:
    """Each new result with the first base result of its name that is left."""
    left = list(base)
    pairs: list[tuple[Result, Result]] = []
    for after in new:
        same = [b for b in left if b.id == after.id and (b.id or b.case == after.case)]
        if same:
            left.remove(same[0])
            pairs.append((same[0], after))
    return pairs


@given(base=_runs(), new=_runs())
def test_a_comparison_is_what_an_oracle_says(base: list[Result], new: list[Result]) -> None:
    comparison = compare(base, new)
    pairs = _pairs(base, new)
    scores = [
        (before.verdict.score, after.verdict.score)
        for before, after in pairs
        if before.verdict.score is not None and after.verdict.score is not None
    ]
    changes = [after - before for before, after in scores]
    assert comparison.better == sum(change > 0 for change in changes)
    assert comparison.worse == sum(change < 0 for change in changes)
    assert comparison.same == changes.count(0)
    assert comparison.only_base == len(base) - len(pairs)
    assert comparison.only_new == len(new) - len(pairs)
    unscored = comparison.no_longer_scored + comparison.newly_scored + comparison.unscored
    assert unscored == len(pairs) - len(scores)
    passed = Counter((before >= 0.75, after >= 0.75) for before, after in scores)
    found_passing = comparison.passing
    assert (found_passing.both, found_passing.broke) == (passed[True, True], passed[True, False])
    assert (found_passing.mended, found_passing.neither) == (
        passed[False, True],
        passed[False, False],
    )
    mean = fmean(changes) if changes else None
    assert comparison.mean_change == (None if mean is None else pytest.approx(mean))
    assert (comparison.interval is None) == (len(changes) < 2)
    if comparison.interval is not None and mean is not None:
        low, high = comparison.interval.low, comparison.interval.high
        # To the last bits: the means of resamples are summed in another way.
        assert min(changes) - 1e-9 <= low <= mean + 1e-9
        assert mean - 1e-9 <= high <= max(changes) + 1e-9


@given(run=_runs())
def test_a_run_compared_with_itself_is_the_same(run: list[Result]) -> None:
    comparison = compare(run, run)
    assert comparison.same == sum(each.verdict.score is not None for each in run)
    assert (comparison.only_base, comparison.only_new, comparison.altered) == (0, 0, 0)
    assert comparison.broken == ()
    assert comparison.passing.p == 1


@given(run=_runs())
def test_a_summary_is_what_an_oracle_says(run: list[Result]) -> None:
    summary = summarize(run)
    scores = [each.verdict.score for each in run if each.verdict.score is not None]
    assert (summary.cases, summary.scored) == (len(run), len(scores))
    assert summary.levels == {level: scores.count(level) for level in (1.0, 0.75, 0.5, 0.25, 0.0)}
    assert summary.mean == (pytest.approx(fmean(scores)) if scores else None)
    steps = Counter(step.status for each in run for step in each.verdict.steps)
    assert summary.statuses == {status.value: steps[status] for status in Status}
    deviations = sum(steps[status] for status in Status if status is not Status.EXECUTED)
    assert sum(step.deviations for step in summary.missed) == deviations


@given(base=_runs(), new=_runs())
def test_what_is_found_can_be_written_as_json(base: list[Result], new: list[Result]) -> None:
    comparison = compare(base, new)
    told = json.loads(comparison_to_json(RUN, RUN, comparison))
    assert told["comparison"]["only_base"] == comparison.only_base
    assert json.loads(summary_to_json(RUN, summarize(new)))["summary"]["cases"] == len(new)
