"""A plan that nobody declared, drawn from a trace by a model, quote by quote.

It says what the agent seems to have followed. To judge the same trace against it goes in a circle,
so it is marked `inferred` wherever it goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import cast

from pydantic import BaseModel, ConfigDict, Field

from planproof.core.content import Content
from planproof.core.finding import Evidence
from planproof.core.gather import together
from planproof.core.judge import Asking
from planproof.core.model import Answer, Cause, Model, ModelFailed, Question
from planproof.core.plan import Origin, Plan
from planproof.core.trace import Trace
from planproof.core.usage import Usage
from planproof.core.verdict import Rejected
from planproof.llm.audit.citations import Quotes
from planproof.llm.prompting.case_prompt import CaseWriter
from planproof.llm.prompting.prompt_images import ImageRules
from planproof.llm.prompting.templates import digest_of_prompts, render
from planproof.planning.step_builder import make_step

_MOST_STEPS = 200
_LONGEST_TEXT = 1_000


class Place(BaseModel):
    """An event, and words that stand in it."""

    model_config = ConfigDict(extra="ignore")

    event: str = Field(description="Id of one event, such as e4.")
    quote: str = Field(description="Words copied from that event, letter by letter.")


class DrawnStep(Place):
    """A step, and from what it follows."""

    text: str


class DrawnPlan(BaseModel):
    """The whole answer."""

    model_config = ConfigDict(extra="ignore")

    task: Place | None
    steps: list[DrawnStep]


@dataclass(frozen=True, slots=True, kw_only=True)
class InferredPlan:
    """A plan with the evidence of each of its steps, and of the task; `rejected` did not stand."""

    plan: Plan
    evidence: tuple[Evidence, ...]
    task: Evidence | None
    rejected: tuple[Rejected, ...]
    model: str
    usage: Usage


async def infer_plan(trace: Trace, model: Model, asking: Asking | None = None) -> InferredPlan:
    """Ask a model for the plan behind a trace; what it can't quote is left out."""
    answers = await _answers(trace, model, asking or Asking())
    drawn = [cast("DrawnPlan", answer.value) for answer in answers]
    quotes = Quotes(trace)
    rejected: list[Rejected] = []
    found: dict[str, Evidence] = {}
    for step in (step for each in drawn for step in each.steps):
        evidence = quotes.told(step.event, step.quote)
        if isinstance(evidence, Evidence) and step.text.strip():
            found.setdefault(" ".join(step.text.split())[:_LONGEST_TEXT], evidence)
        elif isinstance(evidence, str):
            rejected.append(_rejected(step, step.text, evidence))
    tasks = [each.task for each in drawn if each.task is not None][:1]
    task = quotes.told(tasks[0].event, tasks[0].quote) if tasks else None
    if isinstance(task, str):
        rejected.append(_rejected(tasks[0], None, task))
    kept = list(found.items())[:_MOST_STEPS]
    steps = (make_step(str(number), text) for number, (text, _) in enumerate(kept, 1))
    return InferredPlan(
        plan=Plan(tuple(steps), Origin.INFERRED),
        evidence=tuple(evidence for _, evidence in kept),
        task=task if isinstance(task, Evidence) else None,
        rejected=tuple(rejected),
        model=model.name,
        usage=sum((answer.usage for answer in answers), Usage()),
    )


async def _answers(trace: Trace, model: Model, asking: Asking) -> Sequence[Answer]:
    """The answers of a model about a trace: one, or one a window of it."""
    deadline = monotonic() + asking.deadline
    rules = ImageRules(allow_urls=asking.image_urls)
    writer = CaseWriter(Content(), Plan(()), trace, budget=asking.budget, images=rules)
    instructions = render("infer.jinja", mark="")
    windows = writer.windows(instructions)
    if not all(window.fits for window in windows):
        words = f"not even a line an event fits into {asking.budget:,} characters"
        raise ModelFailed(Cause.TOO_LONG, words, model=model.name)
    questions = (
        Question(instructions, window.parts, DrawnPlan, digest_of_prompts()) for window in windows
    )
    return await together(model.ask(question, deadline=deadline) for question in questions)


def _rejected(place: Place, step: str | None, why: str) -> Rejected:
    return Rejected(step=step, event=place.event, quote=place.quote, why=why)
