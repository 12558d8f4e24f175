"""The judge that checks: a model names evidence, the program looks it up and computes the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import ClassVar

from planproof.content import Content
from planproof.judgement import Judgement
from planproof.judges.asking import Model, Question
from planproof.judges.audit_asking import Auditor
from planproof.judges.audit_findings import Examination
from planproof.judges.citations import addressed
from planproof.judges.prompting.templates import digest_of_prompts
from planproof.judges.protocol import Asking
from planproof.judges.rules import Rules
from planproof.judges.weighing import weigh
from planproof.phrases import listed, named
from planproof.plan import Plan
from planproof.trace import Trace
from planproof.vocabulary import Vocabulary

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Audit:
    """A model gives statuses, event ids and quotes; it gives no score and no order."""

    asks_model: ClassVar[bool] = True

    vocabulary: Vocabulary
    model: Model
    asking: Asking
    name: str = "audit"

    @property
    def fingerprint(self) -> str:
        """Changes with the prompts, the rules, the model and how much of a case it is shown."""
        return fingerprint_of(self.vocabulary, self.model, self.asking.budget)

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """Ask about every step and every event; what is left of the answer are the findings."""
        weighed = weigh(plan, trace, self.vocabulary)
        examination = Examination(plan, trace, weighed)
        asked = await self._auditor(task, plan, trace, examination).asked()
        examined = examination.of(asked.claims)
        return Judgement(
            findings=examined.findings,
            models=(self.model.name,),
            usage=asked.usage,
            shown=asked.shown,
            notes=asked.notes,
            rejected=examined.rejected,
            warnings=(*asked.warnings, *about_orders(trace)),
        )

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """What would be asked about a case, as long as every answer stands."""
        examination = Examination(plan, trace, weigh(plan, trace, self.vocabulary))
        return self._auditor(task, plan, trace, examination).questions()

    def _auditor(
        self, task: Content, plan: Plan, trace: Trace, examination: Examination
    ) -> Auditor:
        return Auditor(self.model, self.asking, (task, plan, trace), examination)


def fingerprint_of(vocabulary: Vocabulary, model: Model, *settings: object) -> str:
    """One for a judge that asks a model and knows what the rules know."""
    parts = (digest_of_prompts(), Rules(vocabulary).fingerprint, model.name, *map(str, settings))
    return sha256("\0".join(parts).encode()).hexdigest()[:12]


def about_orders(trace: Trace) -> Sequence[str]:
    """Says which events speak to whoever judges: that is worth knowing of a trace."""
    events = tuple(addressed(trace))
    if not events:
        return ()
    verb = "speaks" if len(events) == 1 else "speak"
    subject = f"{listed(events, _MOST_NAMED, named)} {verb}"
    return (f"{subject} to whoever judges, or of steps as done: no evidence of anything",)
