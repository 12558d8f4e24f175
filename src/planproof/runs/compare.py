"""Compare two runs, paired by case: score changes, regressions and statistical significance."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from itertools import islice
from typing import TypeAlias

from planproof.core.finding import Status, StepFinding
from planproof.core.verdict import Measures
from planproof.runs.run_records import Result
from planproof.runs.statistics import Interval, bootstrap_interval, mcnemar
from planproof.runs.summary import (
    LONGEST_TEXT,
    PASSING_SCORE,
    CaseSummary,
    MeasureMeans,
    StepCount,
    StepCounts,
    normalize_whitespace,
)

MOST_CHANGES = 50
_MOST_STEPS = 10
_MAX_REGRESSED_STEPS = 20
_HUNDREDTHS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressedStep:
    """A step executed in the base run but not in the new one; `status` is from the new run."""

    number: str
    text: str
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreChange:
    """A case whose score changed, or that is no longer scored."""

    base: float
    new: CaseSummary
    broken: tuple[RegressedStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassFail:
    """Number of pairs that pass in both runs, only in the base, only in the new, or in neither.

    `p` is the two-sided p-value of McNemar's exact test for `broke` against `mended`.
    """

    both: int
    broke: int
    mended: int
    neither: int
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Changes from a base run to a new one.

    `better`, `worse` and `same` count the pairs with a score in both runs; means, their change and
    all statistics cover only these. `no_longer_scored`, `newly_scored` and `unscored` count pairs
    that lack a score in the new run, in the base, or in both. `only_base` and `only_new` count
    cases that the other run does not have. `altered` counts pairs whose task, plan or trace has
    changed. `broken` are the steps that most often were executed in the base and no longer are;
    their `executed` counts the pairs where the step still is. `worst`, `best` and `lost` are the
    first cases that became worse, better, and unscored. `base_measures` and `new_measures` are
    means over the pairs in which both verdicts have the measure. `low_confidence` counts the pairs
    in which the level in the new run is more likely wrong than right.
    """

    better: int
    worse: int
    same: int
    no_longer_scored: int
    newly_scored: int
    unscored: int
    only_base: int
    only_new: int
    altered: int
    base_mean: float | None
    new_mean: float | None
    mean_change: float | None
    interval: Interval | None
    min_score: float
    passing: PassFail
    base_measures: Measures
    new_measures: Measures
    broken: tuple[StepCount, ...]
    worst: tuple[ScoreChange, ...]
    best: tuple[ScoreChange, ...]
    lost: tuple[ScoreChange, ...]
    only_base_names: tuple[str, ...]
    only_new_names: tuple[str, ...]
    low_confidence: int = 0

    @property
    def pair_count(self) -> int:
        """Number of cases with a score in both runs."""
        return self.better + self.worse + self.same


def compare(
    base: Iterable[Result], new: Iterable[Result], *, min_score: float = PASSING_SCORE
) -> Comparison:
    """Pair the results of two runs by case and return the changes.

    Memory: a few hundred bytes per case of the base run, and only the reported changes of the new
    one.
    """
    pairing = Pairing(base)
    builder = _ComparisonBuilder(min_score)
    for result in new:
        base_result = pairing.pop_partner(result)
        if base_result is None:
            builder.add_unpaired(result)
        else:
            builder.add(base_result, result)
    return builder.build(pairing)


