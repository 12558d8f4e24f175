"""Ask what kind of work each step of a plan asks for, before any trace is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from planproof.core.catalogue import Catalogue
from planproof.core.content import Content
from planproof.core.contract import Contract, Requirement
from planproof.core.model import Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.llm.answer_fields import Text, wrap_in_list
from planproof.llm.prompting.escaping import (
    clip_middle,
    compute_mark,
    wrap_in_fence,
    wrap_in_guillemets,
    write_name,
)
from planproof.llm.prompting.templates import compute_prompts_digest, render

_MAX_TOOLS_SHARE = 4
_MIN_STEP_CHARS = 40


class StepKind(StrEnum):
    """The kind of work that a step, or a part of it, asks for."""

    ACT = "act"
    CHECK = "check"
    TELL = "tell"
    THINK = "think"


StepKinds: TypeAlias = Mapping[str, frozenset[StepKind]]
"""The kinds of each step, by its number."""
STRICTEST = frozenset({StepKind.ACT})
"""The kinds of a step that has none: nothing else is as hard to prove."""
CALL_KINDS = frozenset({StepKind.ACT, StepKind.CHECK})
"""Kinds that require a call, a command or a hand-off; text alone does not carry them out."""


# Class docstrings and field descriptions below are part of the JSON schema that models are sent.
class StepKindsAnswer(BaseModel):
    """What a step asks for."""

    model_config = ConfigDict(extra="ignore")

    step: Text = Field(description="Number of the step, as printed in the plan.")
    kind: Annotated[
        list[Literal["act", "check", "tell", "think"]], BeforeValidator(wrap_in_list)
    ] = Field(description="What the step asks for; several for a step of several parts.")


class KindsAnswer(BaseModel):
    """The kinds of all steps."""

    model_config = ConfigDict(extra="ignore")

    kinds: list[StepKindsAnswer]


def build_kinds_question(plan: Plan, catalogue: Catalogue | None, budget: int) -> Question:
    """Return the question about the kinds of all steps; it does not depend on a trace."""
    mark = compute_mark(Content(), plan, Trace(()))
    tools = _write_tools(catalogue, budget // _MAX_TOOLS_SHARE)
    instructions = render(
        "audit_kinds.jinja",
        tools=bool(tools),
        complete=catalogue is not None and catalogue.is_complete,
    )
    remaining = budget - len(instructions) - len(tools)
    longest = max(_MIN_STEP_CHARS, remaining // (2 * max(1, len(plan.steps))))
    parents = {step.parent for step in plan.steps}
    lines = [
        f"{'heading' if step.number in parents else 'step'} {write_name(step.number)} "
        f"{wrap_in_guillemets(clip_middle(step.text, longest))}"
        for step in plan.steps
    ]
    parts = [wrap_in_fence("plan", "\n".join(lines), mark)]
    if tools:
        parts.append(wrap_in_fence("tools", tools, mark))
    return Question(instructions, ("\n\n".join(parts),), KindsAnswer, compute_prompts_digest())


def _write_tools(catalogue: Catalogue | None, max_chars: int) -> str:
    lines: list[str] = []
    remaining = max_chars
    for tool in () if catalogue is None else catalogue.tools:
        line = f"{write_name(tool.name)}({', '.join(map(write_name, tool.arguments))})"
        remaining -= len(line) + 1
        if remaining < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def parse_kinds(answer: KindsAnswer) -> StepKinds:
    """Return the kinds in an answer; of a step that is answered twice all of them."""
    kinds: dict[str, frozenset[StepKind]] = {}
    for step in answer.kinds:
        number = step.step.strip()
        kinds[number] = kinds.get(number, frozenset()) | frozenset(map(StepKind, step.kind))
    return {number: found or STRICTEST for number, found in kinds.items()}


def read_contract_kinds(contract: Contract) -> StepKinds:
    """Return the kinds of the steps whose requirements a contract states."""
    kinds = {
        step.number: frozenset(_classify(requirement) for requirement in step.all_of)
        for step in contract.steps
        if step.all_of and all(map(_states_kind, step.all_of))
    }
    return {number: found for number, found in kinds.items() if found}


def _states_kind(requirement: Requirement) -> bool:
    return all(each.like is None for each in requirement.alternatives)


def _classify(requirement: Requirement) -> StepKind:
    """Return the kind of a requirement; of alternatives the one that is easiest to prove."""
    return max(map(_classify_one, requirement.alternatives), key=_EASE.index)


_EASE = (StepKind.ACT, StepKind.CHECK, StepKind.TELL, StepKind.THINK)


def _classify_one(requirement: Requirement) -> StepKind:
    if requirement.names_action:
        return StepKind.ACT
    return StepKind.TELL if requirement.message is not None else StepKind.THINK


def are_known(kinds: StepKinds, numbers: Iterable[str]) -> bool:
    """Return whether the kinds of all these steps are known."""
    return all(number in kinds for number in numbers)
