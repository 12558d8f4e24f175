"""Which events hold the values that steps name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from planproof.checking.candidates import Unit
from planproof.checking.requirements import Demand
from planproof.contracts.values import Literal, Texts


class Mentioned(Struct, frozen=True):
    """What the values of a step say about some events."""

    events: frozenset[int]
    """Those that hold any of them, by index."""
    share: float
    """The share of the values that any event holds: it speaks against those that hold none."""


_NONE: frozenset[int] = frozenset()
_NOWHERE = Mentioned(_NONE, 0.0)


class Mentions:
    """For each step what its values say of that which was done, and of that which was said.

    Names are no values here.
    """

    def __init__(
        self, done: Sequence[Unit], said: Sequence[Unit], demands: Sequence[Demand]
    ) -> None:
        calls = Texts([unit.call_text for units in (done, said) for unit in units])
        values, of_steps = _values_in_plan(tuple(demands))
        held = [_parted(calls.holders(value), len(done)) for value in values]
        self.done = [_mentioned([held[value][0] for value in found]) for found in of_steps]
        self.said = [_mentioned([held[value][1] for value in found]) for found in of_steps]


@lru_cache(maxsize=256)
def _values_in_plan(demands: tuple[Demand, ...]) -> tuple[list[Literal], list[list[int]]]:
    """The values of a plan, each once, and for each step which of them it names."""
    values = {(value.kind, value.text): value for demand in demands for value in demand.values}
    indices = {key: index for index, key in enumerate(values)}
    return list(values.values()), [
        [indices[value.kind, value.text] for value in demand.values] for demand in demands
    ]


def _parted(holders: list[int], done: int) -> tuple[list[int], list[int]]:
    """Those that were done, and those that were said, which are counted behind them."""
    said = [index - done for index in holders if index >= done]
    return ([index for index in holders if index < done] if said else holders), said


def _mentioned(holders: list[list[int]]) -> Mentioned:
    """What it says that these events hold the values of a step, each."""
    held = sum(map(bool, holders))
    return Mentioned(_NONE.union(*holders), held / len(holders)) if held else _NOWHERE
