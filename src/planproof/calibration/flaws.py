"""The operators: each makes one flawed variant of a followed case, or none where it can't be made.

A case is flawed by a change of its plan or of its trace; either way only one thing is wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TypeAlias, TypeVar

from planproof.calibration.material import unlike
from planproof.calibration.variant import Event, Flaw, Followed, Rewording, Truth, Variant
from planproof.checking.step_order import out_of_order
from planproof.contracts.terms import words_of
from planproof.contracts.values import fold, literals_of
from planproof.core.finding import Severity, Status
from planproof.core.vocabulary import Vocabulary
from planproof.planning.plan_parser import parse_plan

_T = TypeVar("_T")
Operator: TypeAlias = Callable[[Followed, Random], Variant | None]

_ALIKE = 0.5
"""Share of words from which on two steps are too much alike for their order to matter."""
_CHANGEABLE = re.compile(r"\d|[^\W\d_]")


def _variant(case: Followed, change: Flaw | Rewording | None, truth: Truth, where: str) -> Variant:
    return Variant(case.id, case.task, case.plan, case.events, truth, change, where=where)


def as_it_is(case: Followed) -> Variant:
    """The case itself."""
    return _variant(case, None, Truth(), "")


def missing(case: Followed, random: Random) -> Variant | None:
    """Put a step into the plan that nobody took."""
    step = unlike("steps", case.plan, case.events, random)
    if step is None:
        return None
    place = random.randint(0, len(case.plan))
    made = _variant(case, Flaw.MISSING, Truth({place: Status.MISSING}), f"step {place + 1}")
    return replace(made, plan=(*case.plan[:place], step, *case.plan[place:]))


def partial(case: Followed, random: Random) -> Variant | None:
    """Let a step ask for something more."""
    more = unlike("requirements", case.plan, case.events, random)
    if more is None:
        return None
    place = random.randrange(len(case.plan))
    asked = f"{case.plan[place].rstrip(' .')} {more}"
    made = _variant(case, Flaw.PARTIAL, Truth({place: Status.PARTIAL}), f"step {place + 1}")
    return replace(made, plan=_with(case.plan, place, asked))


def altered(case: Followed, random: Random) -> Variant | None:
    """Let a step name another value than the one that was used."""
    shown = fold(json.dumps(case.events, ensure_ascii=False))
    candidates = [
        (place, literal.text, other)
        for place, step in enumerate(case.plan)
        for literal in literals_of(step)
        if literal.held_by(shown)
        and (other := _another(literal.text, random)) is not None
        and other.lower() not in shown
    ]
    if not candidates:
        return None
    place, value, other = random.choice(candidates)
    made = _variant(
        case,
        Flaw.ALTERED,
        Truth({place: Status.PARTIAL}),
        f"step {place + 1}: {value} became {other}",
    )
    return replace(made, plan=_with(case.plan, place, case.plan[place].replace(value, other)))


def unplanned(case: Followed, random: Random) -> Variant | None:
    """Take a step out of the plan, so that what was done for it is too much."""
    if len(case.plan) < 2:
        return None
    place = random.randrange(len(case.plan))
    # Which events were done for it is not known: that there is an extra is what must be found.
    made = _variant(case, Flaw.UNPLANNED, Truth(extras={"": Severity.MAJOR}), case.plan[place])
    return replace(made, plan=(*case.plan[:place], *case.plan[place + 1 :]))


def order(case: Followed, random: Random) -> Variant | None:
    """Let two neighbouring steps of the plan change places."""
    apart = [] if _parallel(case) else [k for k in range(len(case.plan) - 1) if _differ(case, k)]
    if not apart:
        return None
    place = random.choice(apart)
    plan = list(case.plan)
    plan[place], plan[place + 1] = plan[place + 1], plan[place]
    made = _variant(
        case,
        Flaw.ORDER,
        Truth({place + 1: Status.OUT_OF_ORDER}),
        f"steps {place + 1} and {place + 2}",
    )
    return replace(made, plan=tuple(plan))


def shuffled(case: Followed, random: Random) -> Variant | None:
    """Put the steps of the plan into another order, in which at least half would have to move."""
    count = len(case.plan)
    if count < 3 or _parallel(case) or not all(_differ(case, k) for k in range(count - 1)):
        return None
    places = list(range(count))
    while 2 * len(moved := out_of_order([(place, 0) for place in places])) < count:
        random.shuffle(places)
    truth = Truth(dict.fromkeys(moved, Status.OUT_OF_ORDER))
    made = _variant(case, Flaw.SHUFFLED, truth, f"{len(moved)} of {count} steps")
    return replace(made, plan=tuple(case.plan[place] for place in places))


def replaced(case: Followed, random: Random) -> Variant | None:
    """Let another tool have been called in the place of a planned one."""
    tool = unlike("tools", case.plan, case.events, random)
    places = _deeds(case)
    if tool is None or not places:
        return None
    place = random.choice(places)
    event = case.events[place]
    other = {**event, "name": tool, "text": "", "arguments": {"reference": "spare"}, "output": "ok"}
    # Of the steps that it served, at least one lacks it; which one is not known.
    made = _variant(case, Flaw.REPLACED, Truth(extras={event["id"]: Severity.MAJOR}), event["id"])
    return replace(made, events=_with(case.events, place, other))


def stray(case: Followed, random: Random) -> Variant | None:
    """Let something have been done that has nothing to do with the plan."""
    tool = unlike("tools", case.plan, case.events, random)
    if tool is None:
        return None
    place = random.randint(_first_deed(case), len(case.events))
    event: Event = {
        "id": f"e{len(case.events) + 1}x",
        "kind": "action",
        "name": tool,
        "arguments": {"reference": "spare"},
        "output": "ok",
        "status": "ok",
    }
    made = _variant(case, Flaw.STRAY, Truth(extras={event["id"]: Severity.MAJOR}), event["id"])
    return replace(made, events=(*case.events[:place], event, *case.events[place:]))


def retried(case: Followed, random: Random) -> Variant | None:
    """Let an action have been done twice in a row."""
    places = _deeds(case)
    if not places:
        return None
    place = random.choice(places)
    event = case.events[place]
    again: Event = {**event, "id": f"{event['id']}x", "turn": 0}
    made = _variant(case, Flaw.RETRIED, Truth(extras={again["id"]: Severity.MINOR}), again["id"])
    return replace(made, events=(*case.events[: place + 1], again, *case.events[place + 1 :]))


def split(case: Followed, random: Random) -> Variant | None:
    """Write the parts of a step as steps of their own."""
    steps = parse_plan(list(case.plan)).steps
    places = [k for k, step in enumerate(steps) if len(step.parts) > 1 and not step.condition]
    if not places or len(steps) != len(case.plan):
        return None
    place = random.choice(places)
    plan = (*case.plan[:place], *steps[place].parts, *case.plan[place + 1 :])
    return replace(_variant(case, Rewording.SPLIT, Truth(), f"step {place + 1}"), plan=plan)


def merged(case: Followed, random: Random) -> Variant | None:
    """Write two neighbouring steps as one."""
    if len(case.plan) < 2:
        return None
    place = random.randrange(len(case.plan) - 1)
    one, other = case.plan[place].rstrip(" ."), case.plan[place + 1]
    both = f"{one}, then {other[:1].lower()}{other[1:]}"
    plan = (*case.plan[:place], both, *case.plan[place + 2 :])
    made = _variant(case, Rewording.MERGED, Truth(), f"steps {place + 1} and {place + 2}")
    return replace(made, plan=plan)


OPERATORS: tuple[Operator, ...] = (
    missing,
    unplanned,
    order,
    shuffled,
    altered,
    partial,
    replaced,
    stray,
    retried,
    split,
    merged,
)


def foreign(case: Followed, other: Followed) -> Variant:
    """Hold a trace to the plan of another case."""
    lapses = dict.fromkeys(range(len(other.plan)), Status.MISSING)
    extras = {case.events[place]["id"]: Severity.MAJOR for place in _deeds(case)}
    made = _variant(case, Flaw.FOREIGN, Truth(lapses, extras), f"the plan of {other.id}")
    return replace(made, plan=other.plan)


def _with(items: tuple[_T, ...], place: int, item: _T) -> tuple[_T, ...]:
    return (*items[:place], item, *items[place + 1 :])


def _deeds(case: Followed) -> list[int]:
    """Where the actions stand that a plan must name; closing ones it need not."""
    known = Vocabulary()
    return [
        place
        for place, event in enumerate(case.events)
        if event["kind"] == "action" and not known.closes(event.get("name"))
    ]


def _first_deed(case: Followed) -> int:
    return min(_deeds(case), default=len(case.events))


def _parallel(case: Followed) -> bool:
    """Whether calls were issued together: between these there is no order."""
    turns: list[int] = [case.events[place].get("turn", 0) for place in _deeds(case)]
    known = [turn for turn in turns if turn]
    return len(set(known)) < len(known)


def _differ(case: Followed, place: int) -> bool:
    """Whether a step and the next one have so few words in common that their order matters."""
    one, other = ({word.text for word in words_of(step)} for step in case.plan[place : place + 2])
    return len(one & other) <= _ALIKE * min(len(one), len(other))


def _another(value: str, random: Random) -> str | None:
    """A value of the same shape that differs in one letter or digit."""
    places = [match.start() for match in _CHANGEABLE.finditer(value)]
    if not places:
        return None
    place = random.choice(places)
    there = value[place]
    if there.isdecimal():
        other = str((int(there) + random.randint(1, 8)) % 10)
    else:
        drawn = random.choice([letter for letter in "bdfgkmprtv" if letter != there.lower()])
        other = drawn.upper() if there.isupper() else drawn
    changed = f"{value[:place]}{other}{value[place + 1 :]}"
    return None if changed == value else changed
