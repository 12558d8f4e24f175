"""How sure a finding is."""

from __future__ import annotations

from itertools import pairwise

import pytest

from planproof.checking.alignment import align
from planproof.checking.confidence import (
    CONFIDENCE_FEATURES,
    LEVEL_FEATURES,
    compute_level_features,
    compute_step_features,
    estimate_confidence,
    estimate_level_confidence,
)
from planproof.checking.similarity import compute_similarity, load_shipped_weights
from planproof.core.finding import Extra, Findings, Severity, Status, StepFinding
from planproof.core.trace import UNVERIFIED
from tests.trace_builders import Event, did, judge_events, said
from tests.unit.checking.judge_cases import make_candidates, make_requirement

NOTHING = dict.fromkeys({name for names in CONFIDENCE_FEATURES.values() for name in names}, 0.0)


@pytest.mark.parametrize("sort", CONFIDENCE_FEATURES)
def test_it_is_a_share_with_two_digits(sort: str) -> None:
    for value in (-3.0, 0.0, 3.0):
        sure = estimate_confidence(sort, dict.fromkeys(NOTHING, value))
        assert 0 <= sure <= 1
        assert sure == round(sure, 2)


@pytest.mark.parametrize(
    ("sort", "sign", "rises"),
    [
        ("executed", "word_coverage", True),
        ("executed", "found_values", True),
        ("executed", "word_count", False),
        ("missing", "coverage_gap", True),
        ("missing", "unseen_values", True),
        ("partial", "coverage_gap", True),
        ("extra", "best_score", False),
        ("out_of_order", "coverage", True),
        ("out_of_order", "step_count", False),
    ],
)
def test_what_makes_a_finding_surer(sort: str, sign: str, *, rises: bool) -> None:
    sure = [estimate_confidence(sort, {**NOTHING, sign: value}) for value in (-1.0, 0.0, 1.0)]
    assert all((less < more) == rises for less, more in pairwise(sure))


def test_step_features_come_from_its_events() -> None:
    steps = [make_requirement("Read a-1.txt and b-2.txt"), make_requirement("Tell Ann")]
    found = make_candidates(did("read_file", path="a-1.txt"), said("It is read, Ann."))
    explanation = align(found, steps, compute_similarity(found, steps, load_shipped_weights()))

    read, told = (
        compute_step_features(k, step, explanation, found) for k, step in enumerate(steps)
    )

    assert (read["found_values"], told["found_values"]) == (1, 0)
    assert 0 < read["word_coverage"] < 1
    assert read["lexical_overlap"] == told["lexical_overlap"] == explanation.lexical_overlap


def test_a_step_out_of_order_is_surer_in_a_short_plan_than_in_a_long_one() -> None:
    def judge_swapped(count: int) -> float:
        names = [f"part-{number}.txt" for number in range(count)]
        events = [did("read_file", path=name) for name in (names[1], names[0], *names[2:])]
        steps = judge_events([f"Read {name}" for name in names], *events).steps
        (moved,) = [step for step in steps if step.status is Status.OUT_OF_ORDER]
        return moved.confidence

    assert judge_swapped(2) > judge_swapped(12)


READ = did("read_file", path="report-12.txt")
MILK = did("buy_milk", litres=2)


def _confidences(*events: Event) -> list[float]:
    """The confidence of the step and of the extra."""
    verdict = judge_events(["Read report-12.txt"], *events)
    return [finding.confidence for finding in (*verdict.steps, *verdict.extras)]


@pytest.mark.parametrize("recognition", [UNVERIFIED, "react", ""])
def test_findings_on_calls_that_nothing_answers_are_less_sure(recognition: str) -> None:
    recorded = _confidences(READ, MILK)
    lowered = [round(confidence * 0.9, 2) for confidence in recorded]
    expected = lowered if recognition == UNVERIFIED else recorded
    events = [{**event, "recognition": recognition} for event in (READ, MILK)]
    assert _confidences(*events) == expected


def test_only_the_findings_that_rest_on_such_a_call_are_less_sure() -> None:
    step, extra = _confidences(READ, MILK)
    unverified = {"recognition": UNVERIFIED}
    assert _confidences({**READ, **unverified}, MILK) == [round(step * 0.9, 2), extra]
    assert _confidences(READ, {**MILK, **unverified}) == [step, round(extra * 0.9, 2)]


def _found(
    *steps: tuple[Status, float], extras: tuple[tuple[Severity, float], ...] = ()
) -> Findings:
    return Findings(
        tuple(
            StepFinding(number=str(number), text="", status=status, confidence=confidence)
            for number, (status, confidence) in enumerate(steps, 1)
        ),
        tuple(
            Extra(event="e1", pointer="", quote="", what="", severity=one, confidence=confidence)
            for one, confidence in extras
        ),
    )


def test_a_passing_level_depends_on_every_finding() -> None:
    findings = _found(
        (Status.EXECUTED, 0.9), (Status.EXECUTED, 0.8), extras=((Severity.MINOR, 0.7),)
    )
    assert estimate_level_confidence(findings, 0.75, judge="contract") == 0.7


def test_a_failing_level_depends_on_the_deviations() -> None:
    findings = _found(
        (Status.EXECUTED, 0.2), (Status.MISSING, 0.8), extras=((Severity.MAJOR, 0.6),)
    )
    assert estimate_level_confidence(findings, 0.25, judge="audit") == 0.6
    only_repeats = _found((Status.EXECUTED, 0.2), extras=((Severity.MINOR, 0.6),) * 2)
    assert estimate_level_confidence(only_repeats, 0.5, judge="audit") == 0.6


def test_a_level_without_findings_has_no_confidence() -> None:
    assert estimate_level_confidence(Findings(()), 1.0, judge="rules") is None


@pytest.mark.parametrize(("status", "score"), [(Status.EXECUTED, 1.0), (Status.MISSING, 0.0)])
def test_the_level_of_rules_is_surer_if_its_findings_are(status: Status, score: float) -> None:
    sure = [
        estimate_level_confidence(_found((status, confidence)), score, judge="rules")
        for confidence in (0.1, 0.5, 0.9)
    ]
    assert all(
        less is not None and more is not None and less < more for less, more in pairwise(sure)
    )


@pytest.mark.parametrize("side", LEVEL_FEATURES)
def test_every_feature_of_a_level_is_computed(side: str) -> None:
    features = compute_level_features(_found((Status.MISSING, 0.5)), side)
    assert set(LEVEL_FEATURES[side]) <= features.keys()
