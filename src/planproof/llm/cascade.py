"""The judge `cascade`: use the rules where they are confident, and ask a model about the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planproof.checking.extras import find_extras
from planproof.checking.plan_findings import assemble_findings
from planproof.checking.similarity_analysis import Analysis, analyze
from planproof.core.content import Content
from planproof.core.finding import Extra, Findings, Severity, StepFinding
from planproof.core.judge import Judgement
from planproof.core.model import Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.llm.audit.audit_answers import ClaimedExtra
from planproof.llm.audit.audit_judge import AuditingJudge
from planproof.llm.audit.audit_questions import AuditScope
from planproof.llm.audit.citations import warn_about_instructions

RULES, MODEL = "rules", "audit"
_MAX_EVENTS_BY_SCORE = 6
"""Number of best-scoring events shown to the model for each unsure step."""


@dataclass(frozen=True, slots=True)
class Cascade(AuditingJudge):
    """Keeps the rules' findings if they leave little doubt; asks a model about the unsure ones."""

    name: str = "cascade"

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """Judge a case by the rules, and ask a model about the findings they are unsure of."""
        analysis = analyze(plan, trace, self.vocabulary)
        rules_findings, scope = _split_by_confidence(plan, trace, analysis, self.options.doubt)
        if scope is None:
            return Judgement(
                findings=_mark_finder(rules_findings, None), warnings=warn_about_instructions(trace)
            )
        auditor = self._build_auditor((task, plan, trace), analysis, scope)
        response = await auditor.ask()
        verified = auditor.verify_claims(response.claims)
        return self._build_judgement(
            trace, response, verified, _mark_finder(verified.findings, scope)
        )

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """Return the questions for a case; none if the rules are confident."""
        analysis = analyze(plan, trace, self.vocabulary)
        _, scope = _split_by_confidence(plan, trace, analysis, self.options.doubt)
        if scope is None:
            return ()
        return self._build_auditor((task, plan, trace), analysis, scope).questions()


def sum_doubt(findings: Findings) -> float:
    """Return the total doubt of findings: the sum of 1 minus their confidence."""
    return sum(1 - finding.confidence for finding in (*findings.counted_steps, *findings.extras))


def _split_by_confidence(
    plan: Plan, trace: Trace, analysis: Analysis, max_doubt: float
) -> tuple[Findings, AuditScope | None]:
    """Return the rules' findings and the scope to ask a model about.

    The least confident findings go into the scope until the doubt of the others is at most
    `max_doubt`; the scope is None if there are none.
    """
    steps = assemble_findings(plan, trace, analysis.step_findings)
    findings = Findings(steps, find_extras(analysis.candidates, analysis.alignment, trace, steps))
    remaining_doubt = sum_doubt(findings)
    unsure: list[StepFinding | Extra] = []
    by_confidence = sorted(
        (*findings.counted_steps, *findings.extras), key=lambda finding: finding.confidence
    )
    for finding in by_confidence:
        if remaining_doubt <= max_doubt:
            break
        unsure.append(finding)
        remaining_doubt -= 1 - finding.confidence
    if not unsure:
        return findings, None
    return findings, _build_scope(plan, trace, analysis, findings, unsure)


def _build_scope(
    plan: Plan,
    trace: Trace,
    analysis: Analysis,
    findings: Findings,
    unsure: Sequence[StepFinding | Extra],
) -> AuditScope:
    unsure_steps = {finding.number for finding in unsure if isinstance(finding, StepFinding)}
    unsure_extras = {finding.event for finding in unsure if isinstance(finding, Extra)}
    events = set(unsure_extras)
    for index, step in enumerate(plan.leaves):
        if step.number in unsure_steps:
            events |= _select_events(index, analysis)
    by_number = {finding.number: finding for finding in findings.steps}
    return AuditScope(
        steps=tuple(step.number for step in plan.leaves if step.number in unsure_steps),
        events=tuple(event.id for event in trace.events if event.id in events),
        settled_steps={
            step.number: list(by_number[step.number].covers)
            for step in plan.leaves
            if step.number not in unsure_steps
        },
        settled_extras={
            extra.event: ClaimedExtra(extra.event, extra.severity is Severity.MINOR)
            for extra in findings.extras
            if extra.event not in unsure_extras
        },
    )


def _select_events(step: int, analysis: Analysis) -> set[str]:
    """Return the events that the rules assign to a step, and those with the best scores for it."""
    scores = analysis.alignment.scores
    ranked = sorted(range(len(analysis.candidates)), key=lambda candidate: -scores[candidate][step])
    chosen = [*analysis.alignment.assigned[step], *ranked[:_MAX_EVENTS_BY_SCORE]]
    return {analysis.candidates[candidate].event.id for candidate in chosen}


def _mark_finder(findings: Findings, scope: AuditScope | None) -> Findings:
    """Set `found_by` on every finding; without a scope all findings are the rules'."""
    settled = None if scope is None else scope.settled_steps
    settled_extras = frozenset[str]() if scope is None else frozenset(scope.settled_extras)
    parents = {step.parent for step in findings.steps}

    def get_finder(step: StepFinding) -> str:
        is_settled = settled is None or step.number in settled or step.number in parents
        return RULES if is_settled else MODEL

    return Findings(
        tuple(replace(step, found_by=get_finder(step)) for step in findings.steps),
        tuple(
            replace(
                extra, found_by=RULES if scope is None or extra.event in settled_extras else MODEL
            )
            for extra in findings.extras
        ),
    )
