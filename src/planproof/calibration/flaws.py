"""The operators: each makes one flawed variant of a followed case, or none where it can't be made.

A case is flawed by a change of its plan or of its trace; either way only one thing is wrong.
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
"""Share of words from which on two steps are too much alike for their order to matter."""
_CHANGEABLE = re.compile(r"\d|[^\W\d_]")


def _build_variant(
    case: FollowedCase, change: Flaw | Rewording | None, truth: GroundTruth, where: str
) -> Variant:
    return Variant(case.id, case.task, case.plan, case.events, truth, change, where=where)


def copy_unchanged(case: FollowedCase) -> Variant:
    """The case itself."""
    return _build_variant(case, None, GroundTruth(), "")


def add_missing_step(case: FollowedCase, random: Random) -> Variant | None:
    """Put a step into the plan that nobody took."""
    step = choose_unrelated("steps", case.plan, case.events, random)
    if step is None:
        return None
    index = random.randint(0, len(case.plan))
    variant = _build_variant(
        case, Flaw.MISSING, GroundTruth({index: Status.MISSING}), f"step {index + 1}"
    )
    return replace(variant, plan=(*case.plan[:index], step, *case.plan[index:]))


def add_requirement(case: FollowedCase, random: Random) -> Variant | None:
    """Let a step ask for something more."""
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
    """Let a step name another value than the one that was used."""
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
    """Take a step out of the plan, so that what was done for it is too much."""
    if len(case.plan) < 2:
        return None
    index = random.randrange(len(case.plan))
    # Which events were done for it is not known: that there is an extra is what must be found.
    variant = _build_variant(
        case, Flaw.UNPLANNED, GroundTruth(extras={"": Severity.MAJOR}), case.plan[index]
    )
    return replace(variant, plan=(*case.plan[:index], *case.plan[index + 1 :]))


def swap_steps(case: FollowedCase, random: Random) -> Variant | None:
    """Let two neighbouring steps of the plan change places."""
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
    """Put the steps of the plan into another order, in which at least half would have to move."""
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
    """Let another tool have been called in the place of a planned one."""
    tool = choose_unrelated("tools", case.plan, case.events, random)
    indices = _find_actions(case)
    if tool is None or not indices:
        return None
    index = random.choice(indices)
    event = case.events[index]
    other = {**event, "name": tool, "text": "", "arguments": {"reference": "spare"}, "output": "ok"}
    # Of the steps that it served, at least one lacks it; which one is not known.
    variant = _build_variant(
        case, Flaw.REPLACED, GroundTruth(extras={event["id"]: Severity.MAJOR}), event["id"]
    )
    return replace(variant, events=_replace_item(case.events, index, other))


def insert_unrelated_action(case: FollowedCase, random: Random) -> Variant | None:
    """Let something have been done that has nothing to do with the plan."""
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
    """Let an action have been done twice in a row."""
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
    """Write the parts of a step as steps of their own."""
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
    """Write two neighbouring steps as one."""
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
    """Hold a trace to the plan of another case."""
    statuses = dict.fromkeys(range(len(other.plan)), Status.MISSING)
    extras = {case.events[index]["id"]: Severity.MAJOR for index in _find_actions(case)}
    variant = _build_variant(
        case, Flaw.FOREIGN, GroundTruth(statuses, extras), f"the plan of {other.id}"
    )
    return replace(variant, plan=other.plan)


def _replace_item(items: tuple[_T, ...], index: int, item: _T) -> tuple[_T, ...]:
    return (*items[:index], item, *items[index + 1 :])


def _find_actions(case: FollowedCase) -> list[int]:
    """Where the actions stand that a plan must name; closing ones it need not."""
    known = Vocabulary()
    return [
        index
        for index, event in enumerate(case.events)
        if event["kind"] == "action" and not known.is_closing(event.get("name"))
    ]


def _find_first_action(case: FollowedCase) -> int:
    return min(_find_actions(case), default=len(case.events))


def _has_parallel_calls(case: FollowedCase) -> bool:
    """Whether calls were issued together: between these there is no order."""
    turns: list[int] = [case.events[index].get("turn", 0) for index in _find_actions(case)]
    known = [turn for turn in turns if turn]
    return len(set(known)) < len(known)


def _are_distinct(case: FollowedCase, index: int) -> bool:
    """Whether a step and the next one have so few words in common that their order matters."""
    one, other = (
        {word.text for word in extract_words(step)} for step in case.plan[index : index + 2]
    )
    return len(one & other) <= _MAX_SHARED_WORDS * min(len(one), len(other))


def _mutate_value(value: str, random: Random) -> str | None:
    """A value of the same shape that differs in one letter or digit."""
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
    """The lines of one section of the file beside this module."""
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
    """A line of a section that has no word in common with a case; None where all have."""
    case_terms = extract_terms(" ".join((*plan, json.dumps(list(events), ensure_ascii=False))))
    lines = list(load_material(section))
    random.shuffle(lines)
    return next((line for line in lines if case_terms.isdisjoint(_distinctive_terms(line))), None)


def _distinctive_terms(line: str) -> frozenset[str]:
    """The words of a line, but for concepts, which nearly any text has some of."""
    return frozenset(
        term for term in extract_terms(line) if not term.startswith("~") and len(term) > 3
    )
