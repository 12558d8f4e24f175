"""Summarize a run: scores, statuses, most-missed steps, slowest and unscored cases."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from planproof.core.finding import Severity, Status
from planproof.core.usage import Usage
from planproof.core.verdict import Measures, Outcome
from planproof.runs.run_records import Result, format_case_name
from planproof.scoring import LEVELS

PASSING_SCORE = 0.75
"""Default minimum score of a passing case."""
_MOST_CASES = 10
_MOST_STEPS = 10
_MAX_TEXT_LENGTH = 1_000
_MEASURES = tuple(field.name for field in fields(Measures))


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSummary:
    """One case of a run as a line of a summary."""

    position: int
    id: str | None
    outcome: Outcome
    score: float | None
    seconds: float
    reason: str

    @property
    def name(self) -> str:
        """The name shown to users."""
        return format_case_name(self.id, self.position)

    @staticmethod
    def from_result(result: Result) -> CaseSummary:
        """Build from a result; long texts are cut, because many of these are kept in memory."""
        return CaseSummary(
            position=result.position,
            id=result.id and result.id[:_MAX_TEXT_LENGTH],
            outcome=result.verdict.outcome,
            score=result.verdict.score,
            seconds=result.seconds,
            reason=result.verdict.reason[:_MAX_TEXT_LENGTH],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Summary of the results of a run.

    `mean` covers only scored cases, and `passed` counts those that reach `min_score`. `known`
    counts reused verdicts. `statuses` counts the steps that scores are computed from. `unscored`
    counts by outcome, with the cause if known; `unjudged` are the first such cases. `missed` are
    the steps that most often were not executed as planned, `lowest` the cases furthest below 1.
    `measures` are means over the scored cases that have them. `low_confidence` counts the scored
    cases whose level is more likely wrong than right.
    """

    cases: int
    scored: int
    mean: float | None
    min_score: float
    passed: int
    levels: dict[float, int]
    known: int
    statuses: dict[str, int]
    extras: dict[str, int]
    unscored: dict[str, int]
    missed: tuple[StepCount, ...]
    lowest: tuple[CaseSummary, ...]
    slowest: tuple[CaseSummary, ...]
    unjudged: tuple[CaseSummary, ...]
    seconds: float
    cost: Usage | None
    measures: Measures
    low_confidence: int = 0


class MeasureMeans:
    """The means of the measures of verdicts; a measure without a value is not counted."""

    def __init__(self) -> None:
        self._totals = dict.fromkeys(_MEASURES, Fraction())
        self._counts = dict.fromkeys(_MEASURES, 0)

    def add(self, measures: Measures, partner: Measures | None = None) -> None:
        """Count the measures of one verdict; if it has a `partner`, only those that both have."""
        for name in _MEASURES:
            value: float | None = getattr(measures, name)
            if value is not None and getattr(partner or measures, name) is not None:
                self._totals[name] += Fraction(value)
                self._counts[name] += 1

    def build(self) -> Measures:
        """Return the means so far."""
        return Measures(
            **{
                name: float(self._totals[name] / count)
                for name, count in self._counts.items()
                if count
            }
        )


class SummaryBuilder:
    """Collects results one by one, keeping only what a summary needs."""

    def __init__(
        self, min_score: float = PASSING_SCORE, min_confidence: float | None = None
    ) -> None:
        self.min_score = min_score
        self.min_confidence = min_confidence
        self.below_confidence = 0
        self.low_confidence = 0
        self.passed = 0
        self.known = 0
        self.seconds = 0.0
        self.cost: Usage | None = None
        self.unscored: Counter[str] = Counter()
        self._levels: Counter[float] = Counter()
        self._statuses: Counter[Status] = Counter()
        self._extras: Counter[Severity] = Counter()
        self._total = Fraction()
        self._measures = MeasureMeans()
        self._steps = StepCounts()
        self._lowest = _TopCases()
        self._slowest = _TopCases()
        self._unjudged = _TopCases()

    def add(self, result: Result) -> None:
        """Count one result."""
        verdict = result.verdict
        self.seconds += result.seconds
        self.known += bool(result.case) and not result.seconds
        self._slowest.add((-result.seconds, result.position), result)
        if verdict.cost is not None:
            self.cost = verdict.cost if self.cost is None else self.cost + verdict.cost
        if verdict.score is None or verdict.level is None:
            cause = "" if verdict.cause is None else f" ({verdict.cause})"
            self.unscored[f"{verdict.outcome.value}{cause}"] += 1
            self._unjudged.add((result.position,), result)
            return
        self._levels[verdict.level] += 1
        # Exact, so that the mean does not depend on the order of the cases.
        self._total += Fraction(verdict.score)
        if verdict.measures is not None:
            self._measures.add(verdict.measures)
        self.passed += verdict.score >= self.min_score
        self.low_confidence += verdict.has_low_confidence
        self.below_confidence += verdict.is_below_confidence(self.min_confidence)
        if verdict.score < 1:
            self._lowest.add((verdict.score, result.position), result)
        for step in verdict.findings.counted_steps:
            self._statuses[step.status] += 1
            self._steps.add(step.text, step.status)
        self._extras.update(extra.severity for extra in verdict.extras)

    @property
    def scored(self) -> int:
        """Number of cases with a score."""
        return self._levels.total()

    @property
    def cases(self) -> int:
        """Number of cases."""
        return self.scored + self.unscored.total()

    @property
    def mean(self) -> float | None:
        """The mean score so far."""
        return float(self._total / self.scored) if self.scored else None

    def build(self) -> Summary:
        """Return the summary of the results so far."""
        return Summary(
            cases=self.cases,
            scored=self.scored,
            mean=self.mean,
            min_score=self.min_score,
            passed=self.passed,
            known=self.known,
            levels={level: self._levels[level] for level in LEVELS},
            statuses={status.value: self._statuses[status] for status in Status},
            extras={severity.value: self._extras[severity] for severity in Severity},
            unscored=dict(sorted(self.unscored.items())),
            missed=self._steps.find_most_missed(_MOST_STEPS),
            lowest=self._lowest.to_tuple(),
            slowest=self._slowest.to_tuple(),
            unjudged=self._unjudged.to_tuple(),
            seconds=self.seconds,
            cost=self.cost,
            measures=self._measures.build(),
            low_confidence=self.low_confidence,
        )


