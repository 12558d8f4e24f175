"""Actions that the alignment put under a step whose text does not cover them.

The alignment would rather take in a neighbour's action than leave it over: it sees how well things
fit, but not what a step leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from planproof.checking.candidates import Unit
from planproof.checking.requirements import Demand
from planproof.contracts.values import Literal, LiteralKind, literals_of
from planproof.core.trace import EventStatus, Kind

_DIGITS = 2
_ANYTHING = frozenset({"run"})
"""Every action is this sort of deed, so it says nothing."""


def take_out_strays(
    units: Sequence[Unit], demands: Sequence[Demand], runs: Sequence[list[int]]
) -> list[tuple[int, int]]:
    """Take the strays out of the runs of the steps, and tell which: step and unit."""
    strays: list[tuple[int, int]] = []
    for step, (demand, run) in enumerate(zip(demands, runs, strict=True)):
        actions = [index for index in run if units[index].event.kind is Kind.ACTION]
        found = _strangers(units, demand, actions)
        found |= _on_other_values(units, demand, actions)
        found |= _repeats(units, demand, actions)
        found |= _after_the_words(units, demand, run)
        if len(demands) == 1:
            # No other step could have claimed them, so to be under this one says little.
            found |= _of_another_sort(units, demand, actions)
        if found:
            run[:] = [index for index in run if index not in found]
            strays.extend((step, index) for index in found)
    return strays


def _strangers(units: Sequence[Unit], demand: Demand, actions: Sequence[int]) -> set[int]:
    """Those that have nothing in common with the step: no word, no value, no sort of deed.

    What is done is enough only where no action shows what it is done to.
    """
    others = [index for index in actions if demand.things.isdisjoint(units[index].terms)]
    if others and (len(others) == len(actions) or demand.open_ended):
        others = [index for index in others if _does_otherwise(units[index], demand)]
    return {index for index in others if not _shows(units[index], demand)}


def is_stranger(unit: Unit, demand: Demand) -> bool:
    """Whether an action is a stray under this step whatever else is under it."""
    return _does_otherwise(unit, demand) and not _shows(unit, demand)


def _does_otherwise(unit: Unit, demand: Demand) -> bool:
    """Whether an action has no word in common with the step, and no sort of deed."""
    return demand.terms.isdisjoint(unit.terms) and unit.deeds.isdisjoint(demand.asked - _ANYTHING)


def _shows(unit: Unit, demand: Demand) -> bool:
    """Whether an action, or what came back, holds the step's values or answers its words."""
    return _answers(unit, demand) or any(_held(literal, unit) for literal in demand.literals)


def _answers(unit: Unit, demand: Demand) -> bool:
    """Whether what came back has half of the words; single ones in it say nothing."""
    returned = unit.output_terms
    held = [word for word in demand.words if not returned.isdisjoint(word.stems + word.concepts)]
    return len(held) * 2 >= len(demand.words)


def _held(literal: Literal, unit: Unit) -> bool:
    return literal.held_by(unit.call_text) or literal.held_by(unit.output_text)


def _of_another_sort(units: Sequence[Unit], demand: Demand, actions: Sequence[int]) -> set[int]:
    """Those that are none of the sorts of deed asked for, where another of the actions is one."""
    asked = demand.asked - _ANYTHING
    if not asked or not all(demand.deeds):
        return set()
    sorts = {index: units[index].deeds - _ANYTHING for index in actions}
    strangers = {index for index, deeds in sorts.items() if deeds and not deeds & asked}
    return strangers if any(deeds & asked for deeds in sorts.values()) else set()


def _after_the_words(units: Sequence[Unit], demand: Demand, run: Sequence[int]) -> set[int]:
    """Those that come when what the step is to say has been said: they can't serve it."""
    if not demand.only_says:
        return set()
    said = next((i for i in run if units[i].event.kind is Kind.MESSAGE), None)
    if said is None:
        return set()
    return {
        i
        for i in run
        if i > said
        and units[i].event.kind is Kind.ACTION
        and demand.asked.isdisjoint(units[i].deeds)
        and units[i].manner.name not in demand.folded
    }


def _on_other_values(units: Sequence[Unit], demand: Demand, actions: Sequence[int]) -> set[int]:
    """Those that do to something else what another call of the same tool does as the step says."""
    if len(actions) == 1 or demand.open_ended:
        return set()
    values = _telling(demand)
    if not values:
        return set()
    others = actions
    for value in values:
        others = [index for index in others if not value.held_by(units[index].call_text)]
    if not others:
        return set()
    tools = {units[index].event.name for index in set(actions).difference(others)}
    kinds = {value.kind for value in values}
    return {
        index
        for index in others
        if units[index].event.name in tools
        and any(other.kind in kinds for other in literals_of(units[index].call_text))
    }


@lru_cache(maxsize=2_048)
def _telling(demand: Demand) -> tuple[Literal, ...]:
    return tuple(literal for literal in demand.literals if _is_telling(literal))


def _is_telling(literal: Literal) -> bool:
    if literal.kind is LiteralKind.NUMBER:
        return len(literal.forms[0]) >= _DIGITS
    return literal.kind is not LiteralKind.NAME


def _repeats(units: Sequence[Unit], demand: Demand, actions: Sequence[int]) -> set[int]:
    """Those that only repeat a call that failed, or one that has brought back the same already."""
    different = {units[index].call_text for index in actions}
    if len(different) == len(actions) or demand.step.loop or demand.again:
        return set()
    found: set[int] = set()
    failed: set[tuple[str | None, str]] = set()
    brought: set[tuple[str | None, str, str]] = set()
    for index in actions:
        event, call = units[index].event, (units[index].event.name, units[index].call_text)
        if call in failed or (event.output and (*call, event.output) in brought):
            found.add(index)
        if event.status is EventStatus.ERROR:
            failed.add(call)
        if event.output:
            brought.add((*call, event.output))
    return found
