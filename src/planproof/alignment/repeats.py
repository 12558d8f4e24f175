"""Which actions do what another did, or nearly so: of these nobody can say which was meant."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from planproof.alignment.units import Unit
from planproof.trace import Kind

_LOOKED_BACK = 20
_ALIKE = 0.7


class Repeats(NamedTuple):
    """The indices of the actions that repeat an earlier one, and of those that were repeated."""

    repeating: frozenset[int]
    repeated: frozenset[int]


def repeats_of(units: Sequence[Unit]) -> Repeats:
    """Compare each action with the last ones of the same tool."""
    repeating: set[int] = set()
    repeated: set[int] = set()
    earlier: dict[str | None, deque[int]] = {}
    for index, unit in enumerate(units):
        if unit.event.kind is not Kind.ACTION:
            continue
        like = earlier.setdefault(unit.event.name, deque(maxlen=_LOOKED_BACK))
        alike = [other for other in like if _are_alike(unit.terms, units[other].terms)]
        if alike:
            repeating.add(index)
            repeated.update(alike)
        like.append(index)
    return Repeats(frozenset(repeating), frozenset(repeated))


def _are_alike(terms: frozenset[str], others: frozenset[str]) -> bool:
    common = len(terms & others)
    return common >= _ALIKE * (len(terms) + len(others) - common)
