"""The judge `prompt`: a model gives score and reason; the program checks their form."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, repeat
from operator import contains
from typing import Annotated, ClassVar, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from planproof.checking.event_text import collect_strings
from planproof.checking.rules import Rules
from planproof.core.content import Content, Json
from planproof.core.digests import compute_fingerprint
from planproof.core.finding import Findings, Status, StepFinding
from planproof.core.judge import PROMPT, Judgement, ModelOptions, PromptCoverage
from planproof.core.model import Cause, Model, ModelFailed, Question
from planproof.core.phrases import QUOTED_TEXT, find_step_ranges, quote_text
from planproof.core.plan import Plan
from planproof.core.quotes import is_quote_in, to_searchable_text
from planproof.core.trace import Event, Kind, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.llm.audit.citations import warn_about_instructions
from planproof.llm.prompting.case_prompt import CaseWriter
from planproof.llm.prompting.prompt_images import ImageRules
from planproof.llm.prompting.templates import UserTemplate, compute_prompts_digest, render
from planproof.reasons import check_reason, write_reason

_AGENT_KINDS = frozenset({Kind.ACTION, Kind.MESSAGE, Kind.REASONING, Kind.BOOKKEEPING})
_USER = "user"
_MAX_REASON_CHARS = 4_000


def _check_length(reason: str) -> str:
    if not 0 < len(reason) <= _MAX_REASON_CHARS:
        raise ValueError(f"a reason has 1 to {_MAX_REASON_CHARS:,} characters")
    return reason


class ScoreAndReason(BaseModel):
    """Score and reason, as the specification has them."""

    model_config = ConfigDict(extra="forbid")

    # Strict: neither true nor "80%" is a valid score.
    score: Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
    # Checked here and not in the schema: servers with constrained decoding compile the schema into
    # a grammar, and a limit of thousands of characters takes them minutes.
    reason: Annotated[str, AfterValidator(_check_length)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Asks the specification's question, with the built-in prompt or a user's template."""

    asks_model: ClassVar[bool] = True

    model: Model
    options: ModelOptions
    vocabulary: Vocabulary | None = None
    name: str = PROMPT

    def __post_init__(self) -> None:
        if self._template is not None:
            self._template.validate()

    @property
    def fingerprint(self) -> str:
        """A hash of the prompts, the model and the budget."""
        prompts_digest = self._template.digest if self._template else compute_prompts_digest()
        options = self.options
        # The version affects how a case is written, the vocabulary which events are bookkeeping.
        known = Rules(self.vocabulary or Vocabulary()).fingerprint
        return compute_fingerprint(
            prompts_digest, known, self.model.fingerprint, options.budget, options.image_urls
        )

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """Return the model's score and reason, with warnings about statements not in the case."""
        deadline = time.monotonic() + self.options.deadline
        question, shown, notes = self._build_question(task, plan, trace)
        answer = await self.model.ask(question, deadline=deadline)
        result = cast("ScoreAndReason", answer.value)
        judgement = Judgement(
            score=result.score,
            reason=result.reason,
            models=(answer.model,),
            usage=answer.usage,
            shown=shown,
            notes=notes,
            warnings=(
                *check_reason(result.reason),
                *check_against_case(result.reason, task, plan, trace),
                *warn_about_instructions(trace),
            ),
        )
        return judgement if _has_agent_events(trace) else _cap_score(judgement, plan)

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """Return the question for a case; raises `ModelFailed` if the case is too long."""
        return (self._build_question(task, plan, trace)[0],)

    def _build_question(
        self, task: Content, plan: Plan, trace: Trace
    ) -> tuple[Question, PromptCoverage, tuple[str, ...]]:
        """Return the question, its coverage of the case, and notes on what is never sent."""
        rules = ImageRules(allow_urls=self.options.image_urls)
        writer = CaseWriter(task, plan, trace, budget=self.options.budget, images=rules)
        template = self._template
        if template is None:
            instructions = _render_instructions(images=writer.has_images)
            written_case = writer.write_whole(instructions)
        else:
            instructions = render("beside_template.jinja", mark=writer.mark)
            written_case = writer.render_template(template, instructions)
        if not written_case.within_budget:
            raise ModelFailed(
                Cause.TOO_LONG,
                f"even one line for each of the {len(written_case.events):,} events does not fit "
                f"into {self.options.budget:,} characters.",
            )
        digest = template.digest if template else compute_prompts_digest()
        question = Question(
            instructions, written_case.parts, ScoreAndReason, digest, self.options.sample
        )
        shown = PromptCoverage(
            events=len(written_case.events),
            shortened=written_case.shortened,
            images=written_case.image_count,
        )
        return question, shown, writer.notes

    @property
    def _template(self) -> UserTemplate | None:
        return None if self.options.template is None else UserTemplate(self.options.template)


