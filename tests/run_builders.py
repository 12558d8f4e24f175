"""Runs written by hand, as short as they are thought."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from planproof.core.finding import Findings
from planproof.core.usage import Usage
from planproof.core.verdict import JudgeSummary, Outcome, Verdict
from planproof.runs.run_records import Result, Run, RunState
from planproof.scoring import compute_score as score_of
from planproof.scoring import floor_to_level
from tests.unit.finding_builders import findings

JUDGE = JudgeSummary(name="rules", fingerprint="f")
RUN = Run(
    id="20260101-030000-abc123",
    created=datetime(2026, 1, 1, 3, tzinfo=UTC),
    finished=datetime(2026, 1, 1, 3, 1, tzinfo=UTC),
    state=RunState.FINISHED,
    source="cases.jsonl",
    judge=JUDGE,
    fingerprint="f",
    tags={"branch": "main"},
    cases=2,
)


def verdict_with(given: Findings, score: float | None = None) -> Verdict:
    """A scored verdict on these findings; the score of the table, unless another is given."""
    number = score_of(given) if score is None else score
    return Verdict(
        outcome=Outcome.SCORED,
        score=number,
        level=floor_to_level(number),
        reason=f"It scores {number}.",
        steps=given.steps,
        extras=given.extras,
        judge=JUDGE,
    )


def scored_verdict(score: float, statuses: str = "") -> Verdict:
    """A verdict with this score, and findings of these letters."""
    return verdict_with(findings(statuses), score)


def failed_verdict(
    outcome: Outcome = Outcome.JUDGE_FAILED, cause: str | None = None, cost: Usage | None = None
) -> Verdict:
    """A verdict without a score."""
    return Verdict(outcome=outcome, reason="It could not be judged.", cause=cause, cost=cost)


def result(
    position: int,
    verdict: Verdict,
    *,
    id: str | None = None,  # noqa: A002 - the name of the field
    case: str | None = None,
    seconds: float = 0.0,
) -> Result:
    """A result whose content is that of its id, or its own."""
    content = f"content of {position if id is None else id}" if case is None else case
    return Result(position, content, id, replace(verdict, id=id), seconds)


def make_results(verdicts: dict[str, Verdict | float | None]) -> list[Result]:
    """A run: ids and verdicts, or only scores; None is a failure of the judge."""
    return [result(n, _verdict(given), id=name) for n, (name, given) in enumerate(verdicts.items())]


def make_scored_results(scores: Iterable[float | None]) -> list[Result]:
    """A run of cases c0, c1, ... with these scores."""
    return make_results({f"c{n}": score for n, score in enumerate(scores)})


def _verdict(given: Verdict | float | None) -> Verdict:
    if given is None:
        return failed_verdict()
    return given if isinstance(given, Verdict) else scored_verdict(given)
