"""Two runs, paired by case: what became better, what worse, and whether it could be chance."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from planproof.core.finding import Status
from planproof.runs.case_pairing import Kept, Pairing
from planproof.runs.run_records import Result
from planproof.runs.statistics import Interval, bootstrap_interval, mcnemar
from planproof.runs.step_counts import LONGEST_TEXT, StepCount, StepCounts
from planproof.runs.summary import PASSING, Glance

MOST_CHANGES = 50
_MOST_STEPS = 10
_MOST_BROKEN = 20
_HUNDREDTHS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenStep:
    """A step that the base run saw executed; `status` is what the new run says of it."""

    number: str
    text: str
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A case whose score is another one now, or that has none any more."""

    base: float
    new: Glance
    broken: tuple[BrokenStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassFail:
    """Pairs by whether they pass: in both runs, only in the base, only in the new, in neither.

    `p` is the chance of a split between `broke` and `mended` at least as uneven, if it were a
    matter of luck which of the runs such a case passes in (McNemar's exact test, two-sided).
    """

    both: int
    broke: int
    mended: int
    neither: int
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What changed from a base run to a new one.

    `better`, `worse` and `same` are the pairs with a score in both runs; means, their change and
    everything about chance are of these alone. `no_longer_scored`, `newly_scored` and `unscored`
    are pairs that lack a score in the new run, in the base, in both. `only_base` and `only_new` are
    cases that the other run has not. `altered` counts pairs whose task, plan or trace is another
    one now. `broken` are the steps that most often were executed in the base and now are not;
    in it, `executed` counts the pairs where such a step still is. `worst`, `best` and `lost` are
    the first few that became worse, better, and unscored.
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
    broken: tuple[StepCount, ...]
    worst: tuple[Change, ...]
    best: tuple[Change, ...]
    lost: tuple[Change, ...]
    only_base_names: tuple[str, ...]
    only_new_names: tuple[str, ...]

    @property
    def paired(self) -> int:
        """How many cases have a score in both runs."""
        return self.better + self.worse + self.same


def compare(
    base: Iterable[Result], new: Iterable[Result], *, min_score: float = PASSING
) -> Comparison:
    """Pair the results of two runs by case and say what changed.

    Of the base some hundred bytes a case are kept, of the new run none but the changes told.
    """
    pairing = Pairing(base)
    counting = _Counting(min_score)
    for result in new:
        kept = pairing.partner(result)
        if kept is None:
            counting.add_unpaired(result)
        else:
            counting.add(kept, result)
    return counting.comparison(pairing)


class _Counting:
    """What is counted while pairs come by."""

    def __init__(self, min_score: float) -> None:
        self.min_score = min_score
        self.sides: Counter[str] = Counter()
        self.passing: Counter[tuple[bool, bool]] = Counter()
        self.changes: Counter[int] = Counter()
        self.base_total = Fraction()
        self.new_total = Fraction()
        self.steps = StepCounts()
        self.worst: list[Change] = []
        self.best: list[Change] = []
        self.lost: list[Change] = []
        self.only_new_names: list[str] = []

    def add_unpaired(self, result: Result) -> None:
        self.sides["only_new"] += 1
        if len(self.only_new_names) < MOST_CHANGES:
            self.only_new_names.append(result.name[:LONGEST_TEXT])

    def add(self, kept: Kept, result: Result) -> None:
        self.sides["altered"] += kept.case != result.case
        before, after = kept.score, result.verdict.score
        if before is None or after is None:
            self._add_unscored(kept, result)
            return
        self.base_total += Fraction(before)
        self.new_total += Fraction(after)
        self.passing[before >= self.min_score, after >= self.min_score] += 1
        # As scores are printed; finer than that, the interval would not change to the eye.
        self.changes[round((after - before) * _HUNDREDTHS)] += 1
        broken = tuple(self._broken(kept, result))
        if after == before:
            self.sides["same"] += 1
            return
        self.sides["better" if after > before else "worse"] += 1
        change = Change(base=before, new=Glance.at(result), broken=broken)
        told = self.best if after > before else self.worst
        insort(told, change, key=_size)
        del told[MOST_CHANGES:]

    def _add_unscored(self, kept: Kept, result: Result) -> None:
        if kept.score is not None:
            self.sides["no_longer_scored"] += 1
            if len(self.lost) < MOST_CHANGES:
                self.lost.append(Change(base=kept.score, new=Glance.at(result), broken=()))
        else:
            self.sides["unscored" if result.verdict.score is None else "newly_scored"] += 1

    def _broken(self, kept: Kept, result: Result) -> Iterator[BrokenStep]:
        named = 0
        for step in kept.executed_then(result):
            self.steps.add(step.text, step.status)
            if step.status is not Status.EXECUTED and named < _MOST_BROKEN:
                named += 1
                text = step.text[:LONGEST_TEXT]
                yield BrokenStep(number=step.number, text=text, status=step.status)

    def comparison(self, pairing: Pairing) -> Comparison:
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
            only_base=pairing.unpaired,
            only_new=self.sides["only_new"],
            altered=self.sides["altered"],
            base_mean=base_mean,
            new_mean=new_mean,
            mean_change=None if change is None else float(change),
            interval=None if change is None else self._interval(change),
            min_score=self.min_score,
            passing=PassFail(
                both=self.passing[True, True],
                broke=broke,
                mended=mended,
                neither=self.passing[False, False],
                p=mcnemar(broke, mended),
            ),
            broken=self.steps.most_missed(_MOST_STEPS),
            worst=tuple(self.worst),
            best=tuple(self.best),
            lost=tuple(self.lost),
            only_base_names=pairing.unpaired_names(MOST_CHANGES),
            only_new_names=tuple(self.only_new_names),
        )

    def _interval(self, mean: Fraction) -> Interval | None:
        found = bootstrap_interval(self.changes)
        if found is None:
            return None
        # What rounding did to the mean is no part of the interval.
        counted = sum(value * count for value, count in self.changes.items())
        shift = float(mean - Fraction(counted, self.changes.total() * _HUNDREDTHS))
        return Interval(found.low / _HUNDREDTHS + shift, found.high / _HUNDREDTHS + shift)


def _size(change: Change) -> tuple[float, int]:
    """The largest changes first, and equal ones in the order of the cases."""
    assert change.new.score is not None
    return -abs(change.new.score - change.base), change.new.position
