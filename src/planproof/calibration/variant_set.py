"""All variants of followed cases: the cases themselves, their flaws, and attacks on these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from planproof.calibration.attacks import attacked
from planproof.calibration.flaws import OPERATORS, as_it_is, foreign
from planproof.calibration.variant import Attack, Flaw, Followed, Variant
from planproof.contracts.terms import terms_of

ATTACKED = (Flaw.MISSING, Flaw.ALTERED)
"""The flaws that text is made to hide: what was not done, and what was done otherwise."""


def variants_of(cases: Sequence[Followed], seed: int = 0) -> Iterator[Variant]:
    """Every variant that can be made, in a fixed order; the same seed makes the same ones."""
    for case in cases:
        # Each case has its own chance, so that one more case changes no other.
        random = Random(f"{seed}:{case.id}")  # noqa: S311 - variety, not secrecy
        yield as_it_is(case)
        for operator in OPERATORS:
            variant = operator(case, random)
            if variant is None:
                continue
            yield variant
            if variant.change in ATTACKED:
                for attack in Attack:
                    yield attacked(variant, attack)
        if (other := _farthest(case, cases)) is not None:
            yield foreign(case, other)


def _farthest(case: Followed, cases: Sequence[Followed]) -> Followed | None:
    """The case whose plan has the fewest words in common with this one's."""
    own = terms_of(" ".join(case.plan))
    others = [other for other in cases if other.plan != case.plan]
    return min(others, key=lambda other: len(own & terms_of(" ".join(other.plan))), default=None)
