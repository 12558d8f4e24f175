"""Measure how well confidence predicts which findings are right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from scripts.bench import load_scorer
from scripts.parallel_verdicts import Projection, Record
from scripts.weight_fitting import Array

SURE = 0.9
"""The confidence from which a finding should nearly always be right."""
_BINS = 10
_FOLLOWED = frozenset({"faithful", "paraphrase"})
_STEP_FLAWS = frozenset({"missing", "altered", "partial"})


class Rated(NamedTuple):
    """The confidence of a finding or level, and whether it is right; it counts `times` times."""

    confidence: float
    is_right: bool
    times: float = 1.0


class Reliability(NamedTuple):
    """How well confidence predicts what is right.

    `calibration_error` is the mean difference between confidence and share of right ones, over ten
    bins. `auroc` is how probably a right one has more confidence than a wrong one. A share of
    nothing is None.
    """

    number: int
    right: float | None
    calibration_error: float | None
    sure: int
    right_of_sure: float | None
    auroc: float | None


def measure_reliability(rated: Sequence[Rated]) -> Reliability:
    """Measure the confidence of some findings or levels."""
    if not rated:
        return Reliability(0, None, None, 0, None, None)
    confidence = np.array([one.confidence for one in rated])
    is_right = np.array([one.is_right for one in rated], dtype=np.float64)
    times = np.array([one.times for one in rated])
    bins = np.minimum(_BINS - 1, (confidence * _BINS).astype(int))
    members = [bins == number for number in range(_BINS) if (bins == number).any()]
    error = sum(abs(float(((confidence - is_right) * times)[own].sum())) for own in members)
    sure = confidence >= SURE
    return Reliability(
        len(rated),
        float(np.average(is_right, weights=times)),
        error / float(times.sum()),
        int(sure.sum()),
        float(np.average(is_right[sure], weights=times[sure])) if sure.any() else None,
        _compute_auroc(confidence, is_right, times),
    )


def _compute_auroc(confidence: Array, is_right: Array, times: Array) -> float | None:
    right, wrong = confidence[is_right > 0], confidence[is_right == 0]
    if not (right.size and wrong.size):
        return None
    order = np.argsort(wrong)
    weights = np.concatenate([[0.0], np.cumsum(times[is_right == 0][order])])
    below = weights[np.searchsorted(wrong[order], right, side="left")]
    not_above = weights[np.searchsorted(wrong[order], right, side="right")]
    own = times[is_right > 0]
    return float(((below + not_above) / 2 * own).sum() / (own.sum() * weights[-1]))


def rate_findings(
    cases: Iterable[Record], verdicts: dict[str, Projection]
) -> dict[str, list[Rated]]:
    """Return the reported findings whose truth the labels say, by type.

    Of a plan with two steps exchanged, only the steps reported as out of order count: which of the
    others are right depends on the step that is taken to have moved. Plans in a quite different
    order are left out.
    """
    scorer = load_scorer()
    rated: dict[str, list[Rated]] = {"executed": [], "not executed": [], "extra": []}
    for case in cases:
        label, verdict = case["label"], verdicts[case["id"]]
        kind = label["kind"]
        if kind == "order":
            first, *_, last = sorted(label["steps"])
            rated["not executed"] += [
                Rated(step["confidence"], first <= int(step["number"]) <= last)
                for step in verdict["steps"]
                if step["status"] == "out_of_order"
            ]
        if kind not in _FOLLOWED | _STEP_FLAWS | {"extra"}:
            continue
        flawed = str(label["step"]) if kind in _STEP_FLAWS else None
        for step in verdict["steps"]:
            executed = step["status"] == "executed"
            right = (step["number"] == flawed) != executed
            rated["executed" if executed else "not executed"].append(
                Rated(step["confidence"], right)
            )
        anchors = [scorer.folded(anchor) for anchor in label["anchors"]] if kind == "extra" else []
        for extra in verdict["extras"]:
            shown = scorer.folded(scorer.at_pointer(case["execution_trace"], extra["pointer"]))
            right = any(anchor in shown for anchor in anchors)
            rated["extra"].append(Rated(extra["confidence"], right))
    rated["all"] = [one for own in list(rated.values()) for one in own]
    return rated


def measure_confidence(
    cases: Iterable[Record], verdicts: dict[str, Projection]
) -> dict[str, dict[str, Any]]:
    """Measure the confidence of the reported findings by type, and of all."""
    return {
        name: measure_reliability(rated)._asdict()
        for name, rated in rate_findings(cases, verdicts).items()
    }
