"""Reading a plan of any common shape: text, list, or JSON as tools write it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import cast

from planproof.core.content import Json
from planproof.core.phrases import steps_mentioned
from planproof.core.plan import Plan, Step
from planproof.planning.json_plans import draft_of_value
from planproof.planning.numbering import number_steps
from planproof.planning.plan_entry import Draft
from planproof.planning.step_builder import leaves_order_open, make_step

_LONGEST_KEPT = 20_000


def parse_plan(raw: Json | str | Plan) -> Plan:
    """The steps of a plan given as text, list or JSON; an empty plan when it holds none."""
    if isinstance(raw, Plan):
        return raw
    texts = _texts(raw)
    if texts is not None and sum(map(len, texts)) <= _LONGEST_KEPT:
        return _kept_plan(raw if isinstance(raw, str) else texts)
    return _plan(raw)


def _plan(raw: Json) -> Plan:
    return Plan(tuple(_steps_of(draft_of_value(raw))))


# One plan is often held against many traces.
_kept_plan = lru_cache(maxsize=256)(_plan)


def _texts(raw: Json) -> tuple[str, ...] | None:
    """The texts that a plan is made of; nothing when it is made of anything else."""
    if isinstance(raw, str):
        return (raw,)
    if not isinstance(raw, list):
        return None
    items = cast("list[Json]", raw)
    return tuple(items) if all(isinstance(item, str) for item in items) else None


def _steps_of(draft: Draft) -> Iterator[Step]:
    entries = draft.entries
    numbers = number_steps([e.label for e in entries], [e.parent for e in entries])
    free = _free_places(draft, numbers)
    for index, (number, entry) in enumerate(zip(numbers, entries, strict=True)):
        yield make_step(
            number,
            _writable(entry.text),
            parent=numbers[entry.parent] if entry.parent is not None else None,
            condition=entry.condition and _writable(entry.condition),
            optional=entry.optional,
            free_order=entry.free_order or index in free,
        )


def _free_places(draft: Draft, numbers: list[str]) -> set[int]:
    """The items whose place the plan leaves open, by a remark or by what they refine."""
    place_of = {number: index for index, number in enumerate(numbers)}
    everywhere = range(len(numbers))
    free: set[int] = set()
    if leaves_order_open(draft.remarks):
        free.update(_named(draft.remarks, place_of) or everywhere)
    open_parents: set[int] = set()
    for index, entry in enumerate(draft.entries):
        if leaves_order_open(entry.text[:4_000]):
            open_parents.add(index)
            free.update(_named(entry.text[:4_000], place_of))
        if entry.parent in open_parents:
            free.add(index)
    return free


def _named(text: str, place_of: dict[str, int]) -> set[int]:
    """The places of the steps that a text names: "steps 2 to 4", "steps 1 and 3"."""
    places: set[int] = set()
    for first, last in steps_mentioned(text):
        start = place_of.get(first)
        end = place_of.get(last, start)
        if start is not None and end is not None:
            places.update(range(start, end + 1))
    return places


def _writable(text: str) -> str:
    """The text without half characters, which nothing could print or write."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
