"""Judges that ask a model: what of their judgement becomes part of the verdict."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace

import pytest

from planproof.core.case import Case
from planproof.core.content import Content
from planproof.core.judge import Judgement, PromptCoverage
from planproof.core.model import Cause, ModelFailed, Question, Usage
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.verdict import RejectedEvidence, Verdict
from planproof.evaluation import aevaluate, aevaluate_case, evaluate
from tests.unit.test_evaluation import PLAN, TASK, TRACE, SwornJudge


@dataclass
class ModelJudgeStub:
    """A judge that asks a model, as far as can be seen from here."""

    gives: Judgement | ModelFailed
    name: str = "asked"
    fingerprint: str = "1"

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        await asyncio.sleep(0)
        if isinstance(self.gives, ModelFailed):
            raise self.gives
        return self.gives

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        return ()


GIVEN = Judgement(
    score=0.6,
    reason="Step 2 is missing.",
    models=("openai:x",),
    usage=Usage(calls=2, tokens_in=10),
    shown=PromptCoverage(events=3, shortened=1),
    notes=("e2 was shortened",),
    rejected=(RejectedEvidence(step="1", event="e9", quote="q", why="there is no such event"),),
    warnings=("be careful",),
)


def _evaluate(judge: ModelJudgeStub) -> Verdict:
    return evaluate(task=TASK, plan=PLAN, trace=TRACE, judge=judge)


def test_a_model_may_give_score_and_reason() -> None:
    verdict = _evaluate(ModelJudgeStub(GIVEN))
    assert (verdict.score, verdict.level, verdict.reason) == (0.6, 0.5, "Step 2 is missing.")
    assert verdict.judge is not None
    assert verdict.judge.models == ("openai:x",)
    assert verdict.coverage is not None
    assert (verdict.coverage.shown, verdict.coverage.windows) == (3, 1)
    assert verdict.coverage.notes == ("e2 was shortened",)
    assert (verdict.cost, verdict.warnings) == (GIVEN.usage, ("be careful",))
    assert verdict.full()["rejected"][0]["event"] == "e9"
    assert set(verdict.brief()) == {"score", "reason"}


def test_findings_of_a_model_are_scored_by_the_table() -> None:
    findings = SwornJudge().judge(Content(), Plan(()), Trace(()))
    assert _evaluate(ModelJudgeStub(Judgement(findings=findings, score=0.1))).score == 1.0


@pytest.mark.parametrize("score", [None, 7.5, -3.0, float("nan")])
def test_a_score_that_is_none_is_never_handed_on(score: float | None) -> None:
    verdict = _evaluate(ModelJudgeStub(replace(GIVEN, score=score)))
    assert (verdict.outcome, verdict.score, verdict.cause) == (
        "judge_failed",
        None,
        "invalid_answer",
    )
    assert verdict.cost == GIVEN.usage


def test_a_model_that_fails_is_an_outcome_with_its_cause() -> None:
    failed = ModelFailed(Cause.RATE_LIMITED, "slow down", model="openai:x", usage=Usage(calls=3))
    verdict = _evaluate(ModelJudgeStub(failed))
    assert (verdict.outcome, verdict.cause, verdict.cost) == (
        "judge_failed",
        "rate_limited",
        Usage(3),
    )
    assert "openai:x: rate_limited: slow down" in verdict.reason


def test_a_model_is_asked_from_anywhere() -> None:
    async def within_a_loop() -> tuple[Verdict, Verdict, Verdict]:
        awaited = await aevaluate(task=TASK, plan=PLAN, trace=TRACE, judge=ModelJudgeStub(GIVEN))
        case = Case(task=Content(TASK), plan=PLAN, trace=TRACE)
        return (
            awaited,
            _evaluate(ModelJudgeStub(GIVEN)),
            await aevaluate_case(case, judge=ModelJudgeStub(GIVEN)),
        )

    assert set(map(repr, asyncio.run(within_a_loop()))) == {repr(_evaluate(ModelJudgeStub(GIVEN)))}


def test_the_first_are_asked_about_while_the_last_are_still_to_be_read() -> None:
    noted: list[str] = []

    class Noting:
        name = "noting"

        @property
        def fingerprint(self) -> str:
            noted.append("read")
            return "1"

        async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
            noted.append("asked")
            return await ModelJudgeStub(GIVEN).judge(task, plan, trace)

        def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
            return ()

    async def all_at_once() -> list[Verdict]:
        judge = Noting()
        trace = json.dumps(TRACE)
        return await asyncio.gather(
            *(aevaluate(task=TASK, plan=PLAN, trace=trace, judge=judge) for _ in range(3))
        )

    assert {verdict.score for verdict in asyncio.run(all_at_once())} == {0.6}
    assert noted == ["read", "asked"] * 3
