"""Infer a plan from a trace with a model, with a quote as evidence for every step.

The result describes what the agent seems to have followed. Judging the same trace against it is
circular, so it is always marked `inferred`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import cast

from pydantic import BaseModel, ConfigDict, Field

from planproof.core.async_bridge import gather_or_cancel
from planproof.core.content import Content
from planproof.core.finding import Evidence
from planproof.core.judge import ModelOptions
from planproof.core.model import Answer, Cause, Model, ModelFailed, Question
from planproof.core.plan import Origin, Plan
from planproof.core.trace import Trace
from planproof.core.usage import Usage
from planproof.core.verdict import RejectedEvidence
from planproof.llm.audit.citations import QuoteResolver
from planproof.llm.prompting.case_prompt import CaseWriter
from planproof.llm.prompting.prompt_images import ImageRules
from planproof.llm.prompting.templates import compute_prompts_digest, render
from planproof.planning.step_builder import make_step

_MOST_STEPS = 200
_LONGEST_TEXT = 1_000


# Class docstrings and field descriptions below are part of the JSON schema that models are sent.
class CitedQuote(BaseModel):
    """An event, and words that stand in it."""  # words: exempt

    model_config = ConfigDict(extra="ignore")

    event: str = Field(description="Id of one event, such as e4.")
    quote: str = Field(description="Words copied from that event, letter by letter.")


class InferredStep(CitedQuote):
    """A step, and from what it follows."""

    text: str


class InferredPlanAnswer(BaseModel):
    """The whole answer."""

    model_config = ConfigDict(extra="ignore")

    task: CitedQuote | None
    steps: list[InferredStep]


@dataclass(frozen=True, slots=True, kw_only=True)
class InferredPlan:
    """An inferred plan with evidence for its steps and the task.

    `rejected` is the evidence that could not be verified.
    """

    plan: Plan
    evidence: tuple[Evidence, ...]
    task: Evidence | None
    rejected: tuple[RejectedEvidence, ...]
    model: str
    usage: Usage


async def infer_plan(
    trace: Trace, model: Model, options: ModelOptions | None = None
) -> InferredPlan:
    """Ask a model for the plan behind a trace; steps without a verified quote are dropped."""
    answers = await _ask_model(trace, model, options or ModelOptions())
    plan_answers = [cast("InferredPlanAnswer", answer.value) for answer in answers]
    quotes = QuoteResolver(trace)
    rejected: list[RejectedEvidence] = []
    evidence_by_text: dict[str, Evidence] = {}
    for step in (step for plan_answer in plan_answers for step in plan_answer.steps):
        evidence = quotes.resolve_non_instruction(step.event, step.quote)
        if isinstance(evidence, Evidence) and step.text.strip():
            evidence_by_text.setdefault(" ".join(step.text.split())[:_LONGEST_TEXT], evidence)
        elif isinstance(evidence, str):
            rejected.append(_build_rejection(step, step.text, evidence))
    tasks = [plan_answer.task for plan_answer in plan_answers if plan_answer.task is not None][:1]
    task = quotes.resolve_non_instruction(tasks[0].event, tasks[0].quote) if tasks else None
    if isinstance(task, str):
        rejected.append(_build_rejection(tasks[0], None, task))
    limited = list(evidence_by_text.items())[:_MOST_STEPS]
    steps = (make_step(str(number), text) for number, (text, _) in enumerate(limited, 1))
    return InferredPlan(
        plan=Plan(tuple(steps), Origin.INFERRED),
        evidence=tuple(evidence for _, evidence in limited),
        task=task if isinstance(task, Evidence) else None,
        rejected=tuple(rejected),
        model=model.name,
        usage=sum((answer.usage for answer in answers), Usage()),
    )


async def _ask_model(trace: Trace, model: Model, options: ModelOptions) -> Sequence[Answer]:
    """Return a model's answers about a trace: one, or one per window."""
    deadline = monotonic() + options.deadline
    rules = ImageRules(allow_urls=options.image_urls)
    writer = CaseWriter(Content(), Plan(()), trace, budget=options.budget, images=rules)
    instructions = render("infer.jinja", mark="")
    windows = writer.write_windows(instructions)
    if not all(window.within_budget for window in windows):
        message = f"even one line per event does not fit into {options.budget:,} characters"
        raise ModelFailed(Cause.TOO_LONG, message, model=model.name)
    questions = (
        Question(instructions, window.parts, InferredPlanAnswer, compute_prompts_digest())
        for window in windows
    )
    return await gather_or_cancel(model.ask(question, deadline=deadline) for question in questions)


def _build_rejection(citation: CitedQuote, step: str | None, why: str) -> RejectedEvidence:
    return RejectedEvidence(step=step, event=citation.event, quote=citation.quote, why=why)
