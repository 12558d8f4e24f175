"""Generate variants: followed cases unchanged and with flaws, flawed ones with attacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from planproof.calibration.attacks import apply_attack
from planproof.calibration.flaws import OPERATORS, copy_unchanged, use_foreign_plan
from planproof.calibration.variant import Attack, Flaw, FollowedCase, Variant
from planproof.contracts.terms import extract_terms

ATTACKED_FLAWS = (Flaw.MISSING, Flaw.ALTERED)
"""The flaws combined with attacks: an action not done, and one done differently."""


def generate_variants(cases: Sequence[FollowedCase], seed: int = 0) -> Iterator[Variant]:
    """Yield every possible variant in a fixed order; deterministic for a seed."""
    for case in cases:
        # A separate generator per case, so that adding a case does not change the others.
        random = Random(f"{seed}:{case.id}")  # noqa: S311 - variety, not secrecy
        yield copy_unchanged(case)
        for operator in OPERATORS:
            variant = operator(case, random)
            if variant is None:
                continue
            yield variant
            if variant.change in ATTACKED_FLAWS:
                yield from generate_attacks(variant)
        if (other := _find_least_similar(case, cases)) is not None:
            yield use_foreign_plan(case, other)


def generate_labelled_variants(cases: Sequence[FollowedCase]) -> Iterator[Variant]:
    """Yield labelled cases as they are, and those that were not followed with each attack."""
    for case in cases:
        unchanged = copy_unchanged(case)
        yield unchanged
        if not case.is_followed:
            yield from generate_attacks(unchanged)


def generate_attacks(variant: Variant) -> Iterator[Variant]:
    """Yield a flawed variant with each attack that applies to it."""
    attacked = (apply_attack(variant, attack) for attack in Attack)
    return (each for each in attacked if each is not None)


def _find_least_similar(case: FollowedCase, cases: Sequence[FollowedCase]) -> FollowedCase | None:
    """Return the case whose plan has the fewest words in common with this one's."""
    own = extract_terms(" ".join(case.plan))
    others = [other for other in cases if other.plan != case.plan]
    return min(
        others, key=lambda other: len(own & extract_terms(" ".join(other.plan))), default=None
    )
