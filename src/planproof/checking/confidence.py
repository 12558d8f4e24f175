"""Estimate the confidence of a finding: the share of similar findings right on labelled cases.

A few features per finding type are fitted by `scripts/fit_weights.py`, on cases that the judge's
weights had not seen. A finding type whose features do not predict whether it is right has none,
only its share.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import exp

from planproof.checking.alignment import Alignment
from planproof.checking.candidates import Candidate
from planproof.checking.requirements import Requirement
from planproof.core.trace import Kind

CONFIDENCE_FEATURES: dict[str, tuple[str, ...]] = {
    "executed": ("worst", "covered", "words", "held", "unheld", "nearness"),
    "missing": ("words", "unheld", "nearness"),
    "partial": (),
    "ambiguous": (),
    "extra": ("fit", "nearness"),
}
"""The features that predict whether a finding of each type is right."""
_DIGITS = 2
_MAX_VALUES = 2


def estimate_confidence(finding_type: str, features: Mapping[str, float]) -> float:
    """Return the share of findings of this type, with these features, that were right."""
    bias, weights = _load_weights()[finding_type]
    total = bias + sum([weight * features[name] for name, weight in weights])
    return round(1 / (1 + exp(-total)), _DIGITS)


def compute_step_features(
    step: int, requirement: Requirement, alignment: Alignment, candidates: Sequence[Candidate]
) -> dict[str, float]:
    """Compute the features that predict whether a finding on this step is right.

    Scores are in hundreds; `worst` is the lowest score of an action assigned to the step.
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
        "worst": (min(scores) if scores else alignment.best_score(step)) / 100,
        "covered": (len(stems) - len(unseen)) / len(stems) if stems else 0.0,
        "words": len(requirement.words) / 10,
        "held": min(len(found_values), _MAX_VALUES),
        "unheld": len(requirement.values) - len(found_values),
        "nearness": alignment.lexical_overlap,
    }


def compute_extra_features(scores: Sequence[int], lexical_overlap: float) -> dict[str, float]:
    """Compute the features that predict whether an uncovered action is extra.

    `fit` is its highest score for any step.
    """
    return {"fit": max(scores, default=0) / 100, "nearness": lexical_overlap}


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
