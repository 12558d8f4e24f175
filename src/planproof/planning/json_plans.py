"""A plan given as JSON: the shapes in which tools and frameworks write their steps down."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from planproof.core.content import Json
from planproof.core.pointer import escape
from planproof.errors import InvalidInput
from planproof.planning.list_markers import Marker, read_number, says_something, without_bullet
from planproof.planning.plan_entry import Draft, Entry
from planproof.planning.step_fields import children_key, entry_of_object, text_of_object
from planproof.planning.written_plan import draft_of_text

_LISTS = (
    "plan steps todos tasks items todo todo_list todoList newTodos task_list taskList plan_steps "
    "planSteps agent_plan action_plan actions subtasks stages phases checklist entries "
    "arguments input args function parameters"
).split()
_WORDS = ("title", "description", "explanation", "overview", "introduction", "note")
_NUMBERED_KEY = re.compile(
    r"(?:step|task)?[\s_\-#]*(\d{1,6}(?:\.\d{1,3}){0,4})[.):]?", re.IGNORECASE
)
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(?P<json>\s*[\[{].*)\n\s*```\s*", re.DOTALL)
_KINDS = {"bool": "true or false", "int": "a number", "float": "a number", "list": "a list"}
_DEEPEST = 40


def draft_of_value(value: Json, where: str = "", depth: int = 0) -> Draft:
    """The items of a plan of any shape; `where` is the pointer of the value, for errors."""
    if depth > _DEEPEST:
        raise InvalidInput(f"The plan is nested more than {_DEEPEST} deep.", where=where or "plan")
    if value is None:
        return Draft()
    if isinstance(value, str):
        decoded = _decoded(value)
        return (
            draft_of_text(value) if decoded is None else draft_of_value(decoded, where, depth + 1)
        )
    if isinstance(value, (list, tuple)):
        draft = Draft()
        _add(draft, _items_of_list(cast("Sequence[Json]", value), where), None, depth)
        return draft
    if isinstance(value, dict):
        return _draft_of_object(cast("dict[str, Json]", value), where, depth)
    raise _wrong(value, where, "a plan is text, a list of steps or an object that holds one")


def _decoded(text: str) -> Json | None:
    """The JSON that a text holds, if it is a list or an object, or such JSON as a string."""
    fenced = _FENCED.fullmatch(text)
    candidate = fenced["json"] if fenced else text
    if candidate.lstrip()[:1] not in {"[", "{", '"'}:
        return None
    try:
        value: Json = json.loads(candidate)
    except RecursionError:
        raise InvalidInput("The plan's JSON is nested too deeply.", where="plan") from None
    except ValueError:
        return None  # "[ ] buy milk" is no JSON but a list all the same
    return cast("Json", value) if isinstance(value, (list, dict, str)) else None


def _draft_of_object(value: dict[str, Json], where: str, depth: int) -> Draft:
    if not value:
        return Draft()
    for key in _LISTS:
        held = value.get(key)
        if _may_hold_steps(key, held):
            draft = draft_of_value(held, f"{where}/{escape(key)}", depth + 1)
            words = [value[word] for word in _WORDS if isinstance(value.get(word), str)]
            draft.remarks = "\n".join([*words, draft.remarks]).strip()
            return draft
    if all(_NUMBERED_KEY.fullmatch(key) for key in value):
        draft = Draft()
        _add(draft, _items_of_object(value, where), None, depth)
        return draft
    text = text_of_object(value, where)
    if text is not None:
        return draft_of_text(text)
    if any(value.get(key, value) is None for key in _LISTS):
        return Draft()
    raise InvalidInput(
        "The plan's object holds no list of steps.",
        where=where or "plan",
        advice=f"Put them under one of {', '.join(_LISTS[:5])}.",
    )


def _may_hold_steps(key: str, held: Json) -> bool:
    if isinstance(held, str):
        return key in {"plan", "steps"} or _decoded(held) is not None
    return isinstance(held, list) or (isinstance(held, dict) and _holds_list(held))


def _holds_list(value: Json) -> bool:
    """Whether a list of steps stands somewhere under the keys that hold one."""
    here: list[Json] = [value]
    for _ in range(_DEEPEST):
        if not here:
            return False
        held = here.pop()
        if isinstance(held, str):
            held = _decoded(held)
        if isinstance(held, list):
            return True
        if isinstance(held, dict):
            inside = cast("dict[str, Json]", held)
            if inside and all(_NUMBERED_KEY.fullmatch(key) for key in inside):
                return True
            here += [inside[key] for key in _LISTS if key in inside]
    return True  # too deep to tell; whoever reads it will say so


@dataclass(frozen=True, slots=True)
class _Item:
    """An item of a list, with the number that was printed before it and where it stands."""

    value: Json
    where: str
    marker: Marker | None = None


def _items_of_list(values: Sequence[Json], where: str) -> list[_Item]:
    numbers = _printed_numbers(values)
    return [
        _Item(value, f"{where}/{index}", numbers.get(index)) for index, value in enumerate(values)
    ]


def _items_of_object(value: Mapping[str, Json], where: str) -> list[_Item]:
    """`{"1": "...", "step_2": {...}}`: one item a key."""
    items: list[_Item] = []
    for key, held in value.items():
        found = _NUMBERED_KEY.fullmatch(key)
        marker = Marker("number", found and found[1], held if isinstance(held, str) else "")
        items.append(_Item(held, f"{where}/{escape(key)}", marker))
    return items


def _add(draft: Draft, items: Sequence[_Item], parent: int | None, depth: int) -> None:
    """Write the items down, each with what refines it after it."""
    if depth > _DEEPEST:
        raise InvalidInput(f"The plan is nested more than {_DEEPEST} deep.", where=items[0].where)
    places: dict[str, int] = {}
    for item in items:
        entry = _entry(item.value, item.where)
        place = parent
        if says_something(entry.text):
            label = item.marker.label if item.marker else entry.label
            text = item.marker.text if item.marker and item.marker.text else entry.text
            above = places.get(label.rpartition(".")[0], parent) if label else parent
            place = len(draft.entries)
            draft.entries.append(replace(entry, text=text, label=label, parent=above))
            if label:
                places[label] = place
        value = item.value
        if isinstance(value, dict):
            inner = cast("dict[str, Json]", value)
            key = children_key(inner, item.where)
            if key is not None and inner[key]:
                refining = _items_of_list(inner[key], f"{item.where}/{escape(key)}")
                _add(draft, refining, place, depth + 1)


def _printed_numbers(items: Sequence[Json]) -> dict[int, Marker]:
    """The numbers that the items themselves begin with, if all of them do and all differ."""
    markers: dict[int, Marker] = {}
    for index, item in enumerate(items):
        if not isinstance(item, str):
            return {}
        if item.strip():
            marker = read_number(without_bullet(item))
            if marker is None or not marker.text:
                return {}
            markers[index] = marker
    return markers if len({marker.label for marker in markers.values()}) == len(markers) else {}


def _entry(item: Json, where: str) -> Entry:
    if isinstance(item, str):
        return Entry(text=without_bullet(item))
    if isinstance(item, dict):
        return entry_of_object(cast("dict[str, Json]", item), where)
    raise _wrong(item, where, "a step is text or an object")


def _wrong(value: Json, where: str, rule: str) -> InvalidInput:
    kind = "null" if value is None else _KINDS.get(type(value).__name__, "another thing")
    return InvalidInput(f"Found {kind} where {rule}.", where=where or "plan")
