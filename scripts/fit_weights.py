"""Fit src/planproof/checking/weights.json on the labelled cases.

usage: python -m scripts.fit_weights
"""

from __future__ import annotations

import json
from pathlib import Path

from planproof.checking.confidence import CONFIDENCE_FEATURES
from planproof.checking.similarity import FEATURE_SIGNS
from planproof.core.finding import Status
from scripts.bench import LabelledCase, find_removed_candidates, load_labelled_cases
from scripts.weight_fitting import StepEventPairs, fit_by_group, fit_correctness
from scripts.weighted_judging import JudgedLabelledCase, judge_with_weights

WEIGHTS_FILE = Path("src/planproof/checking/weights.json")
_STEP_FLAWS = frozenset({"missing", "altered", "partial"})


def main() -> None:
    """Fit the weights, and write the file."""
    cases = load_labelled_cases()
    pairs = StepEventPairs(cases)
    groups = fit_by_group(cases, pairs.fit_weights)
    held_out = [judge_with_weights(groups[case.group], case) for case in cases]
    weights = pairs.fit_weights()
    stored = {
        "weights": dict(zip(FEATURE_SIGNS, weights.values, strict=True)),
        "bias": weights.bias,
        "confidence": _fit_confidence(cases, held_out),
    }
    partial = WEIGHTS_FILE.with_suffix(".partial")
    partial.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    partial.replace(WEIGHTS_FILE)
    print(f"{WEIGHTS_FILE} written, fitted on {len(cases)} cases")


def _fit_confidence(
    cases: list[LabelledCase], judged_cases: list[JudgedLabelledCase]
) -> dict[str, dict[str, float]]:
    """Fit the probability that a finding is right, from its features on held-out groups."""
    samples_by_kind: dict[str, tuple[list[tuple[float, ...]], list[bool]]] = {
        finding_kind: ([], []) for finding_kind in CONFIDENCE_FEATURES
    }

    def add_sample(finding_kind: str, features: dict[str, float], *, right: bool) -> None:
        samples_by_kind[finding_kind][0].append(
            tuple(features[name] for name in CONFIDENCE_FEATURES[finding_kind])
        )
        samples_by_kind[finding_kind][1].append(right)

    by_id = {case.record["id"]: case for case in cases if case.kind is not None}
    for case, judged_case in zip(cases, judged_cases, strict=True):
        flawed = case.record["label"].get("step") if case.kind in _STEP_FLAWS else None
        if case.kind in ("faithful", "paraphrase") or flawed is not None:
            for index, finding in enumerate(judged_case.findings.counted_steps):
                if finding.status.value in samples_by_kind:
                    executed = finding.status is Status.EXECUTED
                    right = (index + 1 == flawed) != executed
                    add_sample(
                        finding.status.value, judged_case.compute_step_features(index), right=right
                    )
        if case.kind == "extra":
            removed = {case.candidates[i].event.id for i in find_removed_candidates(case, by_id)}
            for extra in judged_case.findings.extras:
                add_sample(
                    "extra",
                    judged_case.compute_extra_features(extra.event),
                    right=extra.event in removed,
                )
    return {
        finding_kind: fit_correctness(rows, right, CONFIDENCE_FEATURES[finding_kind])
        for finding_kind, (rows, right) in samples_by_kind.items()
    }


if __name__ == "__main__":
    main()
