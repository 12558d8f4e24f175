"""Which actions do what another did, or nearly so: of these nobody can say which was meant."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from planproof.checking.candidates import Unit
from planproof.core.trace import Kind

_LOOKED_BACK = 20
_ALIKE = 0.7


class Repeats(NamedTuple):
    """The indices of the actions that repeat an earlier one, and of those that were repeated."""

    repeating: frozenset[int]
    repeated: frozenset[int]


class LastCalls:
    """The last calls of each tool, to hold the next one against."""

    def __init__(self) -> None:
        self._calls: dict[str | None, deque[tuple[int, frozenset[str]]]] = {}

    def repeated_by(self, index: int, unit: Unit) -> list[int]:
        """The indices of the last calls that this one repeats; from now on it is one of them."""
        like = self._calls.setdefault(unit.event.name, deque(maxlen=_LOOKED_BACK))
        alike = [other for other, terms in like if _are_alike(unit.terms, terms)]
        like.append((index, unit.terms))
        return alike


def repeats_of(units: Sequence[Unit]) -> Repeats:
    """Compare each action with the last ones of the same tool."""
    repeating: set[int] = set()
    repeated: set[int] = set()
    calls = LastCalls()
    for index, unit in enumerate(units):
        if unit.event.kind is not Kind.ACTION or unit.aside:
            continue
        if alike := calls.repeated_by(index, unit):
            repeating.add(index)
            repeated.update(alike)
    return Repeats(frozenset(repeating), frozenset(repeated))


def _are_alike(terms: frozenset[str], others: frozenset[str]) -> bool:
    common = len(terms & others)
    return common >= _ALIKE * (len(terms) + len(others) - common)
