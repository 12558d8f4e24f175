"""How well each event fits each step: a weighted sum of features, rounded to an integer.

A weight never lets less evidence look better: the fitting holds each to the sign given here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from planproof.checking.candidates import Unit
from planproof.checking.features import Comparison, Words, most_of
from planproof.checking.requirements import Demand

SIGNS = {
    "share": +1,  # of the step's words, by rarity, that the event has
    "best_step": +1,  # the words in common, against the step with most in common with the event
    "best_event": +1,  # likewise against the event with most, longer events counting less
    "values_elsewhere": -1,  # of the step's values, that calls hold, the share; this one holds none
    "other_tool": -1,  # the step names a tool of this trace, but not this one
    "actor": +1,  # the step names who did it
    "no_deed": -1,  # it is none of the sorts of deed that the step asks for
    "said_as_asked": +1,  # a message where the step is to say something
    "said_unasked": -1,
    "done_for_saying": -1,  # an action where the step is only to say something
    "thought_unasked": -1,
}
BARRED = {"other_deed": -20.0}
"""Not fitted, for labelled cases hardly have it: to refund is not to cancel, whatever else fits."""
SCALE = 100
_FINE = 1e9
"""Sums are integers: a feature alone is weighed with this, and divided by it again."""


class Weights(NamedTuple):
    """What the fitting found: a weight for each feature, and the bias."""

    of: tuple[float, ...]
    bias: float


@cache
def shipped_weights() -> Weights:
    """The weights in the data file beside this module."""
    text = files("planproof.checking").joinpath("weights.json").read_text("utf-8")
    stored = json.loads(text)
    return Weights(tuple(stored["weights"][name] for name in SIGNS), stored["bias"])


class Affinity(NamedTuple):
    """How well each event fits each step, and how near the plan's words are to the trace's."""

    fits: list[list[int]]
    """A row an event, a column a step; above zero speaks for the pair."""
    nearness: float
    """Of each step's words the share that its best event has, on the average."""


def affinity_of(units: Sequence[Unit], demands: Sequence[Demand], weights: Weights) -> Affinity:
    """Compare every event with every step."""
    compared = Comparison(units, demands)
    of = _scaled(weights)
    shares = compared.best_shares()
    return Affinity(
        compared.sums(of, SCALE * weights.bias), sum(shares) / len(shares) if shares else 0.0
    )


def most_fit(unit: Unit, demand: Demand, weights: Weights, *, words: Words) -> float:
    """How well an event can fit a step at most, whatever else stands in the trace."""
    return most_of(unit.manner, demand, _scaled(weights), SCALE * weights.bias, words)


def _scaled(weights: Weights) -> dict[str, float]:
    weighed = {**dict(zip(SIGNS, weights.of, strict=True)), **BARRED}
    return {name: SCALE * weight for name, weight in weighed.items()}


def features(units: Sequence[Unit], demands: Sequence[Demand]) -> list[list[tuple[float, ...]]]:
    """The features of every pair, in the order of `SIGNS`: each is the sum with it alone."""
    compared = Comparison(units, demands)
    none = dict.fromkeys((*SIGNS, *BARRED), 0.0)
    tables = [compared.sums({**none, name: _FINE}, 0.0) for name in SIGNS]
    return [
        [tuple(value / _FINE for value in pair) for pair in zip(*rows, strict=True)]
        for rows in zip(*tables, strict=True)
    ]
