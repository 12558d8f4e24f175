"""The judge `contract` with a model: compile the plan once, then check every run without it."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import ClassVar

from planproof.checking.contract_judge import summarize_contract
from planproof.checking.run_check import check_run
from planproof.core.content import Content
from planproof.core.digests import compute_fingerprint
from planproof.core.judge import Judgement, ModelOptions
from planproof.core.model import Model, Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.usage import Usage
from planproof.core.vocabulary import Vocabulary
from planproof.llm.compile import CompiledContract, acompile_plan, build_question
from planproof.llm.plan_answers import AnswersByPlan
from planproof.llm.prompting.templates import compute_prompts_digest


@dataclass(frozen=True, slots=True)
class CompilingJudge:
    """Asks a model for the contract of each distinct plan, and checks runs against it."""

    asks_model: ClassVar[bool] = True

    vocabulary: Vocabulary
    model: Model
    options: ModelOptions
    name: str = "contract"
    _compiled: AnswersByPlan[CompiledContract] = field(
        default_factory=AnswersByPlan[CompiledContract], init=False, repr=False, compare=False
    )

    @property
    def fingerprint(self) -> str:
        """A hash of the prompts, the model, the tools and the vocabulary."""
        catalogue = self.options.catalogue
        return compute_fingerprint(
            type(self).__name__,
            compute_prompts_digest(),
            self.model.fingerprint,
            self.options.budget,
            None if catalogue is None else catalogue.digest,
            self.vocabulary.sorted_entries,
        )

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """Check the trace against the contract of its plan; the model never sees the trace."""
        del task
        compiled, usage = await self._compile(plan)
        findings = check_run(compiled.contract, plan, trace, self.vocabulary)
        return Judgement(
            findings=findings,
            models=(self.model.name,),
            usage=usage,
            notes=findings.notes,
            contract=summarize_contract(compiled.contract),
        )

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """Return the question about the plan."""
        del task, trace
        question = build_question(plan, self.options.catalogue, self.options.budget)
        return () if question is None else (question,)

    async def _compile(self, plan: Plan) -> tuple[CompiledContract, Usage]:
        """Return the contract of a plan; only the first case with this plan pays for it."""
        compiled, is_new = await self._compiled.get(
            plan,
            lambda: acompile_plan(plan, self.options.catalogue, self.model, self.options),
            deadline=monotonic() + self.options.deadline,
        )
        return compiled, compiled.usage if is_new else Usage()
