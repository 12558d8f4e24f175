"""Find the plan that one event declares: a prompt, a message or a call of a planning tool."""

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
from planproof.planning.announcements import (
    announces_own_plan,
    announces_plan,
    comes_from_manager,
    heads_plan,
    lists_other_things,
    lists_steps,
    names_plan,
    prescribes_steps,
)
from planproof.planning.instruction_verbs import begins_instruction, find_lead_in_end
from planproof.planning.lists import Listing, find_lists
from planproof.planning.plan_parser import parse_plan
from planproof.planning.plan_search import DeclarationKind, Declarer
from planproof.planning.step_parts import is_instruction, split_required_parts, split_sentences
from planproof.planning.text_plans import read_prose

_LONGEST = 200_000
# A longer request is a document that may contain instructions by accident.
_LONGEST_REQUEST = 1_500
_TEMPLATE = re.compile(r"^[ \t]{0,8}<[a-z_]{3,40}>[ \t]{0,8}$", re.MULTILINE)
_SEQUENCE = re.compile(
    r"\b(?:then|finally|lastly|afterwards?|after\s+that|next|first(?:ly)?|second(?:ly)?)\b",
    re.IGNORECASE,
)
_REQUEST_OPENING = re.compile(
    r"\W*(?:(?:hi|hello|hey)\b[^.!?\n]{0,30}[.!?,]\s*)?(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?|please\s+|"
    r"new\s+task:\s*|task:\s*|i\s+(?:want|need|would\s+like)\s+you\s+to\s+)",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"\W*(?:do\s+not|don['’]t|never|avoid|no\b|must|always|only|you\s+(?:must|should))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PromptPlan:
    """The steps found in a prompt, and who declared them."""

    plan: Plan
    sort: DeclarationKind
    declared_by: Declarer


def find_prompt_plan(event: Event) -> PromptPlan | None:
    """Return the steps that a system prompt or a user request tells the agent to follow."""
    text = event.text[:_LONGEST]
    lists = [listing for listing in find_lists(text) if len(listing.items) > 1 and listing.numbered]
    for listing in lists:
        if prescribes_steps(listing.lead) or heads_plan(listing.lead):
            plan = parse_plan(listing.to_plan_lines())
            return PromptPlan(
                plan, DeclarationKind.PRESCRIBED_STEPS, _identify_declarer(event, text)
            )
    if event.kind is Kind.SYSTEM:
        return None
    for listing in lists:
        if _is_request_list(listing):
            plan = parse_plan(listing.to_plan_lines())
            return PromptPlan(plan, DeclarationKind.REQUESTED_STEPS, Declarer.USER)
    requested_steps = _split_prose_request(text) if not lists else []
    return (
        PromptPlan(parse_plan(requested_steps), DeclarationKind.REQUESTED_STEPS, Declarer.USER)
        if requested_steps
        else None
    )


def _identify_declarer(event: Event, text: str) -> Declarer:
    if comes_from_manager(text):
        return Declarer.PLANNER
    scaffold = event.kind is Kind.SYSTEM or _TEMPLATE.search(text) is not None
    return Declarer.SCAFFOLD if scaffold else Declarer.USER


def _is_request_list(listing: Listing) -> bool:
    """Return whether the items of a user's list are things to do, not rules or remarks."""
    if lists_other_things(listing.lead):
        return False
    texts = [item.text[:400] for item in listing.items]
    if any(map(_FORBIDS.match, texts)):
        return False
    orders = sum(map(is_instruction, texts))
    return orders == len(texts) or (lists_steps(listing.lead) and 2 * orders >= len(texts))


def _split_prose_request(text: str) -> list[str]:
    """Return the steps of a request in prose.

    The request must consist only of instructions and state their order; otherwise the list is
    empty.
    """
    text = text.strip()
    request = text[opening.end() :] if (opening := _REQUEST_OPENING.match(text)) else text
    if len(text) > _LONGEST_REQUEST or not _SEQUENCE.search(request):
        return []
    if any(not _is_instruction_sentence(sentence) for sentence in split_sentences(request)):
        return []
    parts = (part for step in read_prose(request) for part in split_required_parts(step))
    steps = [_strip_lead_in(part) for part in parts]
    return steps if len(steps) > 1 else []


def _is_instruction_sentence(sentence: str) -> bool:
    return begins_instruction(sentence, find_lead_in_end(sentence), certain=True)


def _strip_lead_in(step: str) -> str:
    bare = step[find_lead_in_end(step) :].strip().rstrip(".?!")
    return bare[:1].upper() + bare[1:]


_FENCE = "```"
_MOST_BLOCKS = 20
_JSON_KEYS = ("steps", "plan", "todos", "subtasks", "tasks", "plan_steps")
_STEP_KEYS = frozenset(
    "title description step task content text name action objective goal".split()
)
_END_MARKS = ("<end_plan>", "</plan>")


@dataclass(frozen=True, slots=True)
class TextPlan:
    """A plan found in text; `certain` if its wording leaves no doubt that it is a plan."""

    plan: Plan
    sort: DeclarationKind
    certain: bool


def parse_planning_step(text: str) -> Plan | None:
    """Return the plan in a text that its format marks as one, without facts around it."""
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
    """Return the plan that an agent declares in a message or in its reasoning."""
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
        if certain or (before_acting and _is_announced(listing)):
            return TextPlan(
                parse_plan(listing.to_plan_lines()), DeclarationKind.ANNOUNCED_LIST, certain=certain
            )
    if before_acting and len(lists) == 1 and _is_instruction_list(lists[0]):
        return TextPlan(
            parse_plan(lists[0].to_plan_lines()), DeclarationKind.ANNOUNCED_LIST, certain=False
        )
    return None


def find_json_plan(text: str) -> Plan | None:
    """Return the plan that a message consists of, or contains in a JSON block."""
    return _parse_json_plan(text[:_LONGEST])


def _has_enough_items(listing: Listing, least: int = 2) -> bool:
    return len(listing.items) >= least


def _is_announced(listing: Listing) -> bool:
    """Return whether a list is announced as what the agent will do.

    After words like "our approach:" or "let me look at both:" facts may follow as well as steps.
    """
    return announces_plan(listing.lead) and (names_plan(listing.lead) or _has_instructions(listing))


def _is_instruction_list(listing: Listing) -> bool:
    """Return whether the whole text is one numbered list, mostly of instructions."""
    if listing.lead or listing.is_followed_by_text or not listing.numbered:
        return False
    return _has_instructions(listing)


def _has_instructions(listing: Listing) -> bool:
    """Return whether most items of a list say what to do."""
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
    """Return the contents of the fenced blocks, without a leading "json"."""
    blocks = text.split(_FENCE, 2 * _MOST_BLOCKS)[1::2]
    return [block.removeprefix("json") for block in blocks]


def _find_step_list(value: Json) -> Json | None:
    """Return the list of steps in a JSON object that is a plan and nothing else."""
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
    """The plan in the arguments of a tool call."""

    plan: Plan
    sort: DeclarationKind


def parse_call_plan(event: Event) -> ToolPlan | None:
    """Return the plan that a call declares; None for any other call."""
    arguments = _parse_argument_object(event)
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
    """Return the item that a call adds to a task list (TaskCreate)."""
    name = (event.name or "").lower().rsplit("__", 1)[-1]
    arguments = _parse_argument_object(event) if name in _CREATES_ITEM else None
    if arguments is None:
        return None
    title = next((arguments[key] for key in _TITLES if arguments.get(key)), None)
    return title.strip() if isinstance(title, str) and title.strip() else None


def is_planning_call(event: Event) -> bool:
    """Return whether a call only declares a plan or hands over to a planner; it is not acting."""
    words = _split_name(event.name or "")
    return bool(words & {"planner", "replanner"}) or parse_call_plan(event) is not None


def _parse_items(raw_plan: Json) -> Plan:
    """Return the plan, parsed from JSON without status fields.

    A list that is sent again with other statuses thus has the same text and comes from the cache.
    """
    if not isinstance(raw_plan, list):
        return parse_plan(raw_plan)
    items = [
        {key: value for key, value in cast("dict[str, Json]", item).items() if key not in _TICKS}
        if isinstance(item, dict)
        else item
        for item in cast("list[Json]", raw_plan)
    ]
    return parse_plan(json.dumps(items))


def _parse_argument_object(event: Event) -> dict[str, Json] | None:
    arguments = event.arguments
    return cast("dict[str, Json]", arguments) if isinstance(arguments, dict) else None


def _contains_list(arguments: Mapping[str, Json]) -> bool:
    lists = (arguments.get(key) for key in _PLAN_KEYS)
    return any(isinstance(value, list) and len(cast("list[Json]", value)) > 1 for value in lists)


def _split_name(name: str) -> frozenset[str]:
    own = name.rsplit("__", 1)[-1].rsplit(".", 1)[-1]
    # "todowrite" has no separator or capital letter to split at.
    spaced = re.sub(r"(?i)^todo(?=[a-z])", "todo_", own)
    return frozenset(word.lower() for word in _WORDS.findall(spaced))
