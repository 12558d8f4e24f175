"""Which events hold the values that steps name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from planproof.alignment.demands import Demand
from planproof.alignment.literals import Texts
from planproof.alignment.units import Unit


class Mentioned(NamedTuple):
    """What the values of a step say about some events."""

    events: frozenset[int]
    """Those that hold any of them, by index."""
    share: float
    """The share of the values that any event holds: it speaks against those that hold none."""


class Mentions:
    """For each step, for each of its values, the events that hold it; names are no values here."""

    def __init__(self, units: Sequence[Unit], demands: Sequence[Demand]) -> None:
        calls = Texts([unit.call_text for unit in units])
        known: dict[tuple[str, str], list[int]] = {}
        self._by_step: list[list[list[int]]] = []
        for demand in demands:
            for value in demand.values:
                key = (value.kind, value.text)
                if key not in known:
                    known[key] = calls.holders(value)
            self._by_step.append([known[value.kind, value.text] for value in demand.values])

    def among(self, first: int, end: int) -> list[Mentioned]:
        """For each step the events from `first` to before `end`, counted from `first` on."""
        found: list[Mentioned] = []
        for holders in self._by_step:
            own = [[index - first for index in held if first <= index < end] for held in holders]
            held = [indices for indices in own if indices]
            share = len(held) / len(holders) if holders else 0.0
            found.append(Mentioned(frozenset[int]().union(*held), share))
        return found
