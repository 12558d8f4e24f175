"""Estimate the confidence of a finding: the share of similar findings right on labelled cases.

A few features per finding type are fitted by `scripts/fit_weights.py`, on cases that the similarity
had not seen; likewise for levels, passing and failing ones apart. A finding type whose
features do not predict whether it is right has none, only its share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import exp, log

from planproof.checking.alignment import Alignment
from planproof.checking.candidates import Candidate
from planproof.checking.fitted_values import load_fitted_values
from planproof.checking.requirements import Requirement
from planproof.core.finding import Extra, Findings, Severity, Status, StepFinding
from planproof.core.trace import UNVERIFIED, Event

_STEP_FEATURES = (
    "margin",
    "coverage",
    "coverage_gap",
    "other_coverage",
    "lexical_overlap",
    "unseen_values",
    "step_count",
)
CONFIDENCE_FEATURES: dict[str, tuple[str, ...]] = {
    "executed": ("word_coverage", "word_count", "found_values", "lexical_overlap", "step_count"),
    "missing": _STEP_FEATURES,
    "partial": _STEP_FEATURES,
    "ambiguous": _STEP_FEATURES,
    "out_of_order": ("moved_count", "step_count", "coverage"),
    "extra": ("best_score", "mean_coverage", "action_count", "extra_count"),
}
"""The features that predict whether a finding of each type is right."""
LEVEL_FEATURES: dict[str, tuple[str, ...]] = {
    "passing": ("lowest_confidence", "step_count"),
    "failing": ("mean_confidence", "deviation_count", "step_count"),
}
"""The features that predict whether a level is right, as passing or as failing."""
LOWEST_PASSING = 0.75
_DIGITS = 2
_MAX_VALUES = 2
# A call that only its own text shows may never have been made, so no finding on it is certain.
_UNVERIFIED_SHARE = 0.9


def estimate_confidence(finding_type: str, features: Mapping[str, float]) -> float:
    """Return the share of findings of this type, with these features, that were right."""
    bias, weights = load_confidence_weights()[finding_type]
    total = bias + sum([weight * features[name] for name, weight in weights])
    return round(1 / (1 + exp(-total)), _DIGITS)


def discount_unverified(confidence: float, events: Iterable[Event]) -> float:
    """Lower the confidence of a finding if nothing but its own text answers one of its calls."""
    is_unverified = any(event.recognition == UNVERIFIED for event in events)
    return round(confidence * _UNVERIFIED_SHARE, _DIGITS) if is_unverified else confidence


def compute_step_features(
    step: int, requirement: Requirement, alignment: Alignment, candidates: Sequence[Candidate]
) -> dict[str, float]:
    """Compute the features that predict whether a finding on this step is right.

    `word_coverage` is the share of the step's stems that its events contain, `word_count` is in
    tens, and `found_values` is how many of the step's values occur in its events, at most two.
    `step_count` is the logarithm of the number of steps.
    """
    calls: list[str] = []
    stems = unseen = requirement.stems
    for i in alignment.assigned[step]:
        unseen -= candidates[i].terms
        calls.append(candidates[i].call_text)
    found_values = [value for value in requirement.values if value.occurs_in_any(calls)]
    return {
        "word_coverage": (len(stems) - len(unseen)) / len(stems) if stems else 0.0,
        "word_count": len(requirement.words) / 10,
        "found_values": min(len(found_values), _MAX_VALUES),
        "lexical_overlap": alignment.lexical_overlap,
        "step_count": log(len(alignment.assigned)),
    }


def estimate_level_confidence(
    findings: Findings, score: float, *, judge: str | None
) -> float | None:
    """Return the probability that a score is rightly at least 0.75, or rightly below it.

    For `rules` it is fitted. For other judges it is the lowest confidence of a finding that the
    level depends on; None if there is no finding.
    """
    side = "passing" if score >= LOWEST_PASSING else "failing"
    decisive = _select_decisive(findings, side)
    if not decisive:
        return None
    if judge == "rules":
        return estimate_confidence(side, compute_level_features(findings, side))
    return min([finding.confidence for finding in decisive])


def compute_level_features(findings: Findings, side: str) -> dict[str, float]:
    """Compute the features that predict whether a `passing` or `failing` level is right.

    `lowest_confidence` and `mean_confidence` are those of the findings that the level depends on;
    of a failing level these are the deviations. Counts are logarithms.
    """
    confidences = [finding.confidence for finding in _select_decisive(findings, side)]
    return {
        "lowest_confidence": min(confidences),
        "mean_confidence": sum(confidences) / len(confidences),
        "deviation_count": log(1 + len(confidences)),
        "step_count": log(max(1, len(findings.counted_steps))),
    }


def _select_decisive(findings: Findings, side: str) -> list[StepFinding | Extra]:
    """Return the findings that a level depends on: all of them, or only the deviations."""
    steps, extras = findings.counted_steps, findings.extras
    if side == "passing":
        return [*steps, *extras]
    deviations: list[StepFinding | Extra] = [s for s in steps if s.status is not Status.EXECUTED]
    deviations += [extra for extra in extras if extra.severity is Severity.MAJOR]
    return deviations or [*extras]


@cache
def load_confidence_weights() -> dict[str, tuple[float, list[tuple[str, float]]]]:
    """Return the bias and the feature weights of each finding type and side of the scale."""
    fitted = load_fitted_values("confidence")
    return {
        finding_type: (
            fitted[finding_type]["bias"],
            [(name, fitted[finding_type][name]) for name in names],
        )
        for finding_type, names in (CONFIDENCE_FEATURES | LEVEL_FEATURES).items()
    }
