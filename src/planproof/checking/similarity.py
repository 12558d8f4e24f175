"""Score each event for each step: a weighted sum of features, rounded to an integer.

The fitting constrains each weight to the sign given here, so that less evidence never scores
higher.
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
    "share": +1,  # share of the step's words, by rarity, that the event has
    "best_step": +1,  # shared words, relative to the step that shares most with the event
    "best_event": +1,  # shared words, relative to the event that shares most; length counts against
    "values_elsewhere": -1,  # share of the step's values in other calls; none here
    "other_tool": -1,  # the step names another tool of this trace
    "actor": +1,  # the step names the actor of the event
    "no_deed": -1,  # the event has none of the action types of the step
    "said_as_asked": +1,  # a message for a step that asks for one
    "said_unasked": -1,
    "done_for_saying": -1,  # an action for a step that only asks for a message
    "thought_unasked": -1,
}
FIXED_WEIGHTS = {"other_deed": -20.0}
"""Not fitted, as labelled cases hardly have it: refunding is not cancelling, whatever else fits."""
SCALE = 100
_FEATURE_SCALE = 1e9
"""Sums are integers: a single feature is multiplied by this, then divided by it again."""


class Weights(NamedTuple):
    """The fitted weight of each feature, and the bias."""

    values: tuple[float, ...]
    bias: float


@cache
def load_shipped_weights() -> Weights:
    """Return the weights in the data file next to this module."""
    text = files("planproof.checking").joinpath("weights.json").read_text("utf-8")
    stored = json.loads(text)
    return Weights(tuple(stored["weights"][name] for name in FEATURE_SIGNS), stored["bias"])


class Similarity(NamedTuple):
    """The score of each event for each step, and the lexical overlap of plan and trace."""

    scores: list[list[int]]
    """One row per event, one column per step; positive scores support the pair."""
    lexical_overlap: float
    """The share of a step's words that its best event has, averaged over the steps."""


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
    """Return the highest score that an event can have for a step, in any trace."""
    return bound_score(
        candidate.signature, requirement, _scale_weights(weights), SCALE * weights.bias, words
    )


def _scale_weights(weights: Weights) -> dict[str, float]:
    combined = {**dict(zip(FEATURE_SIGNS, weights.values, strict=True)), **FIXED_WEIGHTS}
    return {name: SCALE * weight for name, weight in combined.items()}


def compute_features(
    candidates: Sequence[Candidate], requirements: Sequence[Requirement]
) -> list[list[tuple[float, ...]]]:
    """Return the features of each pair, in the order of `FEATURE_SIGNS`.

    Each feature is the weighted sum with all other weights at zero.
    """
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