@cache
def _render_instructions(*, images: bool) -> str:
    return render("prompt.jinja", images=images, mark="")


def _has_agent_events(trace: Trace) -> bool:
    return any(event.kind in _AGENT_KINDS and event.actor != _USER for event in trace.events)


def _cap_score(judgement: Judgement, plan: Plan) -> Judgement:
    """Set the score to 0 in a trace where the agent did nothing, whatever the model says."""
    if not judgement.score:
        return judgement
    missing = Findings(
        tuple(
            StepFinding(
                number=step.number, text=step.text, status=Status.MISSING, confidence=1.0,
                parent=step.parent,
            )
            for step in plan.steps
        )
    )  # fmt: skip
    warning = f"The model gave {judgement.score}, but the trace has no events of the agent."
    return replace(
        judgement,
        score=0.0,
        reason=write_reason(missing, 0.0),
        warnings=(*judgement.warnings, warning),
    )


_EVENT = re.compile(r"(?<![\w.])e\d{1,9}\b")
_NUMBERED_IDS = re.compile(r"e\d{1,9}")
_PUNCTUATION = " \t\n.,;:!?"
_MAX_QUOTES = 20


def check_against_case(reason: str, task: Content, plan: Plan, trace: Trace) -> tuple[str, ...]:
    """Return warnings about quotes, step numbers and event ids in a reason that the case lacks."""
    bare = QUOTED_TEXT.sub("“”", reason)
    return (
        *_check_step_numbers(bare, plan),
        *_check_event_ids(bare, trace),
        *_check_quotes(reason, task, plan, trace),
    )


def _check_step_numbers(bare: str, plan: Plan) -> Iterator[str]:
    numbers = {step.number for step in plan.steps}
    named = dict.fromkeys(number for mentioned in find_step_ranges(bare) for number in mentioned)
    for number in named:
        if number not in numbers:
            yield f"The reason names step {number}, which is not in the plan."


def _check_event_ids(bare: str, trace: Trace) -> Iterator[str]:
    unknown = [event for event in _EVENT.findall(bare) if event not in trace.by_id]
    if unknown and all(map(_NUMBERED_IDS.fullmatch, trace.by_id)):
        # Ids of another form can't be distinguished from words.
        for event in dict.fromkeys(unknown):
            yield f"The reason names event {event}, which is not in the trace."


def _check_quotes(reason: str, task: Content, plan: Plan, trace: Trace) -> Iterator[str]:
    candidates = (match[0][1:-1].strip(_PUNCTUATION) for match in QUOTED_TEXT.finditer(reason))
    quotes = list(dict.fromkeys(quote for quote in candidates if quote))[:_MAX_QUOTES]
    task_and_plan = [task.text, *(step.text for step in plan.steps)]
    texts = list(chain(task_and_plan, *map(_list_texts, trace.events)))
    missing = [quote for quote in quotes if not any(map(contains, texts, repeat(quote)))]
    # Only values not found verbatim are searched again, with escapes undone and gaps allowed.
    for value in chain(task_and_plan, *map(_list_values, trace.events)):
        if not missing:
            return
        text = to_searchable_text(value)
        missing = [quote for quote in missing if not is_quote_in(quote, text)]
    for quote in missing:
        yield f"The reason quotes {quote_text(quote)}, which is not in the case."


def _list_texts(event: Event) -> tuple[str, ...]:
    """Return every text of an event, unmodified."""
    about = (event.id, event.kind, event.name or "", event.actor or "", event.text, event.output)
    return about if event.arguments is None else (*about, *collect_strings(event.arguments))


def _list_values(event: Event) -> Iterator[Json]:
    yield from filter(None, (event.text, event.output))
    if event.arguments is not None:
        yield event.arguments
