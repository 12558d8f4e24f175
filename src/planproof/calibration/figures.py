"""Compute calibration figures: how often a judge passes, catches, locates, is fooled, agrees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from planproof.calibration.measurement import Measurement
from planproof.calibration.variant import Attack, Flaw, Rewording
from planproof.core.usage import Usage

PASSED_AT_LEAST = 0.75
CAUGHT_AT_MOST = 0.5
_RESAMPLES = 2_000
_LEVELS = 4


class Figure(StrEnum):
    """A property of a row, counted over all rows of a kind."""

    PASSED = "passed"
    """A followed case scores at least 0.75."""
    CAUGHT = "caught"
    """A flawed case scores at most 0.5; with a retry, which is a minor flaw, less than 1.0."""
    LOCATED = "located"
    """The flaw is reported at the right step or event."""
    BELOW = "below"
    """A flawed case scores less than its origin."""
    FOOLED = "fooled"
    """A flawed case scores higher with an attack than without."""


@dataclass(frozen=True, slots=True)
class Share:
    """Number of hits out of a total."""

    hits: int = 0
    of: int = 0

    @property
    def rate(self) -> float | None:
        """The share; None if the total is 0."""
        return self.hits / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class FlawShares:
    """Shares of the cases with one flaw that were caught, located, and below their origin."""

    caught: Share
    located: Share
    below: Share


@dataclass(frozen=True, slots=True)
class Agreement:
    """Quadratic kappa with human scores, and its 95% confidence interval."""

    kappa: float
    low: float
    high: float
    cases: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Calibration figures of a judge.

    `passed` are followed cases that pass unchanged; `reworded` those with split or merged steps.
    `stable` are cases with the same score in all repeats, `spread` is the mean difference between
    the highest and the lowest score. A case without a score neither passes nor counts as caught.
    """

    passed: Share
    reworded: dict[Rewording, Share]
    flaws: dict[Flaw, FlawShares]
    fooled: dict[Attack, Share]
    unscored: Share
    stable: Share | None
    spread: float | None
    usage: Usage
    agreement: Agreement | None = None
    rows: tuple[Measurement, ...] = field(default=(), repr=False)


def compute_figures(
    rows: Iterable[Measurement], labels: Mapping[str, float] | None = None
) -> Figures:
    """Compute the figures of all rows; with labels, also the agreement of scores with them.

    With labels, only cases labelled 1.0 count as followed.
    """
    all_rows = tuple(rows)
    counted: dict[tuple[object, Figure], list[bool]] = defaultdict(list)
    for row, hits in classify_rows(all_rows, labels):
        for figure, is_hit in hits.items():
            counted[row.attack or row.change, figure].append(is_hit)

    def count_share(kind: object, figure: Figure) -> Share:
        hits = counted[kind, figure]
        return Share(sum(hits), len(hits))

    seen = {row.attack or row.change for row in all_rows}
    stable, spread = _compute_stability(all_rows)
    clean = [row for row in all_rows if row.change is None]
    return Figures(
        passed=count_share(None, Figure.PASSED),
        reworded={kind: count_share(kind, Figure.PASSED) for kind in Rewording if kind in seen},
        flaws={
            flaw: FlawShares(
                caught=count_share(flaw, Figure.CAUGHT),
                located=count_share(flaw, Figure.LOCATED),
                below=count_share(flaw, Figure.BELOW),
            )
            for flaw in Flaw
            if flaw in seen
        },
        fooled={attack: count_share(attack, Figure.FOOLED) for attack in Attack if attack in seen},
        unscored=_count_share(row.score is None for row in all_rows),
        stable=stable,
        spread=spread,
        usage=sum((row.usage for row in all_rows), Usage()),
        agreement=_compute_agreement(clean, labels) if labels else None,
        rows=all_rows,
    )


