"""Fit the confidence in src/planproof/checking/weights.json on `train` of the second bench.

usage: python -m scripts.fit_weights [--level-only | --left-out]

Printed is how well the confidence predicts sources that were left out. In that of a level, followed
and flawed plans count equally; `--level-only` fits it alone, so that findings stay as they are. For
levels the totals on `val` are printed as well. `--left-out` leaves the file as it is: each source
of `train` is judged with a confidence fitted without it; the totals have intervals over sources.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from planproof.checking.confidence import (
    CONFIDENCE_FEATURES,
    LEVEL_FEATURES,
    LOWEST_PASSING,
    compute_level_features,
    compute_step_features,
    load_confidence_weights,
)
from planproof.checking.extras import find_extras
from planproof.checking.fitted_values import load_fitted_values
from planproof.checking.plan_findings import assemble_findings
from planproof.checking.rules import Rules
from planproof.checking.similarity_analysis import analyze
from planproof.checking.withdrawal import DeviationRater
from planproof.core.content import Content
from planproof.core.finding import Severity, Status
from planproof.core.plan import Plan
from planproof.core.trace import Kind, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.planning.plan_parser import parse_given_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.scoring import compute_score
from scripts.bench import load_scorer, load_v2_cases
from scripts.parallel_verdicts import Projection, Record, judge_all
from scripts.reliability import SURE, Rated, measure_reliability
from scripts.v2_quality import compute_split_figures
from scripts.weight_fitting import fit_correctness, predict_correctness

WEIGHTS_FILE = Path("src/planproof/checking/weights.json")
_FOLLOWED = frozenset({"faithful", "paraphrase"})
_STEP_FLAWS = frozenset({"missing", "altered", "partial"})
_DRAWS = 2_000
_MOVED = Status.OUT_OF_ORDER.value


class Sample(NamedTuple):
    """A finding or level: type, features of its confidence, whether it is right, and source.

    It counts `times` times.
    """

    finding_type: str
    features: tuple[float, ...]
    right: bool
    source: str
    times: float = 1.0


_FEATURES = CONFIDENCE_FEATURES | LEVEL_FEATURES


def main(arguments: list[str]) -> None:
    """Fit the weights, write the file, and print how well the confidence predicts."""
    stored = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    if "--level-only" in arguments:
        _fit_levels(stored)
        return
    if "--left-out" in arguments:
        _print_left_out_totals(stored)
        return
    # Judging loads the file, and a new feature has no weight yet.
    stored["confidence"] = {
        finding_type: dict.fromkeys(("bias", *names), 0.0)
        for finding_type, names in _FEATURES.items()
    }
    write_weights(stored)
    _forget_weights()
    samples = list(_judge_train())
    rated = [name for name in CONFIDENCE_FEATURES if name != _MOVED]
    stored["confidence"] |= {name: _fit(name, samples) for name in rated}
    write_weights(stored)
    _forget_weights()
    # Which steps are out of order depends on which deviations are withdrawn.
    samples += _judge_order()
    stored["confidence"][_MOVED] = _fit(_MOVED, samples)
    write_weights(stored)
    for finding_type in CONFIDENCE_FEATURES:
        _print_left_out(finding_type, samples)
    _fit_levels(stored)


def _print_left_out_totals(stored: dict[str, Any]) -> None:
    """Judge each source with a confidence fitted without it; print the totals of both splits."""
    shipped = stored["confidence"]
    samples = [*_judge_train(), *_judge_order()]
    train, val = load_v2_cases("train"), load_v2_cases("val")
    verdicts: dict[str, Projection] = {}
    for source in sorted({case["source"] for case in train}):
        fitted = {name: _fit(name, samples, source) for name in CONFIDENCE_FEATURES}
        write_weights({**stored, "confidence": shipped | fitted})
        _forget_weights()
        verdicts |= judge_all([case for case in train if case["source"] == source], jobs=1)
    write_weights(stored)
    _forget_weights()
    for name, cases, judged in (
        ("train, source left out", train, verdicts),
        ("val", val, judge_all(val, jobs=1)),
    ):
        _print_totals(name, cases, judged)


def _print_totals(name: str, cases: list[Record], verdicts: dict[str, Projection]) -> None:
    """Print totals with the 95 % interval of a bootstrap over sources."""
    by_source: dict[str, list[Record]] = {}
    for case in cases:
        by_source.setdefault(case["source"], []).append(case)
    parts = [compute_split_figures(own, verdicts) for own in by_source.values()]
    followed = np.array([float(part["followed"]) for part in parts])
    flawed = np.array([float(part["cases"]) for part in parts]) - followed
    drawn = np.random.default_rng(0).integers(0, len(parts), (_DRAWS, len(parts)))
    whole = compute_split_figures(cases, verdicts)
    for figure, weights in (
        ("pass_clean", followed),
        ("catch_flawed", flawed),
        ("told_apart", flawed),
    ):
        values = np.nan_to_num([float(part[figure]) for part in parts])
        means = (values * weights)[drawn].sum(axis=1) / weights[drawn].sum(axis=1)
        low, high = np.quantile(means, [0.025, 0.975])
        print(f"{name:24} {figure:14} {whole[figure]:.2f} [{low:.2f}, {high:.2f}]")


def _fit_levels(stored: dict[str, Any]) -> None:
    """Fit the confidence of a level, which depends on that of its findings."""
    for side, names in LEVEL_FEATURES.items():
        stored["confidence"].setdefault(side, dict.fromkeys(("bias", *names), 0.0))
    write_weights(stored)
    _forget_weights()
    samples = _judge_levels("train")
    stored["confidence"] |= {side: _fit(side, samples) for side in LEVEL_FEATURES}
    write_weights(stored)
    for side in LEVEL_FEATURES:
        _print_left_out(side, samples)
    for side in LEVEL_FEATURES:
        own = [sample for sample in _judge_levels("val") if sample.finding_type == side]
        fitted = stored["confidence"][side]
        confidence = [predict_correctness(fitted, sample.features) for sample in own]
        _print_figures(f"{side} on val", confidence, own)


def _forget_weights() -> None:
    load_fitted_values.cache_clear()
    load_confidence_weights.cache_clear()


def write_weights(stored: dict[str, Any]) -> None:
    """Write the file of all fitted numbers."""
    partial = WEIGHTS_FILE.with_suffix(".partial")
    partial.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    partial.replace(WEIGHTS_FILE)


def read_cases(
    cases: Iterable[Record], vocabulary: Vocabulary
) -> Iterator[tuple[Record, Plan, Trace]]:
    """Read the plan and the trace of each case; a shared trace is read once."""
    traces: dict[str, Trace] = {}
    for case in cases:
        if case["base"] not in traces:
            source = Source.from_value(case["execution_trace"], name=case["id"])
            traces[case["base"]] = read_trace(source, vocabulary=vocabulary)
        yield case, parse_given_plan(case["agent_plan"]), traces[case["base"]]


def _judge_train() -> Iterator[Sample]:
    """Judge the cases whose label says which findings are right."""
    scorer, vocabulary = load_scorer(), Vocabulary()
    for case, plan, trace in read_cases(load_v2_cases("train"), vocabulary):
        kind, label = case["label"]["kind"], case["label"]
        if kind not in _FOLLOWED | _STEP_FLAWS | {"extra"}:
            continue
        analysis = analyze(plan, trace, vocabulary)
        rater = DeviationRater(analysis)
        findings = analysis.step_findings
        flawed = label["step"] - 1 if kind in _STEP_FLAWS else None
        for index, finding in enumerate(findings):
            if finding.status is Status.EXECUTED:
                features = compute_step_features(
                    index, analysis.requirements[index], analysis.alignment, analysis.candidates
                )
            elif rater.is_rated(index, finding):
                features = rater.compute_step_features(index)
            else:
                continue
            right = (index == flawed) != (finding.status is Status.EXECUTED)
            yield _build_sample(finding.status.value, features, case["source"], right=right)
        anchors = [scorer.folded(anchor) for anchor in label["anchors"]] if kind == "extra" else []
        steps = assemble_findings(plan, trace, findings)
        extras = find_extras(analysis.candidates, analysis.alignment, trace, steps)
        actions = [extra for extra in extras if trace.by_id[extra.event].kind is Kind.ACTION]
        for extra in actions:
            if extra.severity is Severity.MAJOR and rater.has_action(extra.event):
                features = rater.compute_extra_features(extra.event, len(actions))
                shown = scorer.folded(scorer.at_pointer(case["execution_trace"], extra.pointer))
                right = any(anchor in shown for anchor in anchors)
                yield _build_sample("extra", features, case["source"], right=right)


def _judge_order() -> Iterator[Sample]:
    """Judge the order of the cases whose label says which steps were exchanged, if any."""
    vocabulary = Vocabulary()
    for case, plan, trace in read_cases(load_v2_cases("train"), vocabulary):
        label = case["label"]
        if label["kind"] == "shuffled":
            continue
        analysis = analyze(plan, trace, vocabulary)
        rater = DeviationRater(analysis)
        marked = rater.rate_order(trace, rater.rate_steps(analysis.step_findings))
        moved = [k for k, finding in enumerate(marked) if finding.status is Status.OUT_OF_ORDER]
        first, *_, last = sorted(label["steps"]) if label["kind"] == "order" else (0, 0)
        for step in moved:
            features = rater.compute_order_features(step, len(moved))
            yield _build_sample(_MOVED, features, case["source"], right=first <= step + 1 <= last)


def _judge_levels(split: str) -> list[Sample]:
    """Judge all cases, and compare whether they pass with whether the plan was followed."""
    judge, cases = Rules(Vocabulary()), load_v2_cases(split)
    followed = sum(case["label"]["kind"] in _FOLLOWED for case in cases)
    samples: list[Sample] = []
    for case, plan, trace in read_cases(cases, judge.vocabulary):
        findings = judge.judge(Content(""), plan, trace)
        side = "passing" if compute_score(findings) >= LOWEST_PASSING else "failing"
        is_followed = case["label"]["kind"] in _FOLLOWED
        alike = followed if is_followed else len(cases) - followed
        features = compute_level_features(findings, side)
        sample = _build_sample(
            side, features, case["source"], right=is_followed == (side == "passing")
        )
        samples.append(sample._replace(times=len(cases) / 2 / alike))
    return samples


def _build_sample(
    finding_type: str, features: dict[str, float], source: str, *, right: bool
) -> Sample:
    values = tuple(features[name] for name in _FEATURES[finding_type])
    return Sample(finding_type, values, right, source)


def _fit(
    finding_type: str, samples: list[Sample], excluded_source: str | None = None
) -> dict[str, float]:
    chosen = [s for s in samples if s.finding_type == finding_type and s.source != excluded_source]
    rows, right = [s.features for s in chosen], [s.right for s in chosen]
    counts = [sample.times for sample in chosen]
    return fit_correctness(rows, right, _FEATURES[finding_type], counts)


def _print_left_out(finding_type: str, samples: list[Sample]) -> None:
    """Print the errors of a confidence that was fitted without the source of the finding."""
    predicted: list[float] = []
    left_out: list[Sample] = []
    own = [sample for sample in samples if sample.finding_type == finding_type]
    for source in sorted({sample.source for sample in own}):
        fitted = _fit(finding_type, samples, source)
        for sample in own:
            if sample.source == source:
                predicted.append(predict_correctness(fitted, sample.features))
                left_out.append(sample)
    _print_figures(finding_type, predicted, left_out)


def _print_figures(name: str, predicted: list[float], samples: list[Sample]) -> None:
    """Print how well a confidence predicts which samples are right."""
    found = measure_reliability(
        [
            Rated(confidence, sample.right, sample.times)
            for confidence, sample in zip(predicted, samples, strict=True)
        ]
    )
    right, error, high, auroc = (
        "-" if value is None else f"{value:.3f}"
        for value in (found.right, found.calibration_error, found.right_of_sure, found.auroc)
    )
    print(
        f"{name:14} {found.number:6}, {right} right, calibration error {error},"
        f" confidence >= {SURE}: {found.sure}, {high} right, AUROC {auroc}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
