"""The judge that asks only where it must: `rules` where they are sure, a model about the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planproof.checking.analysis import Weighed, weigh
from planproof.checking.extras import extras_of
from planproof.checking.plan_findings import assembled
from planproof.core.content import Content
from planproof.core.finding import Extra, Findings, Severity, StepFinding
from planproof.core.judgement import Judgement
from planproof.core.model import Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.llm.audit.audit_answers import ClaimedExtra
from planproof.llm.audit.audit_questions import Scope
from planproof.llm.audit.auditing import AuditingJudge
from planproof.llm.audit.citations import about_orders

RULES, MODEL = "rules", "audit"
_NEAREST = 6
"""Events that a model is shown of an unsure step: those that fit it best."""


@dataclass(frozen=True, slots=True)
class Cascade(AuditingJudge):
    """A verdict of the rules stands if it leaves little doubt; if not, a model settles the rest."""

    name: str = "cascade"

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """What the rules find, and what a model finds where they are unsure."""
        weighed = weigh(plan, trace, self.vocabulary)
        sure, scope = _divided(plan, trace, weighed, self.asking.doubt)
        if scope is None:
            return Judgement(findings=_found_by(sure, None), warnings=about_orders(trace))
        auditor = self._auditor((task, plan, trace), weighed, scope)
        asked = await auditor.asked()
        examined = auditor.examined(asked.claims)
        return self._judgement(trace, asked, examined, _found_by(examined.findings, scope))

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """What would be asked about a case: nothing where the rules are sure."""
        weighed = weigh(plan, trace, self.vocabulary)
        _, scope = _divided(plan, trace, weighed, self.asking.doubt)
        if scope is None:
            return ()
        return self._auditor((task, plan, trace), weighed, scope).questions()


def doubt_of(findings: Findings) -> float:
    """How much doubt findings leave together."""
    return sum(1 - found.sureness for found in (*findings.counted, *findings.extras))


def _divided(
    plan: Plan, trace: Trace, weighed: Weighed, doubt: float
) -> tuple[Findings, Scope | None]:
    """What the rules find, and what of it has to be asked about to be left with so little doubt."""
    steps = assembled(plan, trace, weighed.found)
    findings = Findings(steps, extras_of(weighed.units, weighed.explanation, trace, steps))
    left = doubt_of(findings)
    unsure: list[StepFinding | Extra] = []
    weighty = sorted((*findings.counted, *findings.extras), key=lambda found: found.sureness)
    for found in weighty:
        if left <= doubt:
            break
        unsure.append(found)
        left -= 1 - found.sureness
    if not unsure:
        return findings, None
    return findings, _scope(plan, trace, weighed, findings, unsure)


def _scope(
    plan: Plan,
    trace: Trace,
    weighed: Weighed,
    findings: Findings,
    unsure: Sequence[StepFinding | Extra],
) -> Scope:
    asked = {found.number for found in unsure if isinstance(found, StepFinding)}
    open_extras = {found.event for found in unsure if isinstance(found, Extra)}
    events = set(open_extras)
    for index, step in enumerate(plan.leaves):
        if step.number in asked:
            events |= _needed(index, weighed)
    by_number = {found.number: found for found in findings.steps}
    return Scope(
        steps=tuple(step.number for step in plan.leaves if step.number in asked),
        events=tuple(event.id for event in trace.events if event.id in events),
        settled={
            step.number: list(by_number[step.number].covers)
            for step in plan.leaves
            if step.number not in asked
        },
        extras={
            extra.event: ClaimedExtra(extra.event, extra.severity is Severity.MINOR)
            for extra in findings.extras
            if extra.event not in open_extras
        },
    )


def _needed(step: int, weighed: Weighed) -> set[str]:
    """The events that the rules give a step, and those that fit it best."""
    fits = weighed.explanation.affinity
    ranked = sorted(range(len(weighed.units)), key=lambda unit: -fits[unit][step])
    chosen = [*weighed.explanation.runs[step], *ranked[:_NEAREST]]
    return {weighed.units[unit].event.id for unit in chosen}


def _found_by(findings: Findings, scope: Scope | None) -> Findings:
    """The same findings, each with who found it; where nobody was asked, that were the rules."""
    settled = None if scope is None else scope.settled
    kept = frozenset[str]() if scope is None else frozenset(scope.extras)
    parents = {step.parent for step in findings.steps}

    def finder(step: StepFinding) -> str:
        is_settled = settled is None or step.number in settled or step.number in parents
        return RULES if is_settled else MODEL

    return Findings(
        tuple(replace(step, found_by=finder(step)) for step in findings.steps),
        tuple(
            replace(extra, found_by=RULES if scope is None or extra.event in kept else MODEL)
            for extra in findings.extras
        ),
    )
