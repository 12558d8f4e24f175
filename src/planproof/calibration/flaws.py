"""Mutation operators: each makes one flawed variant of a followed case, or None.

A flaw changes either the plan or the trace, so that exactly one thing is wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from random import Random
from typing import TypeAlias, TypeVar

from planproof.calibration.variant import (
    EventRecord,
    Flaw,
    FollowedCase,
    GroundTruth,
    Rewording,
    Variant,
)
from planproof.checking.step_order import find_out_of_order
from planproof.contracts.terms import extract_terms, extract_words
from planproof.contracts.values import extract_literals, fold
from planproof.core.finding import Severity, Status
from planproof.core.vocabulary import Vocabulary
from planproof.planning.plan_parser import parse_plan

_T = TypeVar("_T")
Operator: TypeAlias = Callable[[FollowedCase, Random], Variant | None]

_MAX_SHARED_WORDS = 0.5
"""Share of common words above which two steps are too similar for their order to matter."""
_CHANGEABLE = re.compile(r"\d|[^\W\d_]")


def _build_variant(
    case: FollowedCase, change: Flaw | Rewording | None, truth: GroundTruth, where: str
) -> Variant:
    return Variant(case.id, case.task, case.plan, case.events, truth, change, where=where)


def copy_unchanged(case: FollowedCase) -> Variant:
    """Return the case itself as a variant, with its label."""
    step = case.flawed_step
    truth = GroundTruth({} if step is None else {step: Status.MISSING})
    return replace(_build_variant(case, None, truth, ""), label=case.label)


def add_missing_step(case: FollowedCase, random: Random) -> Variant | None:
    """Add a step to the plan that was not executed."""
    step = choose_unrelated("steps", case.plan, case.events, random)
    if step is None:
        return None
    index = random.randint(0, len(case.plan))
    variant = _build_variant(
        case, Flaw.MISSING, GroundTruth({index: Status.MISSING}), f"step {index + 1}"
    )
    return replace(variant, plan=(*case.plan[:index], step, *case.plan[index:]))


def add_requirement(case: FollowedCase, random: Random) -> Variant | None:
    """Add a requirement to a step."""
    more = choose_unrelated("requirements", case.plan, case.events, random)
    if more is None:
        return None
    index = random.randrange(len(case.plan))
    extended = f"{case.plan[index].rstrip(' .')} {more}"
    variant = _build_variant(
        case, Flaw.PARTIAL, GroundTruth({index: Status.PARTIAL}), f"step {index + 1}"
    )
    return replace(variant, plan=_replace_item(case.plan, index, extended))


def alter_value(case: FollowedCase, random: Random) -> Variant | None:
    """Change a value in a step, so that it differs from the one used."""
    shown = fold(json.dumps(case.events, ensure_ascii=False))
    candidates = [
        (index, literal.text, other)
        for index, step in enumerate(case.plan)
        for literal in extract_literals(step)
        if literal.occurs_in(shown)
        and (other := _mutate_value(literal.text, random)) is not None
        and other.lower() not in shown
    ]
    if not candidates:
        return None
    index, value, other = random.choice(candidates)
    variant = _build_variant(
        case,
        Flaw.ALTERED,
        GroundTruth({index: Status.PARTIAL}),
        f"step {index + 1}: {value} became {other}",
    )
    return replace(
        variant, plan=_replace_item(case.plan, index, case.plan[index].replace(value, other))
    )


def drop_step(case: FollowedCase, random: Random) -> Variant | None:
    """Remove a step from the plan, so that its actions become extras."""
    if len(case.plan) < 2:
        return None
    index = random.randrange(len(case.plan))
    # The events of the step are unknown, so any major extra counts as located.
    variant = _build_variant(
        case, Flaw.UNPLANNED, GroundTruth(extras={"": Severity.MAJOR}), case.plan[index]
    )
    return replace(variant, plan=(*case.plan[:index], *case.plan[index + 1 :]))


def swap_steps(case: FollowedCase, random: Random) -> Variant | None:
    """Swap two neighbouring steps of the plan."""
    apart = (
        []
        if _has_parallel_calls(case)
        else [k for k in range(len(case.plan) - 1) if _are_distinct(case, k)]
    )
    if not apart:
        return None
    index = random.choice(apart)
    plan = list(case.plan)
    plan[index], plan[index + 1] = plan[index + 1], plan[index]
    variant = _build_variant(
        case,
        Flaw.ORDER,
        GroundTruth({index + 1: Status.OUT_OF_ORDER}),
        f"steps {index + 1} and {index + 2}",
    )
    return replace(variant, plan=tuple(plan))


def shuffle_steps(case: FollowedCase, random: Random) -> Variant | None:
    """Shuffle the steps of the plan so that at least half of them would have to move."""
    count = len(case.plan)
    if (
        count < 3
        or _has_parallel_calls(case)
        or not all(_are_distinct(case, k) for k in range(count - 1))
    ):
        return None
    indices = list(range(count))
    while 2 * len(moved := find_out_of_order([(index, 0) for index in indices])) < count:
        random.shuffle(indices)
    truth = GroundTruth(dict.fromkeys(moved, Status.OUT_OF_ORDER))
    variant = _build_variant(case, Flaw.SHUFFLED, truth, f"{len(moved)} of {count} steps")
    return replace(variant, plan=tuple(case.plan[index] for index in indices))


def replace_tool(case: FollowedCase, random: Random) -> Variant | None:
    """Replace a planned tool call with a call of another tool."""
    tool = choose_unrelated("tools", case.plan, case.events, random)
    indices = _find_actions(case)
    if tool is None or not indices:
        return None
    index = random.choice(indices)
    event = case.events[index]
    other = {**event, "name": tool, "text": "", "arguments": {"reference": "spare"}, "output": "ok"}
    # At least one of the steps it served lacks it; which one is unknown.
    variant = _build_variant(
        case, Flaw.REPLACED, GroundTruth(extras={event["id"]: Severity.MAJOR}), event["id"]
    )
    return replace(variant, events=_replace_item(case.events, index, other))


def insert_unrelated_action(case: FollowedCase, random: Random) -> Variant | None:
    """Insert an action that is unrelated to the plan."""
    tool = choose_unrelated("tools", case.plan, case.events, random)
    if tool is None:
        return None
    index = random.randint(_find_first_action(case), len(case.events))
    event: EventRecord = {
        "id": f"e{len(case.events) + 1}x",
        "kind": "action",
        "name": tool,
        "arguments": {"reference": "spare"},
        "output": "ok",
        "status": "ok",
    }
    variant = _build_variant(
        case, Flaw.UNRELATED_ACTION, GroundTruth(extras={event["id"]: Severity.MAJOR}), event["id"]
    )
    return replace(variant, events=(*case.events[:index], event, *case.events[index:]))


def repeat_action(case: FollowedCase, random: Random) -> Variant | None:
    """Repeat an action right after itself."""
    indices = _find_actions(case)
    if not indices:
        return None
    index = random.choice(indices)
    event = case.events[index]
    again: EventRecord = {**event, "id": f"{event['id']}x", "turn": 0}
    variant = _build_variant(
        case, Flaw.RETRIED, GroundTruth(extras={again["id"]: Severity.MINOR}), again["id"]
    )
    return replace(variant, events=(*case.events[: index + 1], again, *case.events[index + 1 :]))


def split_step(case: FollowedCase, random: Random) -> Variant | None:
    """Write the parts of a step as separate steps."""
    steps = parse_plan(list(case.plan)).steps
    indices = [k for k, step in enumerate(steps) if len(step.parts) > 1 and not step.condition]
    if not indices or len(steps) != len(case.plan):
        return None
    index = random.choice(indices)
    plan = (*case.plan[:index], *steps[index].parts, *case.plan[index + 1 :])
    return replace(
        _build_variant(case, Rewording.SPLIT, GroundTruth(), f"step {index + 1}"), plan=plan
    )


def merge_steps(case: FollowedCase, random: Random) -> Variant | None:
    """Merge two neighbouring steps into one."""
    if len(case.plan) < 2:
        return None
    index = random.randrange(len(case.plan) - 1)
    one, other = case.plan[index].rstrip(" ."), case.plan[index + 1]
    both = f"{one}, then {other[:1].lower()}{other[1:]}"
    plan = (*case.plan[:index], both, *case.plan[index + 2 :])
    variant = _build_variant(
        case, Rewording.MERGED, GroundTruth(), f"steps {index + 1} and {index + 2}"
    )
    return replace(variant, plan=plan)


OPERATORS: tuple[Operator, ...] = (
    add_missing_step,
    drop_step,
    swap_steps,
    shuffle_steps,
    alter_value,
    add_requirement,
    replace_tool,
    insert_unrelated_action,
    repeat_action,
    split_step,
    merge_steps,
)


def use_foreign_plan(case: FollowedCase, other: FollowedCase) -> Variant:
    """Combine a trace with the plan of another case."""
    statuses = dict.fromkeys(range(len(other.plan)), Status.MISSING)
    extras = {case.events[index]["id"]: Severity.MAJOR for index in _find_actions(case)}
    variant = _build_variant(
        case, Flaw.FOREIGN, GroundTruth(statuses, extras), f"the plan of {other.id}"
    )
    return replace(variant, plan=other.plan)


def _replace_item(items: tuple[_T, ...], index: int, item: _T) -> tuple[_T, ...]:
    return (*items[:index], item, *items[index + 1 :])


def _find_actions(case: FollowedCase) -> list[int]:
    """Return the indices of actions that a plan must name; it may omit closing actions."""
    known = Vocabulary()
    return [
        index
        for index, event in enumerate(case.events)
        if event["kind"] == "action" and not known.is_closing(event.get("name"))
    ]


def _find_first_action(case: FollowedCase) -> int:
    return min(_find_actions(case), default=len(case.events))


def _has_parallel_calls(case: FollowedCase) -> bool:
    """Return True if calls were issued in parallel: they have no order."""
    turns: list[int] = [case.events[index].get("turn", 0) for index in _find_actions(case)]
    known = [turn for turn in turns if turn]
    return len(set(known)) < len(known)


def _are_distinct(case: FollowedCase, index: int) -> bool:
    """Return True if a step shares so few words with the next one that their order matters."""
    one, other = (
        {word.text for word in extract_words(step)} for step in case.plan[index : index + 2]
    )
    return len(one & other) <= _MAX_SHARED_WORDS * min(len(one), len(other))


def _mutate_value(value: str, random: Random) -> str | None:
    """Return a value of the same shape that differs in one letter or digit."""
    positions = [match.start() for match in _CHANGEABLE.finditer(value)]
    if not positions:
        return None
    position = random.choice(positions)
    character = value[position]
    if character.isdecimal():
        other = str((int(character) + random.randint(1, 8)) % 10)
    else:
        drawn = random.choice([letter for letter in "bdfgkmprtv" if letter != character.lower()])
        other = drawn.upper() if character.isupper() else drawn
    changed = f"{value[:position]}{other}{value[position + 1 :]}"
    return None if changed == value else changed


@cache
def load_material(section: str) -> tuple[str, ...]:
    """Return the lines of one section of `material.txt`."""
    text = files("planproof.calibration").joinpath("material.txt").read_text("utf-8")
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            current.append(line)
    return tuple(sections[section])


def choose_unrelated(
    section: str, plan: Sequence[str], events: Iterable[EventRecord], random: Random
) -> str | None:
    """Return a line of a section without common words with a case; None if there is none."""
    case_terms = extract_terms(" ".join((*plan, json.dumps(list(events), ensure_ascii=False))))
    lines = list(load_material(section))
    random.shuffle(lines)
    return next(
        (line for line in lines if case_terms.isdisjoint(_extract_distinctive_terms(line))), None
    )


def _extract_distinctive_terms(line: str) -> frozenset[str]:
    """Return the words of a line without concepts, which nearly any text shares."""
    return frozenset(
        term for term in extract_terms(line) if not term.startswith("~") and len(term) > 3
    )