class _ComparisonBuilder:
    """Collects counts and changes while pairs are read."""

    def __init__(self, min_score: float) -> None:
        self.min_score = min_score
        self.sides: Counter[str] = Counter()
        self.passing: Counter[tuple[bool, bool]] = Counter()
        self.changes: Counter[int] = Counter()
        self.base_total = Fraction()
        self.new_total = Fraction()
        self.base_measures = MeasureMeans()
        self.new_measures = MeasureMeans()
        self.steps = StepCounts()
        self.worst: list[ScoreChange] = []
        self.best: list[ScoreChange] = []
        self.lost: list[ScoreChange] = []
        self.only_new_names: list[str] = []

    def add_unpaired(self, result: Result) -> None:
        self.sides["only_new"] += 1
        if len(self.only_new_names) < MOST_CHANGES:
            self.only_new_names.append(result.name[:LONGEST_TEXT])

    def add(self, base_result: BaseResult, result: Result) -> None:
        self.sides["altered"] += base_result.case != result.case
        before, after = base_result.score, result.verdict.score
        if before is None or after is None:
            self._add_unscored(base_result, result)
            return
        self.base_total += Fraction(before)
        self.new_total += Fraction(after)
        if base_result.measures is not None and result.verdict.measures is not None:
            self.base_measures.add(base_result.measures, result.verdict.measures)
            self.new_measures.add(result.verdict.measures, base_result.measures)
        self.sides["low_confidence"] += result.verdict.has_low_confidence
        self.passing[before >= self.min_score, after >= self.min_score] += 1
        # Rounded as scores are printed; more digits would not visibly change the interval.
        self.changes[round((after - before) * _HUNDREDTHS)] += 1
        regressed = tuple(self._find_regressed_steps(base_result, result))
        if after == before:
            self.sides["same"] += 1
            return
        self.sides["better" if after > before else "worse"] += 1
        change = ScoreChange(base=before, new=CaseSummary.from_result(result), broken=regressed)
        ranked = self.best if after > before else self.worst
        insort(ranked, change, key=_change_sort_key)
        del ranked[MOST_CHANGES:]

    def _add_unscored(self, base_result: BaseResult, result: Result) -> None:
        if base_result.score is not None:
            self.sides["no_longer_scored"] += 1
            if len(self.lost) < MOST_CHANGES:
                self.lost.append(
                    ScoreChange(
                        base=base_result.score, new=CaseSummary.from_result(result), broken=()
                    )
                )
        else:
            self.sides["unscored" if result.verdict.score is None else "newly_scored"] += 1

    def _find_regressed_steps(
        self, base_result: BaseResult, result: Result
    ) -> Iterator[RegressedStep]:
        count = 0
        for step in base_result.find_executed_steps(result):
            self.steps.add(step.text, step.status)
            if step.status is not Status.EXECUTED and count < _MAX_REGRESSED_STEPS:
                count += 1
                text = step.text[:LONGEST_TEXT]
                yield RegressedStep(number=step.number, text=text, status=step.status)

    def build(self, pairing: Pairing) -> Comparison:
        pairs = self.changes.total()
        base_mean = float(self.base_total / pairs) if pairs else None
        new_mean = float(self.new_total / pairs) if pairs else None
        change = (self.new_total - self.base_total) / pairs if pairs else None
        broke, mended = self.passing[True, False], self.passing[False, True]
        return Comparison(
            better=self.sides["better"],
            worse=self.sides["worse"],
            same=self.sides["same"],
            no_longer_scored=self.sides["no_longer_scored"],
            newly_scored=self.sides["newly_scored"],
            unscored=self.sides["unscored"],
            only_base=pairing.unpaired_count,
            only_new=self.sides["only_new"],
            altered=self.sides["altered"],
            base_mean=base_mean,
            new_mean=new_mean,
            mean_change=None if change is None else float(change),
            interval=None if change is None else self._compute_interval(change),
            min_score=self.min_score,
            passing=PassFail(
                both=self.passing[True, True],
                broke=broke,
                mended=mended,
                neither=self.passing[False, False],
                p=mcnemar(broke, mended),
            ),
            base_measures=self.base_measures.build(),
            new_measures=self.new_measures.build(),
            broken=self.steps.find_most_missed(_MOST_STEPS),
            worst=tuple(self.worst),
            best=tuple(self.best),
            lost=tuple(self.lost),
            only_base_names=pairing.list_unpaired_names(MOST_CHANGES),
            only_new_names=tuple(self.only_new_names),
            low_confidence=self.sides["low_confidence"],
        )

    def _compute_interval(self, mean: Fraction) -> Interval | None:
        interval = bootstrap_interval(self.changes)
        if interval is None:
            return None
        # Remove the effect of rounding on the mean from the interval.
        total = sum(value * count for value, count in self.changes.items())
        shift = float(mean - Fraction(total, self.changes.total() * _HUNDREDTHS))
        return Interval(interval.low / _HUNDREDTHS + shift, interval.high / _HUNDREDTHS + shift)


def _change_sort_key(change: ScoreChange) -> tuple[float, int]:
    """Sort key: the largest changes first, equal ones in the order of the cases."""
    assert change.new.score is not None
    return -abs(change.new.score - change.base), change.new.position


_LONGEST_NAME = 200
_MARK_BYTES = 8

_StepMark: TypeAlias = bytes


@dataclass(frozen=True, slots=True)
class BaseResult:
    """The part of a base result that a comparison needs.

    `executed_marks` are the concatenated marks of its executed steps.
    """

    name: str
    case: str
    score: float | None
    executed_marks: bytes
    measures: Measures | None

    @staticmethod
    def from_result(result: Result) -> BaseResult:
        """Build from a result."""
        marks = (mark for mark, step in _iter_step_marks(result) if step.status is Status.EXECUTED)
        return BaseResult(
            result.name[:_LONGEST_NAME],
            result.case,
            result.verdict.score,
            b"".join(marks),
            result.verdict.measures,
        )

    def find_executed_steps(self, new_result: Result) -> Iterator[StepFinding]:
        """Return the steps of the new result that were executed in this one."""
        executed = {
            self.executed_marks[start : start + _MARK_BYTES]
            for start in range(0, len(self.executed_marks), _MARK_BYTES)
        }
        return (step for mark, step in _iter_step_marks(new_result) if mark in executed)


class Pairing:
    """Finds the base result of each new one; every base result is used once."""

    def __init__(self, base: Iterable[Result]) -> None:
        self._unpaired: dict[bytes, list[BaseResult]] = {}
        for result in base:
            self._unpaired.setdefault(_make_pair_key(result), []).append(
                BaseResult.from_result(result)
            )
        for base_results in self._unpaired.values():
            base_results.reverse()

    def pop_partner(self, result: Result) -> BaseResult | None:
        """Return the earliest unused base result on the same case, if any."""
        base_results = self._unpaired.get(_make_pair_key(result))
        return base_results.pop() if base_results else None

    @property
    def unpaired_count(self) -> int:
        """Number of base results without a partner."""
        return sum(map(len, self._unpaired.values()))

    def list_unpaired_names(self, limit: int) -> tuple[str, ...]:
        """Return the names of the first base results without a partner."""
        names = (
            base_result.name
            for base_results in self._unpaired.values()
            for base_result in reversed(base_results)
        )
        return tuple(islice(names, limit))


def _make_pair_key(result: Result) -> bytes:
    key = f"content {result.case}" if result.id is None else f"id {result.id}"
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _iter_step_marks(result: Result) -> Iterator[tuple[_StepMark, StepFinding]]:
    """Yield the counted steps, each with a mark that depends only on its text.

    Repeated texts in a plan are numbered, so the first matches the first in another result.
    """
    seen: dict[str, int] = {}
    for step in result.verdict.findings.counted_steps:
        text = normalize_whitespace(step.text)
        seen[text] = occurrence = seen.get(text, 0) + 1
        key = f"{occurrence} {text}".encode("utf-8", "surrogatepass")
        yield blake2b(key, digest_size=_MARK_BYTES).digest(), step
