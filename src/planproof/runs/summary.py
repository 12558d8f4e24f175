"""A run at a glance: scores, statuses, what was missed, what was slow, what could not be judged."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from planproof.core.finding import Severity, Status
from planproof.core.usage import Usage
from planproof.core.verdict import Outcome
from planproof.runs.run_records import Result, format_case_name
from planproof.scoring import LEVELS

PASSING_SCORE = 0.75
"""A case passes with this score, unless another minimum is asked for."""
_MOST_CASES = 10
_MOST_STEPS = 10
_MAX_TEXT_LENGTH = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSummary:
    """One case of a run in a line."""

    position: int
    id: str | None
    outcome: Outcome
    score: float | None
    seconds: float
    reason: str

    @property
    def name(self) -> str:
        """What people are told of it."""
        return format_case_name(self.id, self.position)

    @staticmethod
    def from_result(result: Result) -> CaseSummary:
        """The line of a result; long texts are cut, for many of these are kept."""
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
    """What the results of a run come to.

    `mean` is that of the scored cases alone, and `passed` are those of them that reach `min_score`.
    `known` are those that had been judged before. `statuses` counts the steps that scores are
    computed from. `unscored` counts by outcome, with its cause where that is known; `unjudged` are
    the first of them. `missed` are the steps that most often were not executed as planned, `lowest`
    the cases furthest below 1.
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


class SummaryBuilder:
    """Takes results one by one and keeps no more of them than a summary needs."""

    def __init__(self, min_score: float = PASSING_SCORE) -> None:
        self.min_score = min_score
        self.passed = 0
        self.known = 0
        self.seconds = 0.0
        self.cost: Usage | None = None
        self.unscored: Counter[str] = Counter()
        self._levels: Counter[float] = Counter()
        self._statuses: Counter[Status] = Counter()
        self._extras: Counter[Severity] = Counter()
        self._total = Fraction()
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
        # Exact, so that a mean does not hang on the order of the cases.
        self._total += Fraction(verdict.score)
        self.passed += verdict.score >= self.min_score
        if verdict.score < 1:
            self._lowest.add((verdict.score, result.position), result)
        for step in verdict.findings.counted_steps:
            self._statuses[step.status] += 1
            self._steps.add(step.text, step.status)
        self._extras.update(extra.severity for extra in verdict.extras)

    @property
    def scored(self) -> int:
        """How many have a score."""
        return self._levels.total()

    @property
    def cases(self) -> int:
        """How many were counted."""
        return self.scored + self.unscored.total()

    @property
    def mean(self) -> float | None:
        """The mean score so far."""
        return float(self._total / self.scored) if self.scored else None

    def build(self) -> Summary:
        """What the results so far come to."""
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
        )


def summarize(results: Iterable[Result], *, min_score: float = PASSING_SCORE) -> Summary:
    """What the results of a run come to."""
    builder = SummaryBuilder(min_score)
    for result in results:
        builder.add(result)
    return builder.build()


class _TopCases:
    """The few results that come first by some rank."""

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
_STATUS_INDEX = {status: place for place, status in enumerate(Status)}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCount:
    """How often the steps with this text ended in each status."""

    text: str
    executed: int
    partial: int
    missing: int
    ambiguous: int
    out_of_order: int

    @property
    def deviations(self) -> int:
        """How often it was not executed as planned."""
        return self.partial + self.missing + self.ambiguous + self.out_of_order

    @property
    def total(self) -> int:
        """How often there was such a step."""
        return self.executed + self.deviations


class StepCounts:
    """Counts statuses by the text of the step: the same words are the same step in every case.

    There may be more texts than fit in memory. Beyond a limit the half with the fewest lapses is
    forgotten, so that a count can only be too low, and the counts of what is frequent stay right.
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
                # The newest has no count yet, and must not be lost for that.
                self._counts = {**dict(retained), key: counts}
        counts[_STATUS_INDEX[status]] += 1

    def find_most_missed(self, limit: int) -> tuple[StepCount, ...]:
        """Those with the most lapses; of equals, those that lapse in the larger share of cases."""
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
    """The text of a step without what does not matter for telling it from others."""
    return " ".join(text.split())


def _rank(item: tuple[str, list[int]]) -> tuple[int, int, str]:
    text, (executed, *deviations) = item
    return -sum(deviations), executed, text
