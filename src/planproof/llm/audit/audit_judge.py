"""The judge that checks: a model names evidence, the program looks it up and computes the score."""

from __future__ import annotations

from dataclasses import dataclass

from planproof.checking.analysis import weigh
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
        auditor = self._auditor((task, plan, trace), weigh(plan, trace, self.vocabulary))
        asked = await auditor.asked()
        examined = auditor.examined(asked.claims)
        return self._judgement(trace, asked, examined, examined.findings)

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """What would be asked about a case, as long as every answer stands."""
        weighed = weigh(plan, trace, self.vocabulary)
        return self._auditor((task, plan, trace), weighed).questions()