def classify_rows(
    rows: Sequence[Measurement], labels: Mapping[str, float] | None = None
) -> Iterator[tuple[Measurement, dict[Figure, bool]]]:
    """Yield each row with the figures it counts in, and whether it is a hit."""
    bases = {(row.origin, row.change, row.repeat): row for row in rows if row.attack is None}
    for row in rows:
        hits: dict[Figure, bool] = {}
        if row.attack is not None:
            hits[Figure.FOOLED] = _scores_higher(row, bases[row.origin, row.change, row.repeat])
        elif isinstance(row.change, Flaw):
            hits[Figure.CAUGHT] = _is_caught(row)
            if row.located is not None:
                hits[Figure.LOCATED] = row.located
            hits[Figure.BELOW] = _scores_higher(bases[row.origin, None, row.repeat], row)
        elif row.change is not None or is_followed(row.origin, labels):
            hits[Figure.PASSED] = row.score is not None and row.score >= PASSED_AT_LEAST
        yield row, hits


def is_followed(case: str, labels: Mapping[str, float] | None) -> bool:
    """Return True if a case counts as followed: labelled 1.0, or there are no labels."""
    return not labels or labels.get(case, 0.0) >= 1.0


def _count_share(hits: Iterable[bool]) -> Share:
    values = list(hits)
    return Share(sum(values), len(values))


def _is_caught(row: Measurement) -> bool:
    if row.score is None:
        return False
    return row.score < 1.0 if row.change is Flaw.RETRIED else row.score <= CAUGHT_AT_MOST


def _scores_higher(row: Measurement, other: Measurement) -> bool:
    return row.score is not None and other.score is not None and row.score > other.score


def _compute_stability(rows: Sequence[Measurement]) -> tuple[Share | None, float | None]:
    """Return the share of cases with one score in all repeats, and the mean spread of scores.

    Both are None without repeats.
    """
    scores: dict[str, list[float | None]] = defaultdict(list)
    for row in rows:
        scores[row.id].append(row.score)
    if not rows or max(map(len, scores.values())) < 2:
        return None, None
    spreads = [
        max(known) - min(known)
        for case_scores in scores.values()
        if (known := [score for score in case_scores if score is not None])
    ]
    stable = _count_share(len(set(case_scores)) == 1 for case_scores in scores.values())
    return stable, sum(spreads) / len(spreads) if spreads else None


def _compute_agreement(
    rows: Sequence[Measurement], labels: Mapping[str, float]
) -> Agreement | None:
    by_case: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in rows:
        if row.origin in labels and row.score is not None:
            by_case[row.origin].append((_to_level(labels[row.origin]), _to_level(row.score)))
    if not by_case:
        return None
    # Resample cases, not rows: repeats of a case add little information.
    drawn = list(by_case.values())
    random = Random(0)  # noqa: S311 - the same rows give the same interval
    resampled = sorted(
        _compute_pooled_kappa(random.choices(drawn, k=len(drawn))) for _ in range(_RESAMPLES)
    )
    tail = _RESAMPLES // 40
    return Agreement(
        _compute_pooled_kappa(drawn), resampled[tail], resampled[-1 - tail], len(drawn)
    )


def _compute_pooled_kappa(cases: Iterable[list[tuple[int, int]]]) -> float:
    return quadratic_kappa([pair for pairs in cases for pair in pairs])


def _to_level(score: float) -> int:
    return max(0, min(_LEVELS, round(score * _LEVELS)))


def quadratic_kappa(pairs: Sequence[tuple[int, int]]) -> float:
    """Return the agreement beyond chance, with disagreement weighted by squared distance."""
    size = len(pairs)
    seen = sum((one - other) ** 2 for one, other in pairs)
    # The sum of squared distances between all pairs, without a loop over the pairs.
    ones, others = sum(one for one, _ in pairs), sum(other for _, other in pairs)
    squares = sum(one**2 + other**2 for one, other in pairs)
    by_chance = size * squares - 2 * ones * others
    # All values are on one level in both: full agreement, as far as can be determined.
    return 1 - size * seen / by_chance if by_chance else 1.0
