"""What judges have in common that let a model name evidence: what they rest on, what they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from planproof.content import Content
from planproof.digests import fingerprint_of
from planproof.finding import Findings
from planproof.judgement import Judgement
from planproof.judges.asking import Model
from planproof.judges.audit_asking import Asked, Auditor, Scope
from planproof.judges.audit_findings import Examination, Examined
from planproof.judges.citations import about_orders
from planproof.judges.prompting.templates import digest_of_prompts
from planproof.judges.protocol import Asking
from planproof.judges.rules import Rules
from planproof.judges.weighing import Weighed
from planproof.plan import Plan
from planproof.trace import Trace
from planproof.vocabulary import Vocabulary


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
