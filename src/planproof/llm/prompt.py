"""The judge `prompt`: a model gives score and reason; the program checks their form."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, ClassVar, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from planproof.checking.rules import Rules
from planproof.core.content import Content
from planproof.core.digests import fingerprint_of
from planproof.core.finding import Findings, Status, StepFinding
from planproof.core.judge import Asking
from planproof.core.judgement import PROMPT, Judgement, Shown
from planproof.core.model import Cause, Model, ModelFailed, Question
from planproof.core.plan import Plan
from planproof.core.trace import Kind, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.llm.audit.citations import about_orders
from planproof.llm.prompting.case_prompt import CaseWriter
from planproof.llm.prompting.prompt_images import ImageRules
from planproof.llm.prompting.templates import UserTemplate, digest_of_prompts, render
from planproof.llm.reason_check import check_against_case
from planproof.reasons import check_reason, write_reason

_OF_THE_AGENT = frozenset({Kind.ACTION, Kind.MESSAGE, Kind.REASONING, Kind.BOOKKEEPING})
_USER = "user"
_LONGEST_REASON = 4_000


def _of_some_length(reason: str) -> str:
    if not 0 < len(reason) <= _LONGEST_REASON:
        raise ValueError(f"a reason has 1 to {_LONGEST_REASON:,} characters")
    return reason


class ScoreAndReason(BaseModel):
    """Score and reason, as the specification has them."""

    model_config = ConfigDict(extra="forbid")

    # Strict, for true is no score, and neither is "80%".
    score: Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
    # Checked here and not in the schema: servers that hold a model to it make a grammar of it,
    # and one that counts thousands of letters takes minutes.
    reason: Annotated[str, AfterValidator(_of_some_length)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Asks the specification's question, in the project's own words or in a user's template."""

    asks_model: ClassVar[bool] = True

    model: Model
    asking: Asking
    vocabulary: Vocabulary | None = None
    name: str = PROMPT

    def __post_init__(self) -> None:
        if self._template is not None:
            self._template.checked()

    @property
    def fingerprint(self) -> str:
        """Changes with the words, the model and the budget."""
        words = self._template.digest if self._template else digest_of_prompts()
        asking = self.asking
        # The release decides how a case is written, and the vocabulary what keeps books in it.
        known = Rules(self.vocabulary or Vocabulary()).fingerprint
        return fingerprint_of(
            words, known, self.model.fingerprint, asking.budget, asking.image_urls
        )

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """What the model says of the case, and what is wrong with how it says it."""
        deadline = time.monotonic() + self.asking.deadline
        question, shown, notes = self._asked(task, plan, trace)
        answer = await self.model.ask(question, deadline=deadline)
        given = cast("ScoreAndReason", answer.value)
        judgement = Judgement(
            score=given.score,
            reason=given.reason,
            models=(answer.model,),
            usage=answer.usage,
            shown=shown,
            notes=notes,
            warnings=(
                *check_reason(given.reason),
                *check_against_case(given.reason, task, plan, trace),
                *about_orders(trace),
            ),
        )
        return judgement if _agent_did_something(trace) else _held_down(judgement, plan)

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """The one that would be asked about a case; raises `ModelFailed` when it is too long."""
        return (self._asked(task, plan, trace)[0],)

    def _asked(
        self, task: Content, plan: Plan, trace: Trace
    ) -> tuple[Question, Shown, tuple[str, ...]]:
        """The question, how much of the case it shows, and what it leaves out whatever the room."""
        rules = ImageRules(allow_urls=self.asking.image_urls)
        writer = CaseWriter(task, plan, trace, budget=self.asking.budget, images=rules)
        template = self._template
        if template is None:
            instructions = _instructions(images=writer.has_images)
            written = writer.whole(instructions)
        else:
            instructions = render("beside_template.jinja", mark=writer.mark)
            written = writer.in_template(template, instructions)
        if not written.fits:
            raise ModelFailed(
                Cause.TOO_LONG,
                f"not even a line for each of the {len(written.events):,} events fits into "
                f"{self.asking.budget:,} characters.",
            )
        digest = template.digest if template else digest_of_prompts()
        question = Question(instructions, written.parts, ScoreAndReason, digest, self.asking.sample)
        shown = Shown(
            events=len(written.events), shortened=written.shortened, images=written.images
        )
        return question, shown, writer.notes

    @property
    def _template(self) -> UserTemplate | None:
        return None if self.asking.template is None else UserTemplate(self.asking.template)


@cache
def _instructions(*, images: bool) -> str:
    return render("prompt.jinja", images=images, mark="")


def _agent_did_something(trace: Trace) -> bool:
    return any(event.kind in _OF_THE_AGENT and event.actor != _USER for event in trace.events)


def _held_down(judgement: Judgement, plan: Plan) -> Judgement:
    """Where the agent did nothing, no step was executed, whatever a model says."""
    if not judgement.score:
        return judgement
    missing = Findings(
        tuple(
            StepFinding(
                number=step.number, text=step.text, status=Status.MISSING, sureness=1.0,
                parent=step.parent,
            )
            for step in plan.steps
        )
    )  # fmt: skip
    said = f"The model gave {judgement.score}, but the trace has no event of the agent."
    return replace(
        judgement,
        score=0.0,
        reason=write_reason(missing, 0.0),
        warnings=(*judgement.warnings, said),
    )
