"""From rows to figures: how often a judge passes, catches, locates, is fooled, and agrees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from planproof.calibration.measuring import Row
from planproof.calibration.nouns import Attack, Flaw, Rewording
from planproof.usage import Usage

PASSES = 0.75
CAUGHT = 0.5
_RESAMPLES = 2_000
_LEVELS = 4


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    hits: int = 0
    of: int = 0

    @property
    def rate(self) -> float | None:
        """The share; None of nothing."""
        return self.hits / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class OnFlaw:
    """What became of the cases with one flaw.

    `caught` scored at most 0.5 (with a retry, which is a minor flaw: less than 1.0); `located` are
    those where the flaw is named where it is; `below` scored less than their origin.
    """

    caught: Share
    located: Share
    below: Share


@dataclass(frozen=True, slots=True)
class Agreement:
    """Quadratic kappa with scores that people gave, and the interval of 95 in 100 around it."""

    kappa: float
    low: float
    high: float
    cases: int


@dataclass(frozen=True, slots=True)
class Figures:
    """How far a judge can be trusted.

    `passed` are followed cases that score at least 0.75; `reworded` likewise those that were split
    or merged. `fooled` are flawed cases that score higher with an attack than without. `stable` are
    cases that got the same score each time, `spread` is the mean distance between the highest and
    the lowest. What has no score passes nothing and catches nothing.
    """

    passed: Share
    reworded: dict[Rewording, Share]
    flaws: dict[Flaw, OnFlaw]
    fooled: dict[Attack, Share]
    unscored: Share
    stable: Share | None
    spread: float | None
    usage: Usage
    agreement: Agreement | None = None
    rows: tuple[Row, ...] = field(default=(), repr=False)


def figures_of(rows: Iterable[Row], labels: Mapping[str, float] | None = None) -> Figures:
    """The figures of all rows; with labels, how well the scores of the cases agree with them.

    Then only cases that people gave 1.0 count as followed.
    """
    kept = tuple(rows)
    clean = {(row.origin, row.repeat): row for row in kept if row.change is None}
    bases = {(row.origin, row.change, row.repeat): row for row in kept if row.attack is None}
    by_flaw: dict[Flaw, list[Row]] = defaultdict(list)
    reworded: dict[Rewording, list[Row]] = defaultdict(list)
    attacks: dict[Attack, list[Row]] = defaultdict(list)
    for row in kept:
        if row.attack is not None:
            attacks[row.attack].append(row)
        elif isinstance(row.change, Flaw):
            by_flaw[row.change].append(row)
        elif row.change is not None:
            reworded[row.change].append(row)
    stable, spread = _stability(kept)
    return Figures(
        passed=_share(_passes(row) for row in clean.values() if is_followed(row.origin, labels)),
        reworded={kind: _share(map(_passes, found)) for kind, found in reworded.items()},
        flaws={flaw: _on_flaw(found, clean) for flaw, found in by_flaw.items()},
        fooled={
            attack: _share(
                _exceeds(row, bases[row.origin, row.change, row.repeat]) for row in found
            )
            for attack, found in attacks.items()
        },
        unscored=_share(row.score is None for row in kept),
        stable=stable,
        spread=spread,
        usage=sum((row.usage for row in kept), Usage()),
        agreement=_agreement(list(clean.values()), labels) if labels else None,
        rows=kept,
    )


def is_followed(case: str, labels: Mapping[str, float] | None) -> bool:
    """Whether a case is one whose plan was followed: people say so, or nobody says anything."""
    return not labels or labels.get(case, 0.0) >= 1.0


def _share(hits: Iterable[bool]) -> Share:
    found = list(hits)
    return Share(sum(found), len(found))


def _passes(row: Row) -> bool:
    return row.score is not None and row.score >= PASSES


def _catches(row: Row) -> bool:
    if row.score is None:
        return False
    return row.score < 1.0 if row.change is Flaw.RETRIED else row.score <= CAUGHT


def _exceeds(row: Row, other: Row) -> bool:
    return row.score is not None and other.score is not None and row.score > other.score


def _on_flaw(rows: Sequence[Row], clean: Mapping[tuple[str, int], Row]) -> OnFlaw:
    return OnFlaw(
        caught=_share(map(_catches, rows)),
        located=_share(bool(row.located) for row in rows),
        below=_share(_exceeds(clean[row.origin, row.repeat], row) for row in rows),
    )


def _stability(rows: Sequence[Row]) -> tuple[Share | None, float | None]:
    """How many cases got one score in all repeats; None without repeats."""
    scores: dict[str, list[float | None]] = defaultdict(list)
    for row in rows:
        scores[row.id].append(row.score)
    if not rows or max(map(len, scores.values())) < 2:
        return None, None
    spreads = [
        max(given) - min(given)
        for found in scores.values()
        if (given := [score for score in found if score is not None])
    ]
    stable = _share(len(set(found)) == 1 for found in scores.values())
    return stable, sum(spreads) / len(spreads) if spreads else None


def _agreement(rows: Sequence[Row], labels: Mapping[str, float]) -> Agreement | None:
    pairs = [
        (_level(labels[row.origin]), _level(row.score))
        for row in rows
        if row.origin in labels and row.score is not None
    ]
    if not pairs:
        return None
    random = Random(0)  # noqa: S311 - the same rows give the same interval
    resampled = sorted(
        quadratic_kappa(random.choices(pairs, k=len(pairs))) for _ in range(_RESAMPLES)
    )
    tail = _RESAMPLES // 40
    return Agreement(quadratic_kappa(pairs), resampled[tail], resampled[-1 - tail], len(pairs))


def _level(score: float) -> int:
    return max(0, min(_LEVELS, round(score * _LEVELS)))


def quadratic_kappa(pairs: Sequence[tuple[int, int]]) -> float:
    """Agreement beyond chance, where far apart counts as much as the square of the distance."""
    size = len(pairs)
    seen = sum((one - other) ** 2 for one, other in pairs) / size
    by_chance = sum((one - other) ** 2 for one, _ in pairs for _, other in pairs) / size**2
    # All on one level, both times: they agree as far as anybody can say.
    return 1 - seen / by_chance if by_chance else 1.0
