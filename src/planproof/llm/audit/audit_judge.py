"""The judge that checks: a model names evidence, the program looks it up and computes the score."""

from __future__ import annotations

from dataclasses import dataclass

from planproof.checking.analysis import analyze
from planproof.core.content import Content
from planproof.core.judgement import Judgement
from planproof.core.model import Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.llm.audit.auditing import AuditingJudge


@dataclass(frozen=True, slots=True)
class Audit(AuditingJudge):
    """A model gives statuses, event ids and quotes; it gives no score and no order."""

    name: str = "audit"

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """Ask about every step and every event; what is left of the answer are the findings."""
        auditor = self._build_auditor((task, plan, trace), analyze(plan, trace, self.vocabulary))
        response = await auditor.ask()
        verified = auditor.verify_claims(response.claims)
        return self._build_judgement(trace, response, verified, verified.findings)

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """What would be asked about a case, as long as every answer stands."""
        analysis = analyze(plan, trace, self.vocabulary)
        return self._build_auditor((task, plan, trace), analysis).questions()
