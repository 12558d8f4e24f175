"""Compute calibration figures: how often a judge passes, catches, locates, is fooled, agrees."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from planproof.calibration.case_labels import Label
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
class LabelledFigures:
    """Figures of labelled cases, judged as they are.

    `ranking` is how often a followed case scores higher than a flawed one, a tie counted as half
    (the area under the ROC curve); None if there are not both, with scores.
    """

    passed: Share
    caught: Share
    located: Share
    ranking: float | None


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
    `labelled` has the figures of cases with labels: all of them, and by the flaws and groups that
    the labels name.
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
    labelled: LabelledFigures | None = None
    labelled_flaws: dict[str, LabelledFigures] = field(default_factory=dict[str, LabelledFigures])
    labelled_groups: dict[str, LabelledFigures] = field(default_factory=dict[str, LabelledFigures])
    rows: tuple[Measurement, ...] = field(default=(), repr=False)


def compute_figures(rows: Iterable[Measurement]) -> Figures:
    """Compute the figures of all rows; of labelled cases also the agreement with their labels."""
    all_rows = tuple(rows)
    counted: dict[tuple[object, Figure], list[bool]] = defaultdict(list)
    for row, hits in classify_rows(all_rows):
        for figure, is_hit in hits.items():
            counted[row.attack or row.change, figure].append(is_hit)

    def count_share(kind: object, figure: Figure) -> Share:
        hits = counted[kind, figure]
        return Share(sum(hits), len(hits))

    seen = {row.attack or row.change for row in all_rows}
    stable, spread = _compute_stability(all_rows)
    labelled = [row for row in all_rows if row.variant.label is not None and row.attack is None]
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
        agreement=_compute_agreement(labelled),
        labelled=_compute_labelled(labelled) if labelled else None,
        labelled_flaws=_compute_by_name(labelled, lambda label: label.flaw),
        labelled_groups=_compute_by_name(labelled, lambda label: label.group),
        rows=all_rows,
    )


def classify_rows(
    rows: Sequence[Measurement],
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
        elif row.variant.label is not None and row.variant.label.is_flawed:
            hits[Figure.CAUGHT] = _is_caught(row)
            if row.located is not None:
                hits[Figure.LOCATED] = row.located
        elif row.variant.is_followed:
            hits[Figure.PASSED] = row.score is not None and row.score >= PASSED_AT_LEAST
        yield row, hits


def _compute_by_name(
    rows: Sequence[Measurement], get_name: Callable[[Label], str]
) -> dict[str, LabelledFigures]:
    """Return the figures of labelled cases by something that their labels name, sorted by it."""
    rows_by_name: dict[str, list[Measurement]] = defaultdict(list)
    for row in rows:
        if row.variant.label is not None and (name := get_name(row.variant.label)):
            rows_by_name[name].append(row)
    return {name: _compute_labelled(rows_by_name[name]) for name in sorted(rows_by_name)}


def _compute_labelled(rows: Sequence[Measurement]) -> LabelledFigures:
    classified = list(classify_rows(rows))

    def count_share(figure: Figure) -> Share:
        return _count_share(hits[figure] for _, hits in classified if figure in hits)

    def list_scores(figure: Figure) -> list[float]:
        rows_with = (row for row, hits in classified if figure in hits)
        return [row.score for row in rows_with if row.score is not None]

    return LabelledFigures(
        passed=count_share(Figure.PASSED),
        caught=count_share(Figure.CAUGHT),
        located=count_share(Figure.LOCATED),
        ranking=compute_ranking(list_scores(Figure.PASSED), list_scores(Figure.CAUGHT)),
    )


def compute_ranking(followed: Sequence[float], flawed: Sequence[float]) -> float | None:
    """Return how often a followed case scores higher than a flawed one; a tie is half."""
    pairs = len(followed) * len(flawed)
    flawed_by_score = Counter(flawed)
    # Scores have few values, so pairs of values are counted and not pairs of cases.
    higher = sum(
        count * other_count * (1.0 if score > other else 0.5)
        for score, count in Counter(followed).items()
        for other, other_count in flawed_by_score.items()
        if score >= other
    )
    return higher / pairs if pairs else None


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


def _compute_agreement(rows: Sequence[Measurement]) -> Agreement | None:
    by_case: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in rows:
        label = None if row.variant.label is None else row.variant.label.score
        if label is not None and row.score is not None:
            by_case[row.origin].append((_to_level(label), _to_level(row.score)))
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
