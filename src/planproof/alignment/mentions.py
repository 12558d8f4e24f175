"""Which events hold the values that steps name, and how much that says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import NamedTuple

from planproof.alignment.demands import Demand
from planproof.alignment.literals import Literal, LiteralKind, Texts
from planproof.alignment.units import Unit

_MOST = 2.0


class Mentions(NamedTuple):
    """What the values of a step say about the events, by index."""

    here: dict[int, float]
    """The values in the call, rare ones more."""
    in_output: dict[int, float]
    """The share of the values that only the output has."""
    elsewhere: float
    """The share that some event has: it speaks against the events that have none."""


def mentions_of(units: Sequence[Unit], demands: Sequence[Demand]) -> Iterator[Mentions]:
    """For each step which events hold its values; names are no values here."""
    calls = Texts(unit.call_text for unit in units)
    outputs = Texts(unit.output_text for unit in units)
    known: dict[Literal, tuple[frozenset[int], frozenset[int]]] = {}
    for demand in demands:
        literals = [item for item in demand.literals if item.kind is not LiteralKind.NAME]
        here: dict[int, float] = {}
        later: dict[int, float] = {}
        held = 0
        for literal in literals:
            if literal not in known:
                holders = calls.holders(literal)
                known[literal] = holders, outputs.holders(literal) - holders
            callers, answered = known[literal]
            if callers:
                held += 1
                worth = 1 / sqrt(len(callers))
                for index in callers:
                    here[index] = min(here.get(index, 0.0) + worth, _MOST)
            for index in answered:
                later[index] = later.get(index, 0.0) + 1 / len(literals)
        yield Mentions(here, later, held / len(literals) if literals else 0.0)
