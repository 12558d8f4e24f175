"""Answer schema of the contract compiler, and its conversion to the steps of a contract.

It is the long form of a contract without what only people may write: tool marks, constraints,
variables, globs, similarity and steps that do not count. Conditions are lists with a `name` instead
of mappings: models keep to that more easily, and one argument may have several.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Annotated

from msgspec.structs import replace
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_serializer

from planproof.core.contract import (
    Condition,
    Conditions,
    MessageCondition,
    Requirement,
    SqlCondition,
    StepContract,
    Times,
    When,
)
from planproof.core.plan import Plan, Step
from planproof.llm.answer_fields import Text, Texts, wrap_in_list


# Class docstrings and field descriptions below are part of the JSON schema that models are sent.
class _AnswerModel(BaseModel):
    # An unknown field is an error: what a model meant by it would not be checked.
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class SqlAnswer(_AnswerModel):
    """What an SQL statement must do."""

    verb: Text | None = Field(None, description="SELECT, INSERT, UPDATE ...")
    tables: Texts = Field([], description="Tables that it must name, all of them.")
    columns: Texts = Field([], description="Columns that it must name, all of them.")


class ValueAnswer(_AnswerModel):
    """A condition on one value. All fields that are given must hold; usually it is one."""

    any_of: Texts = Field([], description="Texts, one of which must occur as whole words.")
    number: int | float | None = None
    tolerance: int | float | None = Field(None, description="How far `number` may be off.")
    min: int | float | None = None
    max: int | float | None = None
    date: Text | None = Field(None, description="2026-03-12, or partial: 2026-03, --03-12.")
    path: Text | None = Field(None, description="A file or folder.")
    url: Text | None = Field(None, description="A web address, or its host and path.")
    program: Texts = Field([], description="Programs, one of which a shell command must run.")
    argument: Texts = Field([], description="Words, one of which that command must be given.")
    calls: Texts = Field([], description="Functions, one of which Python code must call.")
    sql: SqlAnswer | None = None
    any_value: bool = Field(
        default=False, alias="any", description="True: there must be some value."
    )
    not_: Texts = Field([], alias="not", description="Texts that must not occur.")
    from_step: Text | None = Field(
        None, description="Number of an earlier step: the value occurs in what it returned."
    )
    same_as: Text | None = Field(
        None,
        description="Number of an earlier step: the value occurs in its call, or in what it "
        "returned.",
    )
    is_each: bool = Field(
        default=False, alias="each", description="True: the current value of `each`."
    )
    for_: Text | None = Field(
        None, alias="for", description="The words of the step that the value stands for, copied."
    )


class _Named(_AnswerModel):
    name: Text = Field(description="Name of the argument; * stands for whichever holds it.")


# The order of the bases puts `name` first in schema and examples.
class ConditionAnswer(ValueAnswer, _Named):
    """A condition on an argument of a call."""


_Conditions = Annotated[list[ConditionAnswer], BeforeValidator(wrap_in_list)]


class MessageAnswer(_AnswerModel):
    """What a message or a thought of the agent must say."""

    to: Text | None = Field(None, description="Who is addressed, if not the user.")
    says: list[Texts] = Field([], description="Groups; one text of each group must occur.")
    values: Annotated[list[ValueAnswer], BeforeValidator(wrap_in_list)] = Field(
        [], description="Values that must occur: numbers, dates, ids."
    )
    asks: bool = Field(default=False, description="True if it must ask something.")
    not_: Texts = Field([], alias="not", description="Texts that must not occur.")


class TimesAnswer(_AnswerModel):
    """How often; `max` null means any number."""

    min: int = 1
    max: int | None = None

    @model_serializer
    def _write_both(self) -> dict[str, int | None]:
        return {"min": self.min, "max": self.max}


class AlternativeAnswer(_AnswerModel):
    """One thing that must be visible: a call, a message, or reasoning."""

    call: Texts = Field([], description="Names of tools, one of which must be called.")
    is_: _Conditions = Field([], alias="is", description="Which action it is.")
    where: _Conditions = Field([], description="With which values.")
    absent: Texts = Field([], description="Arguments that must not be given.")
    message: MessageAnswer | None = None
    reasoning: MessageAnswer | None = None
    times: TimesAnswer | None = Field(None, description="How often; once if null.")
    each: Texts = Field([], description="Values, for each of which it must be done once.")
    each_from: Text | None = Field(
        None, description="Number of a step: once for each item of the list that it returned."
    )
    with_: Texts = Field(
        [], alias="with", description="Tools whose calls in between belong to this as well."
    )
    by: Text | None = Field(
        None, description="The agent that must do it, only if the step names one."
    )


class RequirementAnswer(AlternativeAnswer):
    """One thing that must be visible, or `any_of` several, and then nothing else."""

    any_of: list[AlternativeAnswer] = []


class WhenAnswer(_AnswerModel):
    """The condition of a step ("if ...")."""

    for_: Text = Field(alias="for", description="The words of the step that state it, copied.")
    step: Text | None = Field(None, description="Number of the step whose result decides it.")
    result: _Conditions = Field([], description="Conditions on keys of that JSON result.")


class StepAnswer(_AnswerModel):
    """What a run must show for one step."""

    number: Text = Field(description="As printed in the plan.")
    text: Text = Field(description="The text of the step, copied.")
    all_of: Annotated[list[RequirementAnswer], BeforeValidator(wrap_in_list)] = Field(
        [], description="Everything that must be visible."
    )
    ordered: bool = Field(
        default=False, description="True: what is in `all_of` must begin in that order."
    )
    uncheckable: Text | None = Field(None, description="Why nothing can be seen of it in a run.")
    optional: Text | None = Field(
        None, description="The words of the step that allow leaving it out, copied."
    )
    when: WhenAnswer | None = None
    else_of: Text | None = Field(
        None, description="Number of the step whose condition must be false for this one."
    )
    doubt: Text | None = Field(None, description="What a person should look at, in short.")


class CompileAnswer(_AnswerModel):
    """The whole answer."""

    steps: list[StepAnswer]


def build_step(answer: StepAnswer, step: Step, plan: Plan) -> StepContract:
    """Convert the answer about a step; number, text, parent and order are those of the plan."""
    when = answer.when
    return StepContract(
        number=step.number,
        text=step.text,
        all_of=tuple(_build_requirement(part) for part in answer.all_of),
        # One requirement has no order: nothing is lost by leaving that out.
        ordered=answer.ordered and len(answer.all_of) > 1,
        when=When(
            step=when.step,
            result=_build_conditions(when.result),
            for_=_quote(when.for_, step, plan),
        )
        if when
        else None,
        else_of=answer.else_of,
        optional=_quote(answer.optional, step, plan) if answer.optional else None,
        free_order=step.free_order,
        uncheckable=answer.uncheckable or None,
        parent=step.parent,
    )


def fold(text: str) -> str:
    """Return a text without differences in case and white space."""
    return " ".join(text.casefold().split())


def _quote(words: str, step: Step, plan: Plan) -> str:
    """Return words of a plan; what it states in fields of its own is quoted as the whole step."""
    return words if any(fold(words) in fold(one.text) for one in plan.steps) else step.text


def _build_requirement(answer: AlternativeAnswer) -> Requirement:
    return Requirement(
        call=tuple(answer.call),
        is_=_build_conditions(answer.is_),
        where=_build_conditions(answer.where),
        absent=tuple(answer.absent),
        message=_build_message(answer.message),
        reasoning=_build_message(answer.reasoning),
        any_of=tuple(_build_requirement(part) for part in answer.any_of)
        if isinstance(answer, RequirementAnswer)
        else (),
        times=Times(min=answer.times.min, max=answer.times.max) if answer.times else Times(),
        each=tuple(answer.each),
        each_from=answer.each_from,
        with_=tuple(answer.with_),
        by=answer.by,
    )


def _build_message(answer: MessageAnswer | None) -> MessageCondition | None:
    if answer is None:
        return None
    return MessageCondition(
        to=answer.to,
        says=tuple(tuple(group) for group in answer.says),
        values=tuple(_build_condition(value) for value in answer.values),
        asks=answer.asks,
        not_=tuple(answer.not_),
    )


def _build_conditions(answers: Iterable[ConditionAnswer]) -> Conditions:
    """Return the conditions by argument; several on one argument become one with `all_of`."""
    by_name: defaultdict[str, list[Condition]] = defaultdict(list)
    for answer in answers:
        by_name[answer.name].append(_build_condition(answer))
    return {name: replace(first, all_of=tuple(more)) for name, (first, *more) in by_name.items()}


def _build_condition(answer: ValueAnswer) -> Condition:
    return Condition(
        any_of=tuple(answer.any_of),
        number=_to_float(answer.number),
        tolerance=_to_float(answer.tolerance) or 0.0,
        min=_to_float(answer.min),
        max=_to_float(answer.max),
        date=answer.date,
        path=answer.path,
        url=answer.url,
        program=tuple(answer.program),
        argument=tuple(answer.argument),
        calls=tuple(answer.calls),
        sql=SqlCondition(
            verb=answer.sql.verb, tables=tuple(answer.sql.tables), columns=tuple(answer.sql.columns)
        )
        if answer.sql
        else None,
        any_value=answer.any_value,
        not_=tuple(answer.not_),
        from_step=answer.from_step,
        same_as=answer.same_as,
        is_each=answer.is_each,
        for_=answer.for_,
    )


def _to_float(value: float | None) -> float | None:
    return None if value is None else float(value)
