"""The judge `audit`: a model cites evidence, the program verifies it and computes the score."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from planproof.checking.case_evidence import CaseEvidence
from planproof.checking.rules import Rules
from planproof.contracts.contract_file import contract_digest
from planproof.core.content import Content
from planproof.core.digests import compute_fingerprint
from planproof.core.finding import Findings
from planproof.core.judge import Judgement, ModelOptions
from planproof.core.model import Model, Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.vocabulary import Vocabulary
from planproof.llm.audit.audit_findings import ClaimVerifier, VerifiedClaims
from planproof.llm.audit.audit_questions import Auditor, AuditResponse, AuditScope
from planproof.llm.audit.citations import warn_about_instructions, warn_about_unread_calls
from planproof.llm.audit.step_kinds import StepKinds
from planproof.llm.plan_answers import AnswersByPlan
from planproof.llm.prompting.templates import compute_prompts_digest


@dataclass(frozen=True, slots=True)
class AuditingJudge:
    """Base of judges that combine the rules with a model's audit."""

    asks_model: ClassVar[bool] = True

    vocabulary: Vocabulary
    model: Model
    options: ModelOptions
    _kinds_by_plan: AnswersByPlan[StepKinds] = field(
        default_factory=AnswersByPlan[StepKinds], kw_only=True, repr=False, compare=False
    )

    @property
    def fingerprint(self) -> str:
        """A hash of the prompts, the rules, the model, and the options for its questions."""
        options = self.options
        return compute_fingerprint(
            type(self).__name__,
            compute_prompts_digest(),
            Rules(self.vocabulary).fingerprint,
            self.model.fingerprint,
            *(options.budget, options.doubt, options.image_urls),
            *((contract_digest(options.contract),) if options.contract else ()),
            *((options.catalogue.digest,) if options.catalogue else ()),
        )

    def _build_auditor(
        self, case: tuple[Content, Plan, Trace], scope: AuditScope | None = None
    ) -> Auditor:
        _, plan, trace = case

        def build_verifier() -> ClaimVerifier:
            return ClaimVerifier(CaseEvidence(plan, trace, self.vocabulary))

        return Auditor(self.model, self.options, case, build_verifier, self._kinds_by_plan, scope)

    def _build_judgement(
        self, trace: Trace, response: AuditResponse, verified: VerifiedClaims, findings: Findings
    ) -> Judgement:
        """Build the judgement from the findings, with usage, coverage and warnings."""
        return Judgement(
            findings=findings,
            models=(self.model.name,),
            usage=response.usage,
            shown=response.shown,
            notes=response.notes,
            rejected=verified.rejected,
            warnings=(
                *response.warnings,
                *warn_about_instructions(trace),
                *warn_about_unread_calls(trace, verified.rejected),
            ),
        )


@dataclass(frozen=True, slots=True)
class Audit(AuditingJudge):
    """The model gives statuses, event ids and quotes, but no score and no order."""

    name: str = "audit"

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """Ask about every step and every event, and return the findings that are verified."""
        auditor = self._build_auditor((task, plan, trace))
        response = await auditor.ask()
        verified = auditor.verify_claims(response.claims)
        return self._build_judgement(trace, response, verified, verified.findings)

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """Return the first questions about a case, without follow-up questions."""
        return self._build_auditor((task, plan, trace)).questions()
