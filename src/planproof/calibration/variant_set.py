"""All variants of followed cases: the cases themselves, their flaws, and attacks on these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from planproof.calibration.attacks import apply_attack
from planproof.calibration.flaws import OPERATORS, copy_unchanged, use_foreign_plan
from planproof.calibration.variant import Attack, Flaw, FollowedCase, Variant
from planproof.contracts.terms import extract_terms

ATTACKED_FLAWS = (Flaw.MISSING, Flaw.ALTERED)
"""The flaws that text is made to hide: what was not done, and what was done otherwise."""


def generate_variants(cases: Sequence[FollowedCase], seed: int = 0) -> Iterator[Variant]:
    """Every variant that can be made, in a fixed order; the same seed makes the same ones."""
    for case in cases:
        # Each case has its own chance, so that one more case changes no other.
        random = Random(f"{seed}:{case.id}")  # noqa: S311 - variety, not secrecy
        yield copy_unchanged(case)
        for operator in OPERATORS:
            variant = operator(case, random)
            if variant is None:
                continue
            yield variant
            if variant.change in ATTACKED_FLAWS:
                for attack in Attack:
                    yield apply_attack(variant, attack)
        if (other := _find_least_similar(case, cases)) is not None:
            yield use_foreign_plan(case, other)


def _find_least_similar(case: FollowedCase, cases: Sequence[FollowedCase]) -> FollowedCase | None:
    """The case whose plan has the fewest words in common with this one's."""
    own = extract_terms(" ".join(case.plan))
    others = [other for other in cases if other.plan != case.plan]
    return min(
        others, key=lambda other: len(own & extract_terms(" ".join(other.plan))), default=None
    )
