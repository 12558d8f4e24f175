"""How well each event fits each step: a weighted sum of features, rounded to an integer.

A weight never lets less evidence look better: the fitting holds each to the sign given here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from planproof.checking.candidates import Candidate
from planproof.checking.features import Comparison, WordOverlap, bound_score
from planproof.checking.requirements import Requirement

FEATURE_SIGNS = {
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
FIXED_WEIGHTS = {"other_deed": -20.0}
"""Not fitted, for labelled cases hardly have it: to refund is not to cancel, whatever else fits."""
SCALE = 100
_FEATURE_SCALE = 1e9
"""Sums are integers: a feature alone is weighed with this, and divided by it again."""


class Weights(NamedTuple):
    """What the fitting found: a weight for each feature, and the bias."""

    values: tuple[float, ...]
    bias: float


@cache
def load_shipped_weights() -> Weights:
    """The weights in the data file beside this module."""
    text = files("planproof.checking").joinpath("weights.json").read_text("utf-8")
    stored = json.loads(text)
    return Weights(tuple(stored["weights"][name] for name in FEATURE_SIGNS), stored["bias"])


class Similarity(NamedTuple):
    """How well each event fits each step, and how near the plan's words are to the trace's."""

    scores: list[list[int]]
    """A row an event, a column a step; above zero speaks for the pair."""
    lexical_overlap: float
    """Of each step's words the share that its best event has, on the average."""


def compute_similarity(
    candidates: Sequence[Candidate], requirements: Sequence[Requirement], weights: Weights
) -> Similarity:
    """Compare every event with every step."""
    comparison = Comparison(candidates, requirements)
    scaled = _scale_weights(weights)
    shares = comparison.best_shares()
    return Similarity(
        comparison.compute_scores(scaled, SCALE * weights.bias),
        sum(shares) / len(shares) if shares else 0.0,
    )


def compute_max_score(
    candidate: Candidate, requirement: Requirement, weights: Weights, *, words: WordOverlap
) -> float:
    """How well an event can fit a step at most, whatever else stands in the trace."""
    return bound_score(
        candidate.signature, requirement, _scale_weights(weights), SCALE * weights.bias, words
    )


def _scale_weights(weights: Weights) -> dict[str, float]:
    combined = {**dict(zip(FEATURE_SIGNS, weights.values, strict=True)), **FIXED_WEIGHTS}
    return {name: SCALE * weight for name, weight in combined.items()}


def compute_features(
    candidates: Sequence[Candidate], requirements: Sequence[Requirement]
) -> list[list[tuple[float, ...]]]:
    """The features of every pair, in the order of `SIGNS`: each is the sum with it alone."""
    comparison = Comparison(candidates, requirements)
    zero_weights = dict.fromkeys((*FEATURE_SIGNS, *FIXED_WEIGHTS), 0.0)
    tables = [
        comparison.compute_scores({**zero_weights, name: _FEATURE_SCALE}, 0.0)
        for name in FEATURE_SIGNS
    ]
    return [
        [tuple(value / _FEATURE_SCALE for value in pair) for pair in zip(*rows, strict=True)]
        for rows in zip(*tables, strict=True)
    ]
