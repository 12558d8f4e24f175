"""Estimate the confidence of a finding: the share of similar findings right on labelled cases.

A few features per finding type are fitted by `scripts/fit_weights.py`, on cases that the judge's
weights had not seen. A finding type whose features do not predict whether it is right has none,
only its share.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import exp

from planproof.checking.alignment import Alignment
from planproof.checking.candidates import Candidate
from planproof.checking.requirements import Requirement
from planproof.core.trace import UNVERIFIED, Event, Kind

CONFIDENCE_FEATURES: dict[str, tuple[str, ...]] = {
    "executed": (
        "min_score",
        "word_coverage",
        "word_count",
        "found_values",
        "missing_values",
        "lexical_overlap",
    ),
    "missing": ("word_count", "missing_values", "lexical_overlap"),
    "partial": (),
    "ambiguous": (),
    "extra": ("best_score", "lexical_overlap"),
}
"""The features that predict whether a finding of each type is right."""
_DIGITS = 2
_MAX_VALUES = 2
# A call that only its own text shows may never have been made.
_MAX_UNVERIFIED = 0.6


def estimate_confidence(finding_type: str, features: Mapping[str, float]) -> float:
    """Return the share of findings of this type, with these features, that were right."""
    bias, weights = _load_weights()[finding_type]
    total = bias + sum([weight * features[name] for name, weight in weights])
    return round(1 / (1 + exp(-total)), _DIGITS)


def cap_unverified(confidence: float, events: Iterable[Event]) -> float:
    """Lower the confidence of a finding if nothing but its own text answers one of its calls."""
    is_unverified = any(event.recognition == UNVERIFIED for event in events)
    return min(confidence, _MAX_UNVERIFIED) if is_unverified else confidence


def compute_step_features(
    step: int, requirement: Requirement, alignment: Alignment, candidates: Sequence[Candidate]
) -> dict[str, float]:
    """Compute the features that predict whether a finding on this step is right.

    `min_score` is the lowest score of an action assigned to the step, in hundreds, `word_coverage`
    the share of the step's stems that its events contain, and `word_count` is in tens. Of the
    step's values, `found_values` occur in its events (at most two are counted), `missing_values` do
    not.
    """
    scores: list[int] = []
    calls: list[str] = []
    stems = unseen = requirement.stems
    for i in alignment.assigned[step]:
        candidate = candidates[i]
        unseen -= candidate.terms
        calls.append(candidate.call_text)
        if candidate.event.kind is Kind.ACTION:
            scores.append(alignment.scores[i][step])
    found_values = [value for value in requirement.values if value.occurs_in_any(calls)]
    return {
        "min_score": (min(scores) if scores else alignment.best_score(step)) / 100,
        "word_coverage": (len(stems) - len(unseen)) / len(stems) if stems else 0.0,
        "word_count": len(requirement.words) / 10,
        "found_values": min(len(found_values), _MAX_VALUES),
        "missing_values": len(requirement.values) - len(found_values),
        "lexical_overlap": alignment.lexical_overlap,
    }


def compute_extra_features(scores: Sequence[int], lexical_overlap: float) -> dict[str, float]:
    """Compute the features that predict whether an uncovered action is extra.

    `best_score` is its highest score for any step, in hundreds.
    """
    return {"best_score": max(scores, default=0) / 100, "lexical_overlap": lexical_overlap}


@cache
def _load_weights() -> dict[str, tuple[float, list[tuple[str, float]]]]:
    """Return the bias and the feature weights of each finding type."""
    text = files("planproof.checking").joinpath("weights.json").read_text("utf-8")
    fitted = json.loads(text)["confidence"]
    return {
        finding_type: (
            fitted[finding_type]["bias"],
            [(name, fitted[finding_type][name]) for name in names],
        )
        for finding_type, names in CONFIDENCE_FEATURES.items()
    }
