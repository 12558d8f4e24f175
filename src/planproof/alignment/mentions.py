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


_NOWHERE = Mentioned(frozenset(), 0.0)


class Mentions:
    """For each step what its values say of that which was done, and of that which was said.

    Names are no values here.
    """

    def __init__(
        self, done: Sequence[Unit], said: Sequence[Unit], demands: Sequence[Demand]
    ) -> None:
        calls = Texts([unit.call_text for units in (done, said) for unit in units])
        known: dict[tuple[str, str], tuple[list[int], list[int]]] = {}
        self.done: list[Mentioned] = []
        self.said: list[Mentioned] = []
        for demand in demands:
            of_done: list[list[int]] = []
            of_said: list[list[int]] = []
            for value in demand.values:
                key = (value.kind, value.text)
                held = known.get(key)
                if held is None:
                    held = known[key] = _parted(calls.holders(value), len(done))
                if held[0]:
                    of_done.append(held[0])
                if held[1]:
                    of_said.append(held[1])
            self.done.append(_mentioned(of_done, len(demand.values)))
            self.said.append(_mentioned(of_said, len(demand.values)))


def _parted(holders: list[int], done: int) -> tuple[list[int], list[int]]:
    """Those that were done, and those that were said, which are counted behind them."""
    said = [index - done for index in holders if index >= done]
    return ([index for index in holders if index < done] if said else holders), said


def _mentioned(held: list[list[int]], values: int) -> Mentioned:
    return Mentioned(frozenset[int]().union(*held), len(held) / values) if held else _NOWHERE
