"""The judge `cascade`: use the rules where they are confident, and ask a model about the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from planproof.checking.contract_judge import bind_metadata, summarize_contract
from planproof.checking.extras import find_extras
from planproof.checking.plan_findings import assemble_findings, reset_order
from planproof.checking.run_check import check_run
from planproof.checking.similarity_analysis import Analysis, analyze
from planproof.core.content import Content
from planproof.core.contract import Contract
from planproof.core.finding import Extra, Findings, Severity, Status, StepFinding
from planproof.core.judge import Judgement
from planproof.core.model import Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.verdict import ContractSummary
from planproof.llm.audit.audit_answers import ClaimedExtra
from planproof.llm.audit.audit_judge import AuditingJudge
from planproof.llm.audit.audit_questions import AuditScope
from planproof.llm.audit.citations import warn_about_instructions

RULES, CONTRACT, MODEL = "rules", "contract", "audit"
_MAX_EVENTS_BY_SCORE = 6
"""Number of best-scoring events shown to the model for each unsure step."""


@dataclass(frozen=True, slots=True)
class Cascade(AuditingJudge):
    """Keeps the rules' findings if they leave little doubt; asks a model about the unsure ones."""

    name: str = "cascade"

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """Judge a case by the contract or the rules, and ask a model about what they leave open."""
        if self.contract is not None:
            return await self._judge_by_contract((task, plan, trace))
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
        if self.contract is not None:
            scope = _build_contract_scope(trace, self._check_contract(plan, trace))
        else:
            _, scope = _split_by_confidence(plan, trace, analysis, self.options.doubt)
        if scope is None:
            return ()
        return self._build_auditor((task, plan, trace), analysis, scope).questions()

    @property
    def contract(self) -> Contract | None:
        """The contract to check first; without one, the rules are asked."""
        return self.options.contract

    @property
    def summary(self) -> ContractSummary | None:
        """What verdicts say about the contract."""
        return None if self.contract is None else summarize_contract(self.contract)

    @property
    def allow_drift(self) -> bool:
        """True if the given plan may differ from the one that the contract was compiled from."""
        return self.options.allow_drift

    def bind(self, metadata: Mapping[str, object]) -> Cascade:
        """Return this judge with the contract's variables bound to the metadata of a case."""
        if self.contract is None or not self.contract.variables:
            return self
        bound = bind_metadata(self.contract, metadata, self.options.variables)
        return replace(self, options=replace(self.options, variables=bound))

    def _check_contract(self, plan: Plan, trace: Trace) -> Findings:
        assert self.contract is not None
        return check_run(self.contract, plan, trace, self.vocabulary, self.options.variables)

    async def _judge_by_contract(self, case: tuple[Content, Plan, Trace]) -> Judgement:
        """Check the contract, and ask a model only about the steps that it leaves open."""
        _, plan, trace = case
        found = self._check_contract(plan, trace)
        scope = _build_contract_scope(trace, found)
        if scope is None:
            return Judgement(findings=found, notes=found.notes)
        analysis = analyze(plan, trace, self.vocabulary)
        auditor = self._build_auditor(case, analysis, scope)
        response = await auditor.ask()
        verified = auditor.verify_claims(response.claims)
        findings = _replace_open_steps(plan, trace, found, verified.findings, scope)
        return self._build_judgement(trace, response, verified, findings)


def _build_contract_scope(trace: Trace, findings: Findings) -> AuditScope | None:
    """Return the steps that a contract leaves open, and the events that no other step covers."""
    unsettled = [s for s in findings.counted_steps if s.status is Status.AMBIGUOUS]
    if not unsettled:
        return None
    numbers = {step.number for step in unsettled}
    settled = {s.number: list(s.covers) for s in findings.counted_steps if s.number not in numbers}
    covered = {event for events in settled.values() for event in events}
    return AuditScope(
        steps=tuple(step.number for step in unsettled),
        events=tuple(event.id for event in trace.events if event.id not in covered),
        settled_steps=settled,
        settled_extras={},
    )


def _replace_open_steps(
    plan: Plan, trace: Trace, found: Findings, audited: Findings, scope: AuditScope
) -> Findings:
    """Return the findings of the contract with the audited ones for the steps it left open."""
    by_number = {step.number: step for step in audited.steps}
    leaves = {step.number for step in plan.leaves}
    steps = [
        replace(reset_order(by_number[step.number]), found_by=MODEL)
        if step.number in scope.steps and step.number in by_number
        else replace(reset_order(step), found_by=CONTRACT)
        for step in found.steps
        if step.number in leaves
    ]
    combined = assemble_findings(plan, trace, steps)
    covered = {event for step in combined if step.number in scope.steps for event in step.covers}
    extras = tuple(
        replace(extra, found_by=CONTRACT) for extra in found.extras if extra.event not in covered
    )
    return Findings(combined, extras)


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