def summarize(results: Iterable[Result], *, min_score: float = PASSING_SCORE) -> Summary:
    """Summarize the results of a run."""
    builder = SummaryBuilder(min_score)
    for result in results:
        builder.add(result)
    return builder.build()


class _TopCases:
    """The first few results by some rank."""

    def __init__(self) -> None:
        self._ranked: list[tuple[tuple[Any, ...], CaseSummary]] = []

    def add(self, rank: tuple[float, ...], result: Result) -> None:
        if len(self._ranked) == _MOST_CASES:
            if rank >= self._ranked[-1][0]:
                return
            self._ranked.pop()
        insort(self._ranked, (rank, CaseSummary.from_result(result)), key=lambda entry: entry[0])

    def to_tuple(self) -> tuple[CaseSummary, ...]:
        return tuple(case for _, case in self._ranked)


LONGEST_TEXT = 240
_MOST_TEXTS = 20_000
_STATUS_INDEX = {status: index for index, status in enumerate(Status)}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCount:
    """Number of steps with this text by status."""

    text: str
    executed: int
    partial: int
    missing: int
    ambiguous: int
    out_of_order: int

    @property
    def deviations(self) -> int:
        """Number of times the step was not executed as planned."""
        return self.partial + self.missing + self.ambiguous + self.out_of_order

    @property
    def total(self) -> int:
        """Number of steps with this text."""
        return self.executed + self.deviations


class StepCounts:
    """Counts statuses by step text: the same text is the same step in every case.

    There may be more texts than fit in memory. Above a limit the half with the fewest deviations is
    dropped, so a count can only be too low, and the counts of frequent steps stay right.
    """

    def __init__(self, max_texts: int = _MOST_TEXTS) -> None:
        self._max_texts = max_texts
        self._counts: dict[str, list[int]] = {}

    def add(self, text: str, status: Status) -> None:
        """Count one step."""
        key = normalize_whitespace(text)[:LONGEST_TEXT]
        counts = self._counts.get(key)
        if counts is None:
            counts = self._counts[key] = [0] * len(_STATUS_INDEX)
            if len(self._counts) > self._max_texts:
                retained = sorted(self._counts.items(), key=_rank)[: self._max_texts // 2]
                # The newest has no count yet and must not be dropped for that.
                self._counts = {**dict(retained), key: counts}
        counts[_STATUS_INDEX[status]] += 1

    def find_most_missed(self, limit: int) -> tuple[StepCount, ...]:
        """Return the steps with the most deviations; of equal ones, the highest share first."""
        return tuple(list(self._iter_deviating())[:limit])

    def _iter_deviating(self) -> Iterator[StepCount]:
        for text, counts in sorted(self._counts.items(), key=_rank):
            executed, partial, missing, ambiguous, out_of_order = counts
            step = StepCount(
                text=text,
                executed=executed,
                partial=partial,
                missing=missing,
                ambiguous=ambiguous,
                out_of_order=out_of_order,
            )
            if step.deviations:
                yield step


def normalize_whitespace(text: str) -> str:
    """Return the text of a step with whitespace normalized, for comparing steps."""
    return " ".join(text.split())


def _rank(item: tuple[str, list[int]]) -> tuple[int, int, str]:
    text, (executed, *deviations) = item
    return -sum(deviations), executed, text
