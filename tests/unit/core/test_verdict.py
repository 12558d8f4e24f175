"""Verdicts that come back: from JSON, and from another process."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from typing import Any

import pytest

from planproof import evaluate
from planproof.core.usage import Usage
from planproof.core.verdict import (
    Opinion,
    Outcome,
    RejectedEvidence,
    Samples,
    Verdict,
    parse_verdict,
)
from planproof.errors import InvalidInput
from tests.small_cases import FOLLOWED, IDLE, PLANLESS


def _judge_case(case: dict[str, Any]) -> Verdict:
    return evaluate(
        task=case["user_task"],
        plan=case["agent_plan"],
        trace=case["execution_trace"],
        id="\ud800 \0",
        metadata={"odd": ["\ud800", 1.5, None, {"a": True}]},
    )


VERDICTS = [
    *map(_judge_case, (FOLLOWED, IDLE, PLANLESS)),
    Verdict(outcome=Outcome.JUDGE_FAILED, reason="No answer.", cause="timeout"),
    replace(
        _judge_case(FOLLOWED),
        cost=Usage(calls=2, tokens_in=7, cost=0.5),
        rejected=(RejectedEvidence(step=None, event="e1", quote="q", why="w"),),
        samples=Samples(scores=(1.0, 0.5), median=0.5, agreement=0.5, spread=0.5),
        panel=(Opinion(model="m", score=0.5, reason="r"),),
        warnings=("one",),
    ),
]


@pytest.mark.parametrize("verdict", VERDICTS, ids=lambda verdict: verdict.outcome)
def test_a_verdict_comes_back_from_json_and_from_another_process(verdict: Verdict) -> None:
    assert parse_verdict(json.loads(json.dumps(verdict.full()))) == verdict
    assert pickle.loads(pickle.dumps(verdict)) == verdict


def test_metadata_of_any_sort_crosses_a_process_boundary() -> None:
    verdict = replace(VERDICTS[0], metadata={"set": {1, 2}})
    assert pickle.loads(pickle.dumps(verdict)) == verdict


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"outcome": "fine"}, "outcome"),
        ({"score": "1"}, "score"),
        ({"steps": [{"number": "1"}]}, "steps"),
        ({"metadata": []}, "metadata"),
    ],
)
def test_an_invalid_verdict_is_an_error(change: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        parse_verdict({**VERDICTS[0].full(), **change})
    with pytest.raises(InvalidInput, match="not a full verdict"):
        parse_verdict([])


def test_a_verdict_stored_without_confidence_and_measures_can_be_read() -> None:
    stored = {**VERDICTS[0].full()}
    del stored["confidence"], stored["measures"]
    assert parse_verdict(stored) == replace(VERDICTS[0], confidence=None, measures=None)


@pytest.mark.parametrize(
    ("score", "confidence", "minimum", "below"),
    [
        (1.0, 0.7, None, False),
        (1.0, 0.7, 0.7, False),
        (1.0, 0.7, 0.71, True),
        (1.0, None, 0.0, True),
        (1.0, None, None, False),
        (None, None, 0.5, False),
    ],
)
def test_below_a_minimum_confidence(
    score: float | None, confidence: float | None, minimum: float | None, *, below: bool
) -> None:
    verdict = replace(VERDICTS[0], score=score, confidence=confidence)
    assert verdict.is_below_confidence(minimum) is below
