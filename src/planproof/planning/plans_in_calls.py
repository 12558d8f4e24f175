"""Plans declared by calling a tool: to-do lists, and plans put before the user."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from planproof.core.content import Json
from planproof.core.plan import Plan
from planproof.core.trace import Event, Kind
from planproof.errors import InvalidInput
from planproof.planning.located_plan import DeclarationKind
from planproof.planning.plan_parser import parse_plan

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PLAN_WORDS = frozenset("plan plans planning todo todos to-do checklist tracker".split())
_DECLARING_WORDS = frozenset(
    "write update create set make submit manage propose add declare define save store draft plan "
    "planning todo todos tracker exit".split()
)
_CREATES_ITEM = frozenset({"taskcreate", "task_create", "create_task"})
_PLAN_KEYS = (
    "todos todo todo_list todoList newTodos plan steps tasks task_list taskList items plan_steps "
    "subtasks checklist phases"
).split()
_TICKS = frozenset("status state activeForm active_form done completed notes result".split())
_TITLES = ("subject", "title", "content", "name", "description")


@dataclass(frozen=True, slots=True)
class ToolPlan:
    """The plan in the arguments of a call."""

    plan: Plan
    sort: DeclarationKind


def parse_call_plan(event: Event) -> ToolPlan | None:
    """The plan that a call declares; nothing for calls that do anything else."""
    arguments = _argument_object(event)
    if event.name is None or arguments is None:
        return None
    words = _split_name(event.name)
    if not words & _PLAN_WORDS:
        return None
    if event.kind is Kind.ACTION and not (words & _DECLARING_WORDS and _contains_list(arguments)):
        return None
    raw_plan = next((arguments[key] for key in _PLAN_KEYS if arguments.get(key)), None)
    if raw_plan is None or isinstance(raw_plan, (bool, int, float)):
        return None
    try:
        plan = _parse_items(raw_plan)
    except InvalidInput:
        return None
    if not plan.steps:
        return None
    return ToolPlan(
        plan, DeclarationKind.PLAN_MODE if {"exit", "mode"} <= words else DeclarationKind.TODO_LIST
    )


def extract_task_item(event: Event) -> str | None:
    """The one item that a call adds to a list of tasks (TaskCreate)."""
    name = (event.name or "").lower().rsplit("__", 1)[-1]
    arguments = _argument_object(event) if name in _CREATES_ITEM else None
    if arguments is None:
        return None
    title = next((arguments[key] for key in _TITLES if arguments.get(key)), None)
    return title.strip() if isinstance(title, str) and title.strip() else None


def is_planning_call(event: Event) -> bool:
    """Whether a call only hands over to a planner, or declares a plan: that is not yet acting."""
    words = _split_name(event.name or "")
    return bool(words & {"planner", "replanner"}) or parse_call_plan(event) is not None


def _parse_items(raw_plan: Json) -> Plan:
    """The plan; a list that is sent again with other ticks is the same text, and parsed once."""
    if not isinstance(raw_plan, list):
        return parse_plan(raw_plan)
    items = [
        {key: value for key, value in cast("dict[str, Json]", item).items() if key not in _TICKS}
        if isinstance(item, dict)
        else item
        for item in cast("list[Json]", raw_plan)
    ]
    return parse_plan(json.dumps(items))


def _argument_object(event: Event) -> dict[str, Json] | None:
    arguments = event.arguments
    return cast("dict[str, Json]", arguments) if isinstance(arguments, dict) else None


def _contains_list(arguments: Mapping[str, Json]) -> bool:
    lists = (arguments.get(key) for key in _PLAN_KEYS)
    return any(isinstance(value, list) and len(cast("list[Json]", value)) > 1 for value in lists)


def _split_name(name: str) -> frozenset[str]:
    own = name.rsplit("__", 1)[-1].rsplit(".", 1)[-1]
    # "todowrite" has no seam to be split at.
    spaced = re.sub(r"(?i)^todo(?=[a-z])", "todo_", own)
    return frozenset(word.lower() for word in _WORDS.findall(spaced))
