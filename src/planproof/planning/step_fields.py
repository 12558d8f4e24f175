"""The fields of a step that is an object: which hold its words, its number and its refinements."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import cast

from planproof.core.content import Json
from planproof.core.pointer import escape
from planproof.errors import InvalidInput
from planproof.planning.list_markers import strip_bullet
from planproof.planning.plan_entry import PlanEntry

_HEADS = (
    "content title step task subject text todo name action objective goal instruction "
    "instructions label heading summary"
).split()
_DETAILS = "description details detail body".split()
_NUMBERS = (
    "number step_number stepNumber step_no step_id stepId no # index order position sequence "
    "step id"
).split()
_CHILDREN = (
    "substeps sub_steps subSteps sub-steps subtasks sub_tasks subTasks children steps items tasks "
    "todos actions plan checklist"
).split()
_TOOLS = ("tool", "tool_name", "toolName", "function")
_ARGUMENTS = "arguments args input parameters params tool_input action_input".split()
_CONDITIONS = ("condition", "if", "when", "precondition")
_SHORT_LABEL = re.compile(
    r"(?:step[\s_\-]*)?(\w{0,2}\d{1,4}(?:[.\-]\d{1,3}){0,4}[a-z]?|[a-z])", re.IGNORECASE
)
_BIGGEST_NUMBER = 1_000_000


def parse_entry(item: Mapping[str, Json], where: str) -> PlanEntry:
    """The item that an object describes."""
    text = extract_step_text(item, where)
    if text is None:
        raise InvalidInput(
            "The step has no text.",
            where=where,
            advice=f"Put it under one of {', '.join(_HEADS[:4])}.",
        )
    condition = next((item[key] for key in _CONDITIONS if isinstance(item.get(key), str)), None)
    return PlanEntry(
        text=text,
        label=_find_label(item),
        condition=condition or None,
        optional=item.get("optional") is True or item.get("required") is False,
        free_order=item.get("parallel") is True or item.get("order") == "any",
    )


def extract_step_text(item: Mapping[str, Json], where: str) -> str | None:
    """The words of a step that is an object; nothing when it has no field for them."""
    call = _format_call(item)
    head = _find_first_text(item, _HEADS, where, skip=call)
    detail = _find_first_text(item, _DETAILS, where)
    words = [part for part in (head, detail) if part]
    if head and detail and detail.startswith(head):
        words = [detail]
    if call is not None:
        words.append(call)
    if words:
        return (
            ": ".join(word.rstrip(":") for word in words[:-1]) + ": " * (len(words) > 1) + words[-1]
        )
    if head is not None or detail is not None:
        return ""
    return _text_of_only_field(item)


def find_children_key(item: Mapping[str, Json], where: str) -> str | None:
    """The field under which the refinements of a step stand."""
    for key in _CHILDREN:
        children = item.get(key)
        if isinstance(children, list):
            return key
        if isinstance(children, (dict, bool, int, float)):
            raise InvalidInput("Sub-steps are a list.", where=f"{where}/{escape(key)}")
    return None


def _find_first_text(
    item: Mapping[str, Json], keys: Sequence[str], where: str, skip: str | None = None
) -> str | None:
    last_text: str | None = None
    for key in keys:
        value = item.get(key)
        if value is None or (isinstance(value, list) and key in _CHILDREN):
            continue
        if key == "step" and _is_label(value):
            continue
        if skip is not None and key in {"name", "action"}:
            continue
        text = _to_text(value)
        if text is None:
            raise InvalidInput("The step's text is no text.", where=f"{where}/{escape(key)}")
        if text:
            return text
        last_text = text
    return last_text


def _to_text(value: Json) -> str | None:
    if isinstance(value, str):
        return strip_bullet(value)
    if isinstance(value, dict):
        return _format_call(cast("dict[str, Json]", value))
    if isinstance(value, list):
        parts = [
            cast("dict[str, Json]", part).get("text") if isinstance(part, dict) else part
            for part in cast("list[Json]", value)
        ]
        texts = [part for part in parts if isinstance(part, str)]
        return "\n".join(texts) if len(texts) == len(parts) else None
    return None


def _format_call(item: Mapping[str, Json]) -> str | None:
    """`search({"query": "..."})` of a step that names a tool and what to call it with."""
    arguments = next((item[key] for key in _ARGUMENTS if item.get(key) is not None), None)
    for key in (*_TOOLS, *(("name", "action") if arguments is not None else ())):
        tool = item.get(key)
        if isinstance(tool, dict):
            return _format_call(cast("dict[str, Json]", tool)) if key == "function" else None
        if isinstance(tool, str) and tool:
            return f"{tool}({_format_arguments(arguments)})"
    return None


def _format_arguments(arguments: Json) -> str:
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _text_of_only_field(item: Mapping[str, Json]) -> str | None:
    """`{"search": "the price"}`: one field, whose name is a word of the step."""
    texts = [(key, value) for key, value in item.items() if isinstance(value, str)]
    if len(texts) != 1 or len(item) != 1:
        return None
    key, value = texts[0]
    return value.strip() if _SHORT_LABEL.fullmatch(key) else f"{key}: {value.strip()}"


def _find_label(item: Mapping[str, Json]) -> str | None:
    for key in _NUMBERS:
        value = item.get(key)
        if _is_label(value):
            return _format_label(value)
    if len(item) == 1:
        key = next(iter(item))
        if _SHORT_LABEL.fullmatch(key):
            return _format_label(key)
    return None


def _is_label(value: Json) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, (int, float)):
        return abs(value) < _BIGGEST_NUMBER
    return isinstance(value, str) and _SHORT_LABEL.fullmatch(value.strip()) is not None


def _format_label(value: Json) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    match = _SHORT_LABEL.fullmatch(str(value).strip())
    return match[1] if match else str(value)
