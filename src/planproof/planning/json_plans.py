"""Parse plans given as JSON, in the shapes that tools and frameworks write."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from planproof.core.content import Json
from planproof.core.pointer import escape
from planproof.errors import InvalidInput
from planproof.planning.lists import Marker, has_text, read_number, strip_bullet
from planproof.planning.text_plans import PlanDraft, PlanEntry, parse_plan_text

_LIST_KEYS = (
    "plan steps todos tasks items todo todo_list todoList newTodos task_list taskList plan_steps "
    "planSteps agent_plan action_plan actions subtasks stages phases checklist entries "
    "arguments input args function parameters"
).split()
_REMARK_KEYS = ("title", "description", "explanation", "overview", "introduction", "note")
_NUMBERED_KEY = re.compile(
    r"(?:step|task)?[\s_\-#]*(\d{1,6}(?:\.\d{1,3}){0,4})[.):]?", re.IGNORECASE
)
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(?P<json>\s*[\[{].*)\n\s*```\s*", re.DOTALL)
_KINDS = {"bool": "a boolean", "int": "a number", "float": "a number", "list": "a list"}
_DEEPEST = 40


def parse_plan_value(value: Json, where: str = "", depth: int = 0) -> PlanDraft:
    """Return the items of a plan of any shape; `where` is its JSON pointer, for errors."""
    if depth > _DEEPEST:
        raise InvalidInput(
            f"The plan is nested more than {_DEEPEST} levels deep.", where=where or "plan"
        )
    if value is None:
        return PlanDraft()
    if isinstance(value, str):
        decoded = _decode_json(value)
        return (
            parse_plan_text(value)
            if decoded is None
            else parse_plan_value(decoded, where, depth + 1)
        )
    if isinstance(value, (list, tuple)):
        draft = PlanDraft()
        _add_items(draft, _build_list_items(cast("Sequence[Json]", value), where), None, depth)
        return draft
    if isinstance(value, dict):
        return _parse_object(cast("dict[str, Json]", value), where, depth)
    raise _wrong_type_error(
        value, where, "A plan must be text, a list of steps, or an object that contains one"
    )


def _decode_json(text: str) -> Json | None:
    """Return the list, object or string that `text` encodes as JSON; None if it is not JSON."""
    fenced = _FENCED.fullmatch(text)
    candidate = fenced["json"] if fenced else text
    if candidate.lstrip()[:1] not in {"[", "{", '"'}:
        return None
    try:
        value: Json = json.loads(candidate)
    except RecursionError:
        raise InvalidInput("The plan's JSON is nested too deeply.", where="plan") from None
    except ValueError:
        return None  # "[ ] buy milk" is a list, but not JSON
    return cast("Json", value) if isinstance(value, (list, dict, str)) else None


def _parse_object(value: dict[str, Json], where: str, depth: int) -> PlanDraft:
    if not value:
        return PlanDraft()
    for key in _LIST_KEYS:
        raw_steps = value.get(key)
        if _may_contain_steps(key, raw_steps):
            draft = parse_plan_value(raw_steps, f"{where}/{escape(key)}", depth + 1)
            words = [value[word] for word in _REMARK_KEYS if isinstance(value.get(word), str)]
            draft.remarks = "\n".join([*words, draft.remarks]).strip()
            return draft
    if all(_NUMBERED_KEY.fullmatch(key) for key in value):
        draft = PlanDraft()
        _add_items(draft, _build_numbered_items(value, where), None, depth)
        return draft
    text = extract_step_text(value, where)
    if text is not None:
        return parse_plan_text(text)
    if any(value.get(key, value) is None for key in _LIST_KEYS):
        return PlanDraft()
    raise InvalidInput(
        "The plan object contains no list of steps.",
        where=where or "plan",
        advice=f"Put the steps under one of these keys: {', '.join(_LIST_KEYS[:5])}.",
    )


def _may_contain_steps(key: str, value: Json) -> bool:
    if isinstance(value, str):
        return key in {"plan", "steps"} or _decode_json(value) is not None
    return isinstance(value, list) or (isinstance(value, dict) and _contains_list(value))


def _contains_list(value: Json) -> bool:
    """Return whether a list of steps is nested under one of `_LIST_KEYS`."""
    here: list[Json] = [value]
    for _ in range(_DEEPEST):
        if not here:
            return False
        current = here.pop()
        if isinstance(current, str):
            current = _decode_json(current)
        if isinstance(current, list):
            return True
        if isinstance(current, dict):
            inside = cast("dict[str, Json]", current)
            if inside and all(_NUMBERED_KEY.fullmatch(key) for key in inside):
                return True
            here += [inside[key] for key in _LIST_KEYS if key in inside]
    return True  # too deep to tell; parsing it raises the error


@dataclass(frozen=True, slots=True)
class _PlanItem:
    """One item of a list, with its printed number and its pointer."""

    value: Json
    where: str
    marker: Marker | None = None


def _build_list_items(values: Sequence[Json], where: str) -> list[_PlanItem]:
    numbers = _find_printed_numbers(values)
    return [
        _PlanItem(value, f"{where}/{index}", numbers.get(index))
        for index, value in enumerate(values)
    ]


def _build_numbered_items(value: Mapping[str, Json], where: str) -> list[_PlanItem]:
    """Return one item per key of `{"1": "...", "step_2": {...}}`."""
    items: list[_PlanItem] = []
    for key, item in value.items():
        match = _NUMBERED_KEY.fullmatch(key)
        marker = Marker("number", match and match[1], item if isinstance(item, str) else "")
        items.append(_PlanItem(item, f"{where}/{escape(key)}", marker))
    return items


def _add_items(
    draft: PlanDraft, items: Sequence[_PlanItem], parent: int | None, depth: int
) -> None:
    """Append the items to `draft`, each followed by its sub-items."""
    if depth > _DEEPEST:
        raise InvalidInput(
            f"The plan is nested more than {_DEEPEST} levels deep.", where=items[0].where
        )
    index_by_label: dict[str, int] = {}
    for item in items:
        entry = _build_entry(item.value, item.where)
        index = parent
        if has_text(entry.text):
            label = item.marker.label if item.marker else entry.label
            text = item.marker.text if item.marker and item.marker.text else entry.text
            above = index_by_label.get(label.rpartition(".")[0], parent) if label else parent
            index = len(draft.entries)
            draft.entries.append(replace(entry, text=text, label=label, parent=above))
            if label:
                index_by_label[label] = index
        value = item.value
        if isinstance(value, dict):
            inner = cast("dict[str, Json]", value)
            key = find_children_key(inner, item.where)
            if key is not None and inner[key]:
                refining = _build_list_items(inner[key], f"{item.where}/{escape(key)}")
                _add_items(draft, refining, index, depth + 1)


def _find_printed_numbers(items: Sequence[Json]) -> dict[int, Marker]:
    """Return the numbers that the items begin with, if all have one and all differ."""
    markers: dict[int, Marker] = {}
    for index, item in enumerate(items):
        if not isinstance(item, str):
            return {}
        if item.strip():
            marker = read_number(strip_bullet(item))
            if marker is None or not marker.text:
                return {}
            markers[index] = marker
    return markers if len({marker.label for marker in markers.values()}) == len(markers) else {}


def _build_entry(item: Json, where: str) -> PlanEntry:
    if isinstance(item, str):
        return PlanEntry(text=strip_bullet(item))
    if isinstance(item, dict):
        return parse_entry(cast("dict[str, Json]", item), where)
    raise _wrong_type_error(item, where, "A step must be text or an object")


def _wrong_type_error(value: Json, where: str, rule: str) -> InvalidInput:
    type_name = type(value).__name__
    kind = "null" if value is None else _KINDS.get(type_name, f"`{type_name}`")
    return InvalidInput(f"{rule}, not {kind}.", where=where or "plan")


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
    """Return the plan entry that an object describes."""
    text = extract_step_text(item, where)
    if text is None:
        raise InvalidInput(
            "The step has no text.",
            where=where,
            advice=f"Put it under one of these keys: {', '.join(_HEADS[:4])}.",
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
    """Return the text of a step given as an object; None if it has no text field."""
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
    return _extract_only_field(item)


def find_children_key(item: Mapping[str, Json], where: str) -> str | None:
    """Return the key that contains the sub-steps of a step."""
    for key in _CHILDREN:
        children = item.get(key)
        if isinstance(children, list):
            return key
        if isinstance(children, (dict, bool, int, float)):
            raise InvalidInput("Sub-steps must be a list.", where=f"{where}/{escape(key)}")
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
            raise InvalidInput(
                "The text of a step must be a string.", where=f"{where}/{escape(key)}"
            )
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
    """Return `search({"query": "..."})` for a step that names a tool and its arguments."""
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


def _extract_only_field(item: Mapping[str, Json]) -> str | None:
    """Return the text of `{"search": "the price"}`: one field whose key belongs to the step."""
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
