"""Several judgements made into one: samples of the same model, and panels of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median_low

from planproof.checking.plan_findings import assembled, unordered
from planproof.core.content import Content
from planproof.core.digests import fingerprint_of
from planproof.core.finding import Extra, Findings, Severity, Status, StepFinding
from planproof.core.gather import together
from planproof.core.judge import ModelJudge
from planproof.core.judgement import Judgement, with_all
from planproof.core.model import ModelFailed, Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.usage import Usage
from planproof.core.verdict import Opinion, Samples
from planproof.reasons import write_reason
from planproof.scoring import score


@dataclass(frozen=True, slots=True)
class Sampled:
    """The same judge several times; each asks its own sample. What they disagree on is unclear."""

    judges: tuple[ModelJudge, ...]

    @property
    def name(self) -> str:
        """That of the judge."""
        return self.judges[0].name

    @property
    def fingerprint(self) -> str:
        """That of the judge, for so many samples."""
        return fingerprint_of(self.judges[0].fingerprint, len(self.judges))

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """One judgement: steps on which all agree keep their status, the others are ambiguous."""
        given = await _all(self.judges, task, plan, trace)
        scores = [_score(each) for each in given]
        middle = median_low(scores)
        findings = [each.findings for each in given if each.findings is not None]
        if findings:
            agreed = _agreed(findings, plan, trace)
            agreement = _agreement(findings)
            first = replace(given[0], findings=agreed)
        else:
            first = given[scores.index(middle)]
            agreement = scores.count(middle) / len(scores)
        samples = Samples(
            scores=tuple(scores),
            median=middle,
            agreement=round(agreement, 2),
            spread=round(max(scores) - min(scores), 4),
        )
        return replace(with_all(first, given), samples=samples)

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """The questions of all samples."""
        return tuple(q for judge in self.judges for q in judge.questions(task, plan, trace))


@dataclass(frozen=True, slots=True)
class Panel:
    """Several models; the lower verdict stands, and all are shown."""

    judges: tuple[ModelJudge, ...]

    @property
    def name(self) -> str:
        """That of the judge that asks each of them."""
        return self.judges[0].name

    @property
    def fingerprint(self) -> str:
        """One of all of them."""
        return fingerprint_of(*(judge.fingerprint for judge in self.judges))

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """The judgement with the lowest score; the first one, of several."""
        given = await _all(self.judges, task, plan, trace)
        scores = [_score(each) for each in given]
        panel = tuple(
            Opinion(model=", ".join(each.models), score=score, reason=_reason(each, score))
            for each, score in zip(given, scores, strict=True)
        )
        lowest = given[scores.index(min(scores))]
        return replace(with_all(lowest, given), panel=panel)

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """The questions to all models."""
        return tuple(q for judge in self.judges for q in judge.questions(task, plan, trace))


async def _all(
    judges: Sequence[ModelJudge], task: Content, plan: Plan, trace: Trace
) -> list[Judgement]:
    paid: list[Usage] = []

    async def one(judge: ModelJudge) -> Judgement:
        try:
            given = await judge.judge(task, plan, trace)
        except ModelFailed as failed:
            paid.append(failed.usage)
            raise
        paid.append(given.usage)
        return given

    try:
        return await together(map(one, judges))
    except ModelFailed as failed:
        # One of them has failed; what the others cost was paid all the same.
        raise ModelFailed(
            failed.cause, failed.words, model=failed.model, usage=sum(paid, Usage())
        ) from None


def _score(judgement: Judgement) -> float:
    if judgement.findings is not None:
        return score(judgement.findings)
    assert judgement.score is not None
    return judgement.score


def _reason(judgement: Judgement, number: float) -> str:
    return (
        judgement.reason if judgement.findings is None else write_reason(judgement.findings, number)
    )


def _agreement(given: Sequence[Findings]) -> float:
    columns = list(zip(*(found.steps for found in given), strict=True))
    return sum(len({step.status for step in column}) == 1 for column in columns) / len(columns)


def _agreed(given: Sequence[Findings], plan: Plan, trace: Trace) -> Findings:
    """The first findings, with what the others do not agree to made ambiguous.

    Every extra that one of them found is an extra, as grave as any of them found it.
    """
    parents = {step.parent for step in plan.steps}
    found = [
        _common(column)
        for column in zip(*(findings.steps for findings in given), strict=True)
        if column[0].number not in parents
    ]
    steps = assembled(plan, trace, found)
    cited = {one.event for step in steps for one in step.evidence}
    extras: dict[str, Extra] = {}
    for extra in (extra for findings in given for extra in findings.extras):
        before = extras.get(extra.event)
        graver = before is None or before.severity is Severity.MINOR
        if graver and (extra.event not in cited or extra in given[0].extras):
            extras[extra.event] = extra
    ordered = tuple(extras[event.id] for event in trace.events if event.id in extras)
    return Findings(steps, ordered)


def _common(column: Sequence[StepFinding]) -> StepFinding:
    """What all samples found of a step; the order of the steps is settled afterwards."""
    first = column[0]
    statuses = list(dict.fromkeys(step.status for step in column))
    if len(statuses) > 1 or len({step.waived for step in column}) > 1:
        told = " or ".join(status.value.replace("_", " ") for status in statuses)
        return replace(
            first, status=Status.AMBIGUOUS, note=f"samples found it {told}", waived=False
        )
    return unordered(first)
