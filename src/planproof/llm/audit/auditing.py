"""What judges have in common that let a model name evidence: what they rest on, what they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from planproof.checking.analysis import Weighed
from planproof.checking.rules import Rules
from planproof.core.content import Content
from planproof.core.digests import fingerprint_of
from planproof.core.finding import Findings
from planproof.core.judge import Asking
from planproof.core.judgement import Judgement
from planproof.core.model import Model
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.vocabulary import Vocabulary
from planproof.llm.audit.audit_findings import Examination, Examined
from planproof.llm.audit.audit_questions import Asked, Auditor, Scope
from planproof.llm.audit.citations import about_orders
from planproof.llm.prompting.templates import digest_of_prompts


@dataclass(frozen=True, slots=True)
class AuditingJudge:
    """Knows what the rules know, and asks a model in a certain way."""

    asks_model: ClassVar[bool] = True

    vocabulary: Vocabulary
    model: Model
    asking: Asking

    @property
    def fingerprint(self) -> str:
        """Changes with the prompts, the rules, the model, and what a model is asked and shown."""
        asking = self.asking
        return fingerprint_of(
            type(self).__name__,
            digest_of_prompts(),
            Rules(self.vocabulary).fingerprint,
            self.model.fingerprint,
            *(asking.budget, asking.doubt, asking.image_urls),
        )

    def _auditor(
        self,
        case: tuple[Content, Plan, Trace],
        weighed: Weighed,
        scope: Scope | None = None,
    ) -> Auditor:
        _, plan, trace = case
        return Auditor(self.model, self.asking, case, Examination(plan, trace, weighed), scope)

    def _judgement(
        self, trace: Trace, asked: Asked, examined: Examined, findings: Findings
    ) -> Judgement:
        """The findings, with how they came about."""
        return Judgement(
            findings=findings,
            models=(self.model.name,),
            usage=asked.usage,
            shown=asked.shown,
            notes=asked.notes,
            rejected=examined.rejected,
            warnings=(*asked.warnings, *about_orders(trace)),
        )
