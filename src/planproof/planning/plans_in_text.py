"""Plans declared in words: planning steps, JSON plans, checklists, and lists that are announced."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import cast

from planproof.core.content import Json
from planproof.core.plan import Plan
from planproof.errors import InvalidInput
from planproof.planning.announcements import announces_own_plan, announces_plan
from planproof.planning.lists import Listing, find_lists
from planproof.planning.located_plan import DeclarationKind
from planproof.planning.plan_parser import parse_plan
from planproof.planning.step_parts import is_instruction

_LONGEST = 200_000
_FENCE = "```"
_MOST_BLOCKS = 20
_JSON_KEYS = ("steps", "plan", "todos", "subtasks", "tasks", "plan_steps")
_STEP_KEYS = frozenset(
    "title description step task content text name action objective goal".split()
)
_END_MARKS = ("<end_plan>", "</plan>")


@dataclass(frozen=True, slots=True)
class TextPlan:
    """A plan in a text, and whether its words leave no doubt that it is one."""

    plan: Plan
    sort: DeclarationKind
    certain: bool


def parse_planning_step(text: str) -> Plan | None:
    """The plan in a text that its format marks as one; facts and the like around it are left."""
    text = text[:_LONGEST].rstrip()
    for mark in _END_MARKS:
        text = text.removesuffix(mark).rstrip()
    json_plan = _parse_json_plan(text)
    if json_plan is not None:
        return json_plan
    lists = [listing for listing in find_lists(text) if _has_enough_items(listing, least=1)]
    announced = [listing for listing in lists if announces_plan(listing.lead)]
    if announced or len(lists) == 1:
        return parse_plan((announced or lists)[0].to_plan_lines())
    return _parse_or_none(text)


def find_text_plan(text: str, *, before_acting: bool) -> TextPlan | None:
    """The plan that an agent declares in a message or in its reasoning."""
    text = text[:_LONGEST]
    if before_acting:
        json_plan = _parse_json_plan(text)
        if json_plan is not None:
            return TextPlan(json_plan, DeclarationKind.JSON_PLAN, certain=True)
    lists = [listing for listing in find_lists(text) if _has_enough_items(listing)]
    for listing in lists:
        if listing.open_box and 2 * listing.boxes > len(listing.items):
            return TextPlan(
                parse_plan(listing.to_plan_lines()), DeclarationKind.CHECKLIST, certain=True
            )
    for listing in lists:
        certain = announces_own_plan(listing.lead)
        if certain or (before_acting and announces_plan(listing.lead)):
            return TextPlan(
                parse_plan(listing.to_plan_lines()), DeclarationKind.ANNOUNCED_LIST, certain=certain
            )
    if before_acting and len(lists) == 1 and _is_instruction_list(lists[0]):
        return TextPlan(
            parse_plan(lists[0].to_plan_lines()), DeclarationKind.ANNOUNCED_LIST, certain=False
        )
    return None


def find_json_plan(text: str) -> Plan | None:
    """The plan that a message is, or holds in a block of JSON."""
    return _parse_json_plan(text[:_LONGEST])


def _has_enough_items(listing: Listing, least: int = 2) -> bool:
    return len(listing.items) >= least


def _is_instruction_list(listing: Listing) -> bool:
    """Whether a list is all that was said, and its items say what to do."""
    if listing.lead or listing.is_followed_by_text or not listing.numbered:
        return False
    orders = [item for item in listing.items if is_instruction(item.text[:400])]
    return 2 * len(orders) > len(listing.items)


def _parse_json_plan(text: str) -> Plan | None:
    for candidate in (text, *_extract_fenced_blocks(text)):
        if candidate.lstrip()[:1] not in {"{", "["} or '"' not in candidate:
            continue
        try:
            value: Json = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        steps = _find_step_list(value)
        if steps is not None:
            return _parse_or_none(steps)
    return None


def _extract_fenced_blocks(text: str) -> list[str]:
    """What stands between fences, without the word that names its language."""
    blocks = text.split(_FENCE, 2 * _MOST_BLOCKS)[1::2]
    return [block.removeprefix("json") for block in blocks]


def _find_step_list(value: Json) -> Json | None:
    """The list of steps in a JSON value that is a plan and nothing else."""
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Json]", value)
    for key in _JSON_KEYS:
        steps = fields.get(key)
        if isinstance(steps, list) and steps and all(map(_is_step, cast("list[Json]", steps))):
            return cast("Json", steps)
    return None


def _is_step(value: Json) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, dict) and not _STEP_KEYS.isdisjoint(cast("dict[str, Json]", value))


def _parse_or_none(raw: Json) -> Plan | None:
    try:
        plan = parse_plan(raw)
    except InvalidInput:
        return None
    return plan if plan.steps else None
