"""The judge `cascade`: the contract or the rules first, and a model for what they leave open.

A contract leaves single steps open. The rules settle a case as a whole or not at all: a finding of
theirs may be wrong although its confidence is high, and one wrong finding changes the score. On
long traces the model is shown less of each event than by `audit`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from planproof.checking.contract_judge import bind_metadata, summarize_contract
from planproof.checking.plan_findings import assemble_findings, reset_order
from planproof.checking.run_check import check_run
from planproof.checking.similarity_analysis import judge_by_similarity
from planproof.core.content import Content
from planproof.core.contract import Contract
from planproof.core.finding import Extra, Findings, Severity, Status, StepFinding
from planproof.core.judge import Judgement
from planproof.core.model import ModelFailed, Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.verdict import ContractSummary
from planproof.llm.audit.audit_answers import ClaimedExtra
from planproof.llm.audit.audit_judge import AuditingJudge
from planproof.llm.audit.audit_questions import Auditor, AuditScope
from planproof.llm.audit.citations import warn_about_instructions
from planproof.llm.prompting.case_prompt import count_characters

RULES, CONTRACT, MODEL = "rules", "contract", "audit"
_LONG_TRACE = 100
"""Events. A shorter trace is shown as by `audit`: most of its question are rules and plan."""
_QUESTION_SHARE = 0.3
"""Share of the characters of an audit that a question about a long trace may have."""
_MIN_TRACE_SHARE = 0.15
"""Share of the trace in it, at least; the instructions and the plan are always whole."""
_BUDGET_STEP = 1.25
_MAX_UNSETTLED = 48_000
"""Characters. Only if all events do not fit into them, findings of the rules are kept unasked."""
_SECOND_QUESTION = 2_000
"""Characters of the budget of a question that are kept free for a second one."""


@dataclass(frozen=True, slots=True)
class Cascade(AuditingJudge):
    """Keeps the rules' findings if they leave little doubt, and asks a model otherwise."""

    name: str = "cascade"

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """Judge a case by the contract or the rules, and ask a model about what they leave open."""
        if self.contract is not None:
            return await self._judge_by_contract((task, plan, trace))
        rules_findings = judge_by_similarity(plan, trace, self.vocabulary)
        if sum_doubt(rules_findings) <= self.options.doubt:
            return Judgement(
                findings=_mark_finder(rules_findings, RULES, None),
                warnings=warn_about_instructions(trace),
            )
        auditor, scope = self._choose_question((task, plan, trace), rules_findings)
        response = await auditor.ask()
        verified = auditor.verify_claims(response.claims)
        return self._build_judgement(
            trace, response, verified, _mark_finder(verified.findings, MODEL, scope)
        )

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """Return the questions for a case; none if the contract or the rules settle it."""
        case = (task, plan, trace)
        if self.contract is not None:
            scope = _build_contract_scope(trace, self._check_contract(plan, trace))
            return () if scope is None else self._build_auditor(case, scope).questions()
        rules_findings = judge_by_similarity(plan, trace, self.vocabulary)
        if sum_doubt(rules_findings) <= self.options.doubt:
            return ()
        return self._choose_question(case, rules_findings)[0].questions()

    def _choose_question(
        self, case: tuple[Content, Plan, Trace], rules_findings: Findings
    ) -> tuple[Auditor, AuditScope | None]:
        """Return the auditor for a case, and its scope; None if it asks about everything.

        A long trace is shown in less detail, so that the question is shorter than that of `audit`.
        """
        trace = case[2]
        whole = self._build_auditor(case)
        if len(trace.events) <= _LONG_TRACE:
            return whole, None
        no_events = AuditScope(steps=(), events=(), settled_steps={}, settled_extras={})
        fixed = _count_characters(self._build_auditor(case, no_events))
        length = _count_characters(whole)
        wanted = max(_QUESTION_SHARE * length, fixed + _MIN_TRACE_SHARE * (length - fixed))
        budget = wanted
        while budget <= min(length, _MAX_UNSETTLED):
            auditor = self._limit_budget(budget).build_whole_auditor(case)
            if _count_characters(auditor) <= budget + _SECOND_QUESTION:
                return auditor, None
            budget *= _BUDGET_STEP
        if length <= _MAX_UNSETTLED:
            return whole, None
        limited = self._limit_budget(wanted)
        return limited.settle_until_it_fits(case, rules_findings) or (whole, None)

    def _limit_budget(self, characters: float) -> Cascade:
        budget = min(self.options.budget, int(characters) + _SECOND_QUESTION)
        return replace(self, options=replace(self.options, budget=budget))

    def build_whole_auditor(self, case: tuple[Content, Plan, Trace]) -> Auditor:
        """Return the auditor that asks about all steps and events."""
        return self._build_auditor(case)

    def settle_until_it_fits(
        self, case: tuple[Content, Plan, Trace], rules_findings: Findings
    ) -> tuple[Auditor, AuditScope] | None:
        """Keep the surest findings of the rules, as few as are needed for a question to fit.

        Return None if none fits.
        """
        _, plan, trace = case
        unsure = sorted(
            (*rules_findings.counted_steps, *rules_findings.extras),
            key=lambda finding: finding.confidence,
        )
        while len(unsure) > 1:
            unsure = unsure[: len(unsure) * 3 // 4]
            scope = _build_scope(plan, trace, rules_findings, unsure)
            auditor = self._build_auditor(case, scope)
            if _count_characters(auditor) <= self.options.budget:
                return auditor, scope
        return None

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
        auditor = self._build_auditor(case, scope)
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
    settled = {s.number: s for s in findings.counted_steps if s.number not in numbers}
    covered = {event for finding in settled.values() for event in finding.covers}
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


def _count_characters(auditor: Auditor) -> int:
    """Return the length of the questions about the trace; a maximum if the case does not fit."""
    try:
        questions = auditor.questions()
    except ModelFailed:
        return sys.maxsize
    # Questions of another kind are about the plan alone.
    about_trace = (one for one in questions if one.answer is questions[-1].answer)
    return sum(map(count_characters, about_trace))


def _build_scope(
    plan: Plan, trace: Trace, findings: Findings, unsure: Sequence[StepFinding | Extra]
) -> AuditScope:
    """Return the steps of the unsure findings, and the events that no other finding covers."""
    unsure_steps = {finding.number for finding in unsure if isinstance(finding, StepFinding)}
    unsure_extras = {finding.event for finding in unsure if isinstance(finding, Extra)}
    by_number = {finding.number: finding for finding in findings.steps}
    settled_steps = {
        step.number: by_number[step.number]
        for step in plan.leaves
        if step.number not in unsure_steps
    }
    settled_extras = {
        extra.event: ClaimedExtra(extra.event, extra.severity is Severity.MINOR)
        for extra in findings.extras
        if extra.event not in unsure_extras
    }
    settled = {event for finding in settled_steps.values() for event in finding.covers}
    settled.update(settled_extras)
    return AuditScope(
        steps=tuple(step.number for step in plan.leaves if step.number in unsure_steps),
        events=tuple(event.id for event in trace.events if event.id not in settled),
        settled_steps=settled_steps,
        settled_extras=settled_extras,
    )


def _mark_finder(findings: Findings, finder: str, scope: AuditScope | None) -> Findings:
    """Set `found_by` on every finding; what is settled in the scope was found by the rules."""
    settled = frozenset[str]() if scope is None else frozenset(scope.settled_steps)
    settled_extras = frozenset[str]() if scope is None else frozenset(scope.settled_extras)
    if scope is not None:
        settled |= {step.parent for step in findings.steps if step.parent is not None}
    return Findings(
        tuple(
            replace(step, found_by=RULES if step.number in settled else finder)
            for step in findings.steps
        ),
        tuple(
            replace(extra, found_by=RULES if extra.event in settled_extras else finder)
            for extra in findings.extras
        ),
    )
