"""Samples and panels: several judgements made into one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from planproof import Verdict, evaluate
from planproof.core.finding import Status
from planproof.core.model import Answer, Cause, ModelFailed, Question
from planproof.core.usage import Usage
from planproof.errors import InvalidInput
from planproof.llm.open_judge import UnopenedModel, open_judge
from planproof.readers.decoding.source import Source
from planproof.verification import verify
from tests.audit_models import honest, inventing
from tests.fake_model import FakeModel
from tests.small_cases import FOLLOWED


class WaveringModel(FakeModel):
    """Answers each sample in its own way."""

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        self.questions = [question] * question.sample
        return await super().ask(question, deadline=deadline)


def judge_case(judge: str, *models: Any, samples: int = 1) -> Verdict:
    verdict = evaluate(
        plan=FOLLOWED["agent_plan"],
        trace=FOLLOWED["execution_trace"],
        judge=open_judge(judge, models, samples=samples),
    )
    assert verify(verdict.full(), Source.from_value(FOLLOWED["execution_trace"])) == ()
    return verdict


def score_answer(score: float) -> dict[str, Any]:
    return {"score": score, "reason": f"Step 2 is missing, at e3 “copy_file”: {score}."}


def test_samples_that_agree_give_the_verdict() -> None:
    verdict = judge_case("audit", FakeModel(honest(FOLLOWED)), samples=3)
    assert (verdict.score, verdict.samples and verdict.samples.scores) == (1.0, (1.0, 1.0, 1.0))
    assert verdict.samples is not None
    assert (verdict.samples.agreement, verdict.samples.spread) == (1.0, 0.0)


class _FailsOnSecondQuestion(FakeModel):
    async def ask(self, question: Question, *, deadline: float) -> Answer:
        answer = await super().ask(question, deadline=deadline)
        if question.sample == 0:
            return answer
        await asyncio.sleep(0.05)
        raise ModelFailed(Cause.REFUSED, "no", usage=Usage(calls=1, tokens_in=5, cost=0.0))


def test_cost_before_one_of_several_failed_is_reported() -> None:
    verdict = judge_case("audit", _FailsOnSecondQuestion(honest(FOLLOWED)), samples=2)
    assert (verdict.outcome, verdict.cause) == ("judge_failed", "refused")
    assert verdict.cost is not None
    assert (verdict.cost.calls, verdict.cost.tokens_in) == (4, 35)


def test_what_samples_disagree_on_is_ambiguous() -> None:
    other = honest(FOLLOWED)
    other["steps"][1] |= {"status": "missing", "evidence": [], "events": []}
    verdict = judge_case("audit", WaveringModel(honest(FOLLOWED), other), samples=2)
    assert [step.status for step in verdict.steps] == [
        Status.EXECUTED,
        Status.AMBIGUOUS,
        Status.EXECUTED,
    ]
    assert verdict.samples is not None
    assert verdict.samples.agreement == pytest.approx(2 / 3, abs=0.01)


def test_scores_of_samples_have_a_median() -> None:
    verdict = judge_case(
        "prompt", WaveringModel(score_answer(0.25), score_answer(1.0), score_answer(0.5)), samples=3
    )
    assert (verdict.score, verdict.reason) == (0.5, score_answer(0.5)["reason"])
    assert verdict.samples is not None
    assert verdict.samples.scores == (0.25, 1.0, 0.5)
    assert verdict.samples.spread == 0.75


def test_a_panel_takes_the_lowest_verdict_and_shows_all() -> None:
    one = FakeModel(honest(FOLLOWED), name="fake:one")
    other = FakeModel(inventing(FOLLOWED), name="fake:other")
    verdict = judge_case("audit", one, other)
    assert verdict.score == 0.0
    assert [(each.model, each.score) for each in verdict.panel] == [
        ("fake:one", 1.0),
        ("fake:other", 0.0),
    ]
    assert verdict.judge is not None
    assert verdict.judge.models == ("fake:one", "fake:other")
    assert verdict.cost is not None
    assert verdict.cost.calls == 5


def test_panels_and_samples_have_distinct_fingerprints() -> None:
    one, other = FakeModel({}, name="fake:one"), FakeModel({}, name="fake:other")
    opened = [
        open_judge("audit", [one]),
        open_judge("audit", [one], samples=2),
        open_judge("audit", [one, other]),
        open_judge("cascade", [one]),
    ]
    assert len({judge.fingerprint for judge in opened}) == 4


def test_judges_are_opened_with_what_they_need() -> None:
    with pytest.raises(InvalidInput, match="uses no model"):
        open_judge("rules", ["openai:x"])
    with pytest.raises(InvalidInput, match="needs a model"):
        open_judge("audit")
    assert open_judge("rules").name == "rules"
    assert judge_unopened().outcome == "judge_failed"


def judge_unopened() -> Verdict:
    return evaluate(
        plan=FOLLOWED["agent_plan"],
        trace=FOLLOWED["execution_trace"],
        judge=open_judge("audit", [UnopenedModel("openai:x")]),
    )
