"""Compare two contracts: steps added, removed, moved and changed, and changes of the rest."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from enum import StrEnum
from math import inf

from msgspec import Struct

from planproof.contracts.contract_file import encode_contract, fold_step, format_flow
from planproof.core.content import Json
from planproof.core.contract import Contract, StepContract
from planproof.core.json_values import is_object

# Mappings whose entries are compared one by one.
_OPENED = frozenset("is where when when.result message reasoning origin vars tools".split())


class ChangeKind(StrEnum):
    """What happened to a step."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


class FieldChange(Struct, frozen=True):
    """A field that differs, with both values in the short form of the file; None: not given."""

    path: str
    old: str | None
    new: str | None


class StepChange(Struct, frozen=True):
    """A step that differs: its number and text in the new contract, or in the old if removed."""

    kind: ChangeKind
    number: str
    text: str
    fields: tuple[FieldChange, ...] = ()


class ContractDiff(Struct, frozen=True):
    """The differences between two contracts; false if there are none."""

    fields: tuple[FieldChange, ...] = ()
    steps: tuple[StepChange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.fields or self.steps)


def diff_contracts(old: Contract, new: Contract) -> ContractDiff:
    """Return the differences between two contracts.

    Steps are the same if their text is, or else their number: a new step does not change all
    numbers that follow.
    """
    old_tree, new_tree = encode_contract(old), encode_contract(new)
    old_steps, new_steps = old_tree.pop("steps", []), new_tree.pop("steps", [])
    return ContractDiff(
        tuple(_diff_fields(old_tree, new_tree)),
        tuple(_diff_steps(old_steps, new_steps, _pair_steps(old.steps, new.steps))),
    )


def _pair_steps(old: tuple[StepContract, ...], new: tuple[StepContract, ...]) -> dict[int, int]:
    """Return the index of the old step for each new step that was there before."""
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for describe in (_describe_whole, _describe_text, _describe_number):
        indices: dict[str, list[int]] = {}
        for index in reversed(range(len(old))):
            if index not in taken:
                indices.setdefault(describe(old[index]), []).append(index)
        for index, step in enumerate(new):
            if index not in pairs and (same := indices.get(describe(step))):
                pairs[index] = same.pop()
                taken.add(pairs[index])
    return pairs


def _describe_whole(step: StepContract) -> str:
    return f"{step.number}\0{fold_step(step.text)}"


def _describe_text(step: StepContract) -> str:
    return fold_step(step.text)


def _describe_number(step: StepContract) -> str:
    return step.number


def _diff_steps(
    old: list[dict[str, Json]], new: list[dict[str, Json]], pairs: dict[int, int]
) -> Iterator[StepChange]:
    unmoved = _find_longest_increase([pairs[index] for index in sorted(pairs)])
    for index, step in enumerate(new):
        at = pairs.get(index)
        number, text = step["number"], step["text"]
        if at is None:
            yield StepChange(ChangeKind.ADDED, number, text, tuple(_diff_fields({}, _strip(step))))
            continue
        changes = tuple(_diff_fields(old[at], step))
        if at not in unmoved:
            yield StepChange(ChangeKind.MOVED, number, text, changes)
        elif changes:
            yield StepChange(ChangeKind.CHANGED, number, text, changes)
    for index in sorted(set(range(len(old))) - set(pairs.values())):
        yield StepChange(ChangeKind.REMOVED, old[index]["number"], old[index]["text"])


def _strip(step: dict[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in step.items() if name not in ("number", "text")}


def _find_longest_increase(values: list[int]) -> set[int]:
    """Return the values of a longest increasing subsequence."""
    ends: list[int] = []
    length_by_value: dict[int, int] = {}
    for value in values:
        at = length_by_value[value] = bisect_left(ends, value)
        ends[at : at + 1] = [value]
    longest: set[int] = set()
    following = inf
    for value in reversed(values):
        if length_by_value[value] == len(ends) - len(longest) - 1 and value < following:
            longest.add(value)
            following = value
    return longest


def _diff_fields(
    old: dict[str, Json], new: dict[str, Json], prefix: str = ""
) -> Iterator[FieldChange]:
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        path = f"{prefix}{name}"
        if path in _OPENED and all(value is None or is_object(value) for value in (before, after)):
            yield from _diff_fields(before or {}, after or {}, f"{path}.")
        else:
            yield FieldChange(
                path,
                None if before is None else format_flow(before),
                None if after is None else format_flow(after),
            )
