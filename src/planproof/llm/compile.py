"""Compile a plan into a contract with a model, from the plan and the tool catalogue alone.

The answer is converted to a contract and validated. If something is wrong, the model is asked once
more and told what; if it is still wrong, there is no contract.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from time import monotonic
from typing import Any, cast

from msgspec.structs import replace

from planproof.contracts.catalogues import read_catalogue
from planproof.contracts.contract_file import steps_digest
from planproof.contracts.contract_validation import check_contract
from planproof.contracts.generic_tools import is_generic
from planproof.core.async_bridge import run_sync
from planproof.core.catalogue import Catalogue
from planproof.core.content import Json
from planproof.core.contract import Contract, ContractOrigin, StepContract
from planproof.core.judge import ModelOptions
from planproof.core.model import Cause, Model, ModelFailed, Question
from planproof.core.plan import Plan, Step
from planproof.core.usage import Usage
from planproof.errors import InvalidInput
from planproof.llm.compile_answers import CompileAnswer, StepAnswer, build_step, fold
from planproof.llm.prompting.escaping import (
    clip_middle,
    escape_text,
    wrap_in_fence,
    wrap_in_guillemets,
    write_name,
)
from planproof.llm.prompting.templates import compute_prompts_digest, render
from planproof.planning.plan_parser import parse_given_plan

_MARK_DIGITS = 20
_MAX_PROBLEMS = 30
_LONGEST_PROBLEM = 400
_LONGEST_FAILURE = 500
_OPTIONAL_WORDS = frozenset(
    "optional optionally (optional) [optional] may might can could if where when like wish want "
    "desired needed necessary possible helpful useful skip free".split()
)
"""Words without which a quote does not say that a step may be left out."""


@dataclass(frozen=True, slots=True)
class CompiledContract:
    """A contract that a model wrote, what it or the validator doubts, and the usage."""

    contract: Contract
    doubts: tuple[str, ...]
    usage: Usage


async def acompile_plan(
    plan: Plan | Json,
    catalogue: Catalogue | Path | Json | None,
    model: str | Model,
    options: ModelOptions | None = None,
) -> CompiledContract:
    """Ask a model for the contract of a plan.

    `catalogue` may be anything that `read_catalogue` reads; None if the tools are not known.
    Raises `ModelFailed` if neither of the model's two answers is a valid contract.
    """
    parsed = parse_given_plan(plan)
    if not parsed.leaves:
        raise InvalidInput("no steps found in the plan.", advice="Write one step per line.")
    if not isinstance(catalogue, Catalogue | None):
        catalogue = read_catalogue(catalogue)
    opened = _open_model(model) if isinstance(model, str) else model
    return await _ask(parsed, catalogue, opened, options or ModelOptions())


def compile_plan(
    plan: Plan | Json,
    catalogue: Catalogue | Path | Json | None,
    model: str | Model,
    options: ModelOptions | None = None,
) -> CompiledContract:
    """Ask a model for the contract of a plan; see `acompile_plan`."""
    return run_sync(acompile_plan(plan, catalogue, model, options))


async def _ask(
    plan: Plan, catalogue: Catalogue | None, model: Model, options: ModelOptions
) -> CompiledContract:
    deadline = monotonic() + options.deadline
    usage, problem, errors = Usage(), "", list[str]()
    for _ in range(2):
        question = build_question(plan, catalogue, options.budget, problem)
        if question is None:
            message = f"plan and tools do not fit into {options.budget:,} characters"
            raise ModelFailed(Cause.TOO_LONG, message, model=model.name, usage=usage)
        reply = await model.ask(question, deadline=deadline)
        usage += reply.usage
        answer = cast("CompileAnswer", reply.value)
        contract = _build_contract(plan, answer, catalogue, model)
        errors, doubts = _check(plan, answer, contract, catalogue)
        if not errors:
            return CompiledContract(contract, doubts, usage)
        wrong = "\n".join(f"- {clip_middle(error, _LONGEST_PROBLEM)}" for error in errors)
        problem = f"{_write_answer(answer)}\n\nWhat is wrong:\n{wrong}"
    listed = "; ".join(error.rstrip(".") for error in errors)
    detail = f"the contract is not valid: {clip_middle(listed, _LONGEST_FAILURE)}."
    raise ModelFailed(Cause.INVALID_ANSWER, detail, model=model.name, usage=usage)


def build_question(
    plan: Plan, catalogue: Catalogue | None, budget: int, problem: str = ""
) -> Question | None:
    """Return the question for a plan and a catalogue; None if it exceeds the budget.

    `problem` is the last answer, with what is wrong with it.
    """
    tools, steps = _write_tools(catalogue), _write_plan(plan.steps)
    mark = sha256(f"{tools}\0{steps}".encode("utf-8", "surrogatepass")).hexdigest()[:_MARK_DIGITS]
    instructions = render(
        "compile.jinja",
        mark=mark,
        has_tools=catalogue is not None and bool(catalogue.tools),
        is_complete=catalogue is not None and catalogue.is_complete,
        examples=_write_examples(),
    )
    parts = [wrap_in_fence("tools", tools, mark), wrap_in_fence("plan", steps, mark)]
    if problem:
        fenced = wrap_in_fence("answer", "\n".join(map(escape_text, problem.split("\n"))), mark)
        parts.append(render("compile_again.jinja", problem=fenced))
    if len(instructions) + sum(map(len, parts)) > budget:
        return None
    return Question(instructions, tuple(parts), CompileAnswer, compute_prompts_digest())


def _write_tools(catalogue: Catalogue | None) -> str:
    """Write a catalogue, one tool per line."""
    if catalogue is None or not catalogue.tools:
        return "not known"
    lines: list[str] = []
    for tool in catalogue.tools:
        generic = " [generic]" if is_generic(tool.name) else ""
        text = f" {wrap_in_guillemets(tool.description)}" if tool.description else ""
        lines.append(
            f"{write_name(tool.name)}({', '.join(map(write_name, tool.arguments))}){generic}{text}"
        )
    return "\n".join(lines)


def _write_plan(steps: Sequence[Step]) -> str:
    """Write the steps of a plan, one per line."""
    return "\n".join(f"{escape_text(step.number)}. {_write_step(step)}" for step in steps)


def _write_step(step: Step) -> str:
    """Write the text of a step, and what the plan says about it outside its text."""
    remarks: list[str] = []
    if step.condition and fold(step.condition) not in fold(step.text):
        remarks.append(f" [condition: {wrap_in_guillemets(step.condition)}]")
    if step.optional and "optional" not in step.text.lower():
        remarks.append(" [optional]")
    return wrap_in_guillemets(step.text) + "".join(remarks)


@cache
def _write_examples() -> tuple[str, ...]:
    """Write the examples of the prompt in the form of questions and answers."""
    return tuple(
        f"{'All tools' if catalogue.is_complete else 'Tools seen'}:\n{_write_tools(catalogue)}\n"
        f"Plan:\n{_write_plan(plan.steps)}\nAnswer:\n{_write_answer(answer)}"
        for plan, catalogue, answer in load_examples()
    )


def load_examples() -> Iterator[tuple[Plan, Catalogue, CompileAnswer]]:
    """Yield the examples of the prompt: a plan, a catalogue, and the right answer."""
    text = files("planproof.llm").joinpath("prompts/compile_examples.json").read_text("utf-8")
    for example in cast("list[dict[str, Any]]", json.loads(text)):
        tools = read_catalogue(example["tools"]).tools
        yield (
            parse_given_plan(example["plan"]),
            Catalogue(tools, example["is_complete"]),
            CompileAnswer.model_validate(example["answer"]),
        )


def _write_answer(answer: CompileAnswer) -> str:
    """Write an answer as JSON, one step per line."""
    steps = [
        json.dumps(
            # As in an answer from the cache, which has all fields.
            step.model_dump(by_alias=True, exclude_defaults=True),
            ensure_ascii=False,
        )
        for step in answer.steps
    ]
    return '{"steps": [\n' + ",\n".join(steps) + "\n]}"


def _build_contract(
    plan: Plan, answer: CompileAnswer, catalogue: Catalogue | None, model: Model
) -> Contract:
    """Build the contract; steps that the answer leaves out have no requirements."""
    answers = {answered.number: answered for answered in answer.steps}
    leaves = {step.number for step in plan.leaves}
    steps = tuple(
        build_step(answers[step.number], step, plan)
        if step.number in leaves and step.number in answers
        else _start_step(step)
        for step in plan.steps
    )
    return _start_contract(plan, steps, catalogue, f"model {model.name}")


def build_skeleton(plan: Plan, catalogue: Catalogue | None) -> Contract:
    """Build a contract in which nothing is stated yet, for a person to fill in."""
    leaves = {step.number for step in plan.leaves}
    steps = tuple(
        _start_step(step, uncheckable="not stated yet" if step.number in leaves else None)
        for step in plan.steps
    )
    return _start_contract(plan, steps, catalogue, "")


def _start_step(step: Step, *, uncheckable: str | None = None) -> StepContract:
    return StepContract(
        number=step.number,
        text=step.text,
        free_order=step.free_order,
        uncheckable=uncheckable,
        parent=step.parent,
    )


def _start_contract(
    plan: Plan, steps: tuple[StepContract, ...], catalogue: Catalogue | None, compiler: str
) -> Contract:
    """Return a contract with the digests of plan and catalogue."""
    origin = ContractOrigin(plan=plan.origin, compiler=compiler)
    if catalogue is not None and catalogue.tools:
        origin = replace(
            origin,
            catalogue="complete" if catalogue.is_complete else "observed",
            catalogue_digest=catalogue.digest,
        )
    return Contract(plan=steps_digest(plan.steps), origin=origin, steps=steps)


def _check(
    plan: Plan, answer: CompileAnswer, contract: Contract, catalogue: Catalogue | None
) -> tuple[list[str], tuple[str, ...]]:
    """Return what is wrong with an answer, and what a person should look at."""
    errors = [*_check_answer(plan, answer)]
    doubts: list[str] = []
    if not errors:  # problems of a contract for another plan would only distract
        for problem in check_contract(contract, catalogue):
            (errors if problem.is_error else doubts).append(
                " ".join(filter(None, (f"{problem.path}:", problem.what, problem.advice)))
            )
        doubts += [f"step {step.number}: {step.doubt}" for step in answer.steps if step.doubt]
    if len(errors) > _MAX_PROBLEMS:
        errors[_MAX_PROBLEMS:] = [f"and {len(errors) - _MAX_PROBLEMS} more"]
    return errors, tuple(doubts)


def _check_answer(plan: Plan, answer: CompileAnswer) -> Iterator[str]:
    """Yield what is wrong with an answer that the contract alone does not show."""
    by_number = {step.number: step for step in plan.steps}
    for number, count in Counter(step.number for step in answer.steps).items():
        if number not in by_number:
            yield f"step {number}: the plan has no such step"
        if count > 1:
            yield f"step {number}: answered {count} times"
    answers = {step.number: step for step in answer.steps}
    for step in plan.leaves:
        answered = answers.get(step.number)
        if answered is None:
            yield f"step {step.number}: not answered"
        else:
            parent = by_number.get(step.parent) if step.parent else None
            yield from _check_step(answered, step, parent)
    if plan.leaves and all(
        (answered := answers.get(step.number)) is not None and answered.optional
        for step in plan.leaves
    ):
        yield "every step is optional: a run that does nothing would pass"


def _check_step(answer: StepAnswer, step: Step, parent: Step | None) -> Iterator[str]:
    where = f"step {step.number}"
    if fold(answer.text) not in (fold(step.text), fold(wrap_in_guillemets(step.text)[1:-1])):
        yield f"{where}: `text` is not the text of this step of the plan; copy it"
    if answer.uncheckable and answer.all_of:
        yield f"{where}: has both `all_of` and `uncheckable`; give one of them"
    if any(
        part.any_of and len(part.model_dump(exclude_defaults=True)) > 1 for part in answer.all_of
    ):
        yield f"{where}: a requirement with `any_of` must have no other field"
    words = fold(f"{_write_step(step)} {_write_step(parent) if parent else ''}")
    if answer.optional and not (
        fold(answer.optional) in words
        and (step.optional or _OPTIONAL_WORDS & set(fold(answer.optional).split()))
    ):
        yield f"{where}: `optional` must quote words of the step that allow leaving it out"
    if answer.when and (not answer.when.for_.strip() or fold(answer.when.for_) not in words):
        yield f"{where}: `when.for` must quote the condition as the step states it"


def _open_model(name: str) -> Model:
    from planproof.llm.model_settings import ModelSettings  # noqa: PLC0415 - with the models
    from planproof.llm.providers import open_model  # noqa: PLC0415 - heavy

    return open_model(name, settings=ModelSettings())
