"""The fields of a step that is an object: which hold its words, its number and its refinements."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import cast

from planproof.core.content import Json
from planproof.core.pointer import escape
from planproof.errors import InvalidInput
from planproof.planning.list_markers import without_bullet
from planproof.planning.plan_entry import Entry

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


def entry_of_object(item: Mapping[str, Json], where: str) -> Entry:
    """The item that an object describes."""
    text = text_of_object(item, where)
    if text is None:
        raise InvalidInput(
            "The step has no text.",
            where=where,
            advice=f"Put it under one of {', '.join(_HEADS[:4])}.",
        )
    condition = next((item[key] for key in _CONDITIONS if isinstance(item.get(key), str)), None)
    return Entry(
        text=text,
        label=_label(item),
        condition=condition or None,
        optional=item.get("optional") is True or item.get("required") is False,
        free_order=item.get("parallel") is True or item.get("order") == "any",
    )


def text_of_object(item: Mapping[str, Json], where: str) -> str | None:
    """The words of a step that is an object; nothing when it has no field for them."""
    call = _call(item)
    head = _first_text(item, _HEADS, where, skip=call)
    detail = _first_text(item, _DETAILS, where)
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
    return _only_field(item)


def children_key(item: Mapping[str, Json], where: str) -> str | None:
    """The field under which the refinements of a step stand."""
    for key in _CHILDREN:
        held = item.get(key)
        if isinstance(held, list):
            return key
        if isinstance(held, (dict, bool, int, float)):
            raise InvalidInput("Sub-steps are a list.", where=f"{where}/{escape(key)}")
    return None


def _first_text(
    item: Mapping[str, Json], keys: Sequence[str], where: str, skip: str | None = None
) -> str | None:
    found: str | None = None
    for key in keys:
        held = item.get(key)
        if held is None or (isinstance(held, list) and key in _CHILDREN):
            continue
        if key == "step" and _is_label(held):
            continue
        if skip is not None and key in {"name", "action"}:
            continue
        text = _text(held)
        if text is None:
            raise InvalidInput("The step's text is no text.", where=f"{where}/{escape(key)}")
        if text:
            return text
        found = text
    return found


def _text(value: Json) -> str | None:
    if isinstance(value, str):
        return without_bullet(value)
    if isinstance(value, dict):
        return _call(cast("dict[str, Json]", value))
    if isinstance(value, list):
        parts = [
            cast("dict[str, Json]", part).get("text") if isinstance(part, dict) else part
            for part in cast("list[Json]", value)
        ]
        texts = [part for part in parts if isinstance(part, str)]
        return "\n".join(texts) if len(texts) == len(parts) else None
    return None


def _call(item: Mapping[str, Json]) -> str | None:
    """`search({"query": "..."})` of a step that names a tool and what to call it with."""
    arguments = next((item[key] for key in _ARGUMENTS if item.get(key) is not None), None)
    for key in (*_TOOLS, *(("name", "action") if arguments is not None else ())):
        tool = item.get(key)
        if isinstance(tool, dict):
            return _call(cast("dict[str, Json]", tool)) if key == "function" else None
        if isinstance(tool, str) and tool:
            return f"{tool}({_written(arguments)})"
    return None


def _written(arguments: Json) -> str:
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _only_field(item: Mapping[str, Json]) -> str | None:
    """`{"search": "the price"}`: one field, whose name is a word of the step."""
    texts = [(key, held) for key, held in item.items() if isinstance(held, str)]
    if len(texts) != 1 or len(item) != 1:
        return None
    key, held = texts[0]
    return held.strip() if _SHORT_LABEL.fullmatch(key) else f"{key}: {held.strip()}"


def _label(item: Mapping[str, Json]) -> str | None:
    for key in _NUMBERS:
        held = item.get(key)
        if _is_label(held):
            return _label_text(held)
    if len(item) == 1:
        key = next(iter(item))
        if _SHORT_LABEL.fullmatch(key):
            return _label_text(key)
    return None


def _is_label(value: Json) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, (int, float)):
        return abs(value) < _BIGGEST_NUMBER
    return isinstance(value, str) and _SHORT_LABEL.fullmatch(value.strip()) is not None


def _label_text(value: Json) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    found = _SHORT_LABEL.fullmatch(str(value).strip())
    return found[1] if found else str(value)
