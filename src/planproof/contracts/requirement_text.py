"""Describe requirements in words, for people who review a contract."""

from __future__ import annotations

from collections.abc import Iterator

from planproof.contracts.condition_check import describe_condition
from planproof.core.contract import (
    ANY_ARGUMENT,
    Conditions,
    MessageCondition,
    Requirement,
    StepContract,
    Times,
)


def describe_step(step: StepContract) -> Iterator[str]:
    """Yield what a step requires, one line for each thing, alternatives on lines of their own."""
    if step.when is not None:
        decided = "" if step.when.step else " (a program can't decide it)"
        yield f"only under the condition: {step.when.for_ or 'see `when`'}{decided}"
    if step.else_of is not None:
        yield f"only if the condition of step {step.else_of} is false"
    if step.optional is not None:
        yield f"optional: {step.optional}"
    if step.uncheckable is not None:
        yield f"can't be checked: {step.uncheckable}"
    for requirement in step.all_of:
        first, *others = requirement.alternatives
        yield describe_requirement(first)
        yield from (f"or {describe_requirement(other)}" for other in others)


def describe_requirement(requirement: Requirement) -> str:
    """Describe a requirement without alternatives: what must be visible, and how often."""
    if requirement.message is not None:
        return f"message {_describe_message(requirement.message)}"
    if requirement.reasoning is not None:
        return f"reasoning {_describe_message(requirement.reasoning)}"
    parts = [f"call of {' or '.join(requirement.call)}" if requirement.call else "call"]
    if requirement.is_:
        parts.append(f"that is {_describe_conditions(requirement.is_)}")
    if requirement.where:
        parts.append(f"with {_describe_conditions(requirement.where)}")
    if requirement.absent:
        parts.append(f"without {', '.join(requirement.absent)}")
    return ", ".join([" ".join(parts), *_describe_counts(requirement)])


def _describe_counts(requirement: Requirement) -> Iterator[str]:
    low, high = requirement.times.min, requirement.times.max
    if requirement.each:
        yield f"for each of {', '.join(requirement.each)}"
    if requirement.each_from is not None:
        yield f"for each item that step {requirement.each_from} returned"
    if requirement.times != Times():
        yield (
            f"{low} or more times"
            if high is None
            else f"{low} times"
            if low == high
            else f"{low} to {high} times"
        )
    if requirement.with_:
        yield f"helped by {', '.join(requirement.with_)}"
    if requirement.by is not None:
        yield f"by {requirement.by}"


def _describe_conditions(conditions: Conditions) -> str:
    return "; ".join(
        describe_condition(condition)
        if argument == ANY_ARGUMENT
        else f"{argument} {describe_condition(condition)}"
        for argument, condition in conditions.items()
    )


def _describe_message(message: MessageCondition) -> str:
    parts = [" or ".join(group) for group in message.says]
    parts += map(describe_condition, message.values)
    said = f"that says {' and '.join(parts)}" if parts else ""
    to = f"to {message.to}" if message.to else ""
    return " ".join(filter(None, (to, "that asks" if message.asks else "", said))) or "of any kind"
