"""Combine several judgements into one: samples of one model, or a panel of several models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median_low

from planproof.checking.plan_findings import assemble_findings, reset_order
from planproof.core.async_bridge import gather_or_cancel
from planproof.core.content import Content
from planproof.core.digests import compute_fingerprint
from planproof.core.finding import Extra, Findings, Severity, Status, StepFinding
from planproof.core.judge import Judgement, ModelJudge, with_totals
from planproof.core.model import ModelFailed, Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.usage import Usage
from planproof.core.verdict import Opinion, Samples
from planproof.reasons import write_reason
from planproof.scoring import compute_score


@dataclass(frozen=True, slots=True)
class SampledJudge:
    """Runs a judge several times, each with its own sample; disagreement becomes ambiguous."""

    judges: tuple[ModelJudge, ...]

    @property
    def name(self) -> str:
        """The name of the judge."""
        return self.judges[0].name

    @property
    def fingerprint(self) -> str:
        """A hash of the judge's fingerprint and the number of samples."""
        return compute_fingerprint(self.judges[0].fingerprint, len(self.judges))

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """Judge a case; steps on which the samples disagree become ambiguous."""
        judgements = await _judge_all(self.judges, task, plan, trace)
        scores = [_get_score(judgement) for judgement in judgements]
        middle = median_low(scores)
        findings = [
            judgement.findings for judgement in judgements if judgement.findings is not None
        ]
        if findings:
            merged_findings = _merge_findings(findings, plan, trace)
            agreement = _compute_agreement(findings)
            first = replace(judgements[0], findings=merged_findings)
        else:
            first = judgements[scores.index(middle)]
            agreement = scores.count(middle) / len(scores)
        samples = Samples(
            scores=tuple(scores),
            median=middle,
            agreement=round(agreement, 2),
            spread=round(max(scores) - min(scores), 4),
        )
        return replace(with_totals(first, judgements), samples=samples)

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """Return the questions of all samples."""
        return tuple(q for judge in self.judges for q in judge.questions(task, plan, trace))


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel of models: the lowest verdict counts, and all are reported."""

    judges: tuple[ModelJudge, ...]

    @property
    def name(self) -> str:
        """The name of the judge that asks each model."""
        return self.judges[0].name

    @property
    def fingerprint(self) -> str:
        """A hash of the fingerprints of all judges."""
        return compute_fingerprint(*(judge.fingerprint for judge in self.judges))

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """Return the judgement with the lowest score; the first of equal ones."""
        judgements = await _judge_all(self.judges, task, plan, trace)
        scores = [_get_score(judgement) for judgement in judgements]
        panel = tuple(
            Opinion(
                model=", ".join(judgement.models), score=score, reason=_get_reason(judgement, score)
            )
            for judgement, score in zip(judgements, scores, strict=True)
        )
        lowest = judgements[scores.index(min(scores))]
        return replace(with_totals(lowest, judgements), panel=panel)

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """Return the questions for all models."""
        return tuple(q for judge in self.judges for q in judge.questions(task, plan, trace))


async def _judge_all(
    judges: Sequence[ModelJudge], task: Content, plan: Plan, trace: Trace
) -> list[Judgement]:
    paid: list[Usage] = []

    async def judge_one(judge: ModelJudge) -> Judgement:
        try:
            judgement = await judge.judge(task, plan, trace)
        except ModelFailed as failed:
            paid.append(failed.usage)
            raise
        paid.append(judgement.usage)
        return judgement

    try:
        return await gather_or_cancel(map(judge_one, judges))
    except ModelFailed as failed:
        # One judge failed; report the cost of the others as well.
        raise ModelFailed(
            failed.cause, failed.detail, model=failed.model, usage=sum(paid, Usage())
        ) from None


def _get_score(judgement: Judgement) -> float:
    if judgement.findings is not None:
        return compute_score(judgement.findings)
    assert judgement.score is not None
    return judgement.score


def _get_reason(judgement: Judgement, number: float) -> str:
    return (
        judgement.reason if judgement.findings is None else write_reason(judgement.findings, number)
    )


def _compute_agreement(samples: Sequence[Findings]) -> float:
    columns = list(zip(*(findings.steps for findings in samples), strict=True))
    return sum(len({step.status for step in column}) == 1 for column in columns) / len(columns)


def _merge_findings(samples: Sequence[Findings], plan: Plan, trace: Trace) -> Findings:
    """Return the first sample's findings, with steps on which others disagree made ambiguous.

    An extra found by any sample is an extra, with the highest severity that any sample gave it.
    """
    parents = {step.parent for step in plan.steps}
    leaf_findings = [
        _merge_step(column)
        for column in zip(*(findings.steps for findings in samples), strict=True)
        if column[0].number not in parents
    ]
    steps = assemble_findings(plan, trace, leaf_findings)
    cited = {evidence.event for step in steps for evidence in step.evidence}
    extras: dict[str, Extra] = {}
    for extra in (extra for findings in samples for extra in findings.extras):
        before = extras.get(extra.event)
        is_higher = before is None or before.severity is Severity.MINOR
        if is_higher and (extra.event not in cited or extra in samples[0].extras):
            extras[extra.event] = extra
    ordered = tuple(extras[event.id] for event in trace.events if event.id in extras)
    return Findings(steps, ordered)


def _merge_step(column: Sequence[StepFinding]) -> StepFinding:
    """Merge the findings of all samples on one step; the order of steps is checked later."""
    first = column[0]
    statuses = list(dict.fromkeys(step.status for step in column))
    if len(statuses) > 1 or len({step.waived for step in column}) > 1:
        alternatives = " or ".join(status.value.replace("_", " ") for status in statuses)
        return replace(
            first, status=Status.AMBIGUOUS, note=f"samples disagree: {alternatives}", waived=False
        )
    return reset_order(first)
