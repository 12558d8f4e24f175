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
from planproof.planning.located_plan import Sort
from planproof.planning.plan_parser import parse_plan

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PLAN_WORDS = frozenset("plan plans planning todo todos to-do checklist tracker".split())
_DECLARES = frozenset(
    "write update create set make submit manage propose add declare define save store draft plan "
    "planning todo todos tracker exit".split()
)
_CREATES_ITEM = frozenset({"taskcreate", "task_create", "create_task"})
_HELD = (
    "todos todo todo_list todoList newTodos plan steps tasks task_list taskList items plan_steps "
    "subtasks checklist phases"
).split()
_TICKS = frozenset("status state activeForm active_form done completed notes result".split())
_TITLES = ("subject", "title", "content", "name", "description")


@dataclass(frozen=True, slots=True)
class ToolPlan:
    """The plan in the arguments of a call."""

    plan: Plan
    sort: Sort


def plan_of_call(event: Event) -> ToolPlan | None:
    """The plan that a call declares; nothing for calls that do anything else."""
    arguments = _arguments(event)
    if event.name is None or arguments is None:
        return None
    words = _words(event.name)
    if not words & _PLAN_WORDS:
        return None
    if event.kind is Kind.ACTION and not (words & _DECLARES and _holds_list(arguments)):
        return None
    held = next((arguments[key] for key in _HELD if arguments.get(key)), None)
    if held is None or isinstance(held, (bool, int, float)):
        return None
    try:
        plan = _parsed(held)
    except InvalidInput:
        return None
    if not plan.steps:
        return None
    return ToolPlan(plan, Sort.PLAN_MODE if {"exit", "mode"} <= words else Sort.TODO_LIST)


def item_of_call(event: Event) -> str | None:
    """The one item that a call adds to a list of tasks (TaskCreate)."""
    name = (event.name or "").lower().rsplit("__", 1)[-1]
    arguments = _arguments(event) if name in _CREATES_ITEM else None
    if arguments is None:
        return None
    title = next((arguments[key] for key in _TITLES if arguments.get(key)), None)
    return title.strip() if isinstance(title, str) and title.strip() else None


def is_about_planning(event: Event) -> bool:
    """Whether a call only hands over to a planner, or declares a plan: that is not yet acting."""
    words = _words(event.name or "")
    return bool(words & {"planner", "replanner"}) or plan_of_call(event) is not None


def _parsed(held: Json) -> Plan:
    """The plan; a list that is sent again with other ticks is the same text, and parsed once."""
    if not isinstance(held, list):
        return parse_plan(held)
    items = [
        {key: value for key, value in cast("dict[str, Json]", item).items() if key not in _TICKS}
        if isinstance(item, dict)
        else item
        for item in cast("list[Json]", held)
    ]
    return parse_plan(json.dumps(items))


def _arguments(event: Event) -> dict[str, Json] | None:
    arguments = event.arguments
    return cast("dict[str, Json]", arguments) if isinstance(arguments, dict) else None


def _holds_list(arguments: Mapping[str, Json]) -> bool:
    lists = (arguments.get(key) for key in _HELD)
    return any(isinstance(held, list) and len(cast("list[Json]", held)) > 1 for held in lists)


def _words(name: str) -> frozenset[str]:
    own = name.rsplit("__", 1)[-1].rsplit(".", 1)[-1]
    # "todowrite" has no seam to be split at.
    spaced = re.sub(r"(?i)^todo(?=[a-z])", "todo_", own)
    return frozenset(word.lower() for word in _WORDS.findall(spaced))
