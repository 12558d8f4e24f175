"""Fit src/planproof/checking/weights.json: similarity on the first bench, confidence on the second.

usage: python -m scripts.fit_weights [--confidence-only]

The confidence is fitted on `train` of the second bench, which the similarity has not seen. Printed
is how well it predicts sources that were left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from planproof.checking.confidence import (
    CONFIDENCE_FEATURES,
    compute_extra_features,
    compute_step_features,
)
from planproof.checking.similarity import FEATURE_SIGNS
from planproof.checking.similarity_analysis import analyze, judge_by_similarity
from planproof.core.finding import Severity, Status
from planproof.core.trace import Trace
from planproof.core.vocabulary import Vocabulary
from planproof.planning.plan_parser import parse_given_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from scripts.bench import load_labelled_cases, load_scorer, load_v2_cases
from scripts.weight_fitting import StepEventPairs, fit_correctness, predict_correctness

WEIGHTS_FILE = Path("src/planproof/checking/weights.json")
_FOLLOWED = frozenset({"faithful", "paraphrase"})
_STEP_FLAWS = frozenset({"missing", "altered", "partial"})
_HIGH = 0.9
_BINS = 10


class Sample(NamedTuple):
    """A finding: its type, the features of its confidence, whether it is right, its source."""

    finding_type: str
    features: tuple[float, ...]
    right: bool
    source: str


def main(arguments: list[str]) -> None:
    """Fit the weights, write the file, and print how well the confidence predicts."""
    stored = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    if "--confidence-only" not in arguments:
        weights = StepEventPairs(load_labelled_cases()).fit_weights()
        stored["weights"] = dict(zip(FEATURE_SIGNS, weights.values, strict=True))
        stored["bias"] = weights.bias
        # The confidence depends on the weights, which are loaded once: fit it in a second run.
        _write(stored)
        print("similarity fitted; now run with --confidence-only")
        return
    # Judging loads the file, and a new feature has no weight yet.
    stored["confidence"] = {
        finding_type: dict.fromkeys(("bias", *names), 0.0)
        for finding_type, names in CONFIDENCE_FEATURES.items()
    }
    _write(stored)
    samples = list(_judge_train())
    stored["confidence"] = {
        finding_type: _fit(finding_type, samples) for finding_type in CONFIDENCE_FEATURES
    }
    _write(stored)
    for finding_type in CONFIDENCE_FEATURES:
        _print_left_out(finding_type, samples)


def _write(stored: dict[str, Any]) -> None:
    partial = WEIGHTS_FILE.with_suffix(".partial")
    partial.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    partial.replace(WEIGHTS_FILE)
    print(f"{WEIGHTS_FILE} written")


def _judge_train() -> Iterator[Sample]:
    """Judge the cases whose label says which findings are right; a shared trace is read once."""
    scorer, vocabulary = load_scorer(), Vocabulary()
    traces: dict[str, Trace] = {}
    for case in load_v2_cases("train"):
        kind, label = case["label"]["kind"], case["label"]
        if kind not in _FOLLOWED | _STEP_FLAWS | {"extra"}:
            continue
        if case["base"] not in traces:
            source = Source.from_value(case["execution_trace"], name=case["id"])
            traces[case["base"]] = read_trace(source, vocabulary=vocabulary)
        plan, trace = parse_given_plan(case["agent_plan"]), traces[case["base"]]
        analysis = analyze(plan, trace, vocabulary)
        findings = judge_by_similarity(plan, trace, vocabulary)
        flawed = str(label["step"]) if kind in _STEP_FLAWS else None
        for index, finding in enumerate(findings.counted_steps if kind != "extra" else ()):
            if finding.status.value in CONFIDENCE_FEATURES:
                features = compute_step_features(
                    index, analysis.requirements[index], analysis.alignment, analysis.candidates
                )
                executed = finding.status is Status.EXECUTED
                right = (finding.number == flawed) != executed
                yield _build_sample(finding.status.value, features, case["source"], right=right)
        anchors = [scorer.folded(anchor) for anchor in label["anchors"]] if kind == "extra" else []
        for extra in findings.extras if kind not in _STEP_FLAWS else ():
            if extra.severity is Severity.MAJOR:
                features = compute_extra_features(analysis.alignment)
                shown = scorer.folded(scorer.at_pointer(case["execution_trace"], extra.pointer))
                right = any(anchor in shown for anchor in anchors)
                yield _build_sample("extra", features, case["source"], right=right)


def _build_sample(
    finding_type: str, features: dict[str, float], source: str, *, right: bool
) -> Sample:
    values = tuple(features[name] for name in CONFIDENCE_FEATURES[finding_type])
    return Sample(finding_type, values, right, source)


def _fit(
    finding_type: str, samples: list[Sample], excluded_source: str | None = None
) -> dict[str, float]:
    chosen = [s for s in samples if s.finding_type == finding_type and s.source != excluded_source]
    rows, right = [s.features for s in chosen], [s.right for s in chosen]
    return fit_correctness(rows, right, CONFIDENCE_FEATURES[finding_type])


def _print_left_out(finding_type: str, samples: list[Sample]) -> None:
    """Print the errors of a confidence that was fitted without the source of the finding."""
    predicted: list[float] = []
    right: list[bool] = []
    own = [sample for sample in samples if sample.finding_type == finding_type]
    for source in sorted({sample.source for sample in own}):
        fitted = _fit(finding_type, samples, source)
        for sample in own:
            if sample.source == source:
                predicted.append(predict_correctness(fitted, sample.features))
                right.append(sample.right)
    confidence, is_right = np.array(predicted), np.array(right, dtype=np.float64)
    bins = np.minimum(_BINS - 1, (confidence * _BINS).astype(int))
    members = [bins == number for number in range(_BINS) if (bins == number).any()]
    error = sum(
        float(abs(confidence[own_bin].mean() - is_right[own_bin].mean()) * own_bin.mean())
        for own_bin in members
    )
    high = confidence >= _HIGH
    share = f"{is_right[high].mean():.2f}" if high.any() else "-"
    print(
        f"{finding_type:10} {len(own):6} findings, {is_right.mean():.2f} right,"
        f" calibration error {error:.3f}, confidence >= {_HIGH}: {int(high.sum())}, {share} right"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
