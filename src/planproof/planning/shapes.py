"""A plan given as JSON: the shapes in which tools and frameworks write their steps down."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from planproof.content import Json
from planproof.errors import InvalidInput
from planproof.planning.entry import Draft, Entry
from planproof.planning.fields import children_key, entry_of_object, text_of_object
from planproof.planning.markers import Marker, read_number, says_something, without_bullet
from planproof.planning.written import draft_of_text
from planproof.pointer import escape

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
        _add_list(draft, cast("Sequence[Json]", value), where, None, depth)
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
        if isinstance(held, (list, dict)) or (isinstance(held, str) and key in _LISTS[:2]):
            if isinstance(held, dict) and not _holds_list(cast("dict[str, Json]", held)):
                continue
            draft = draft_of_value(held, f"{where}/{escape(key)}", depth + 1)
            words = [value[word] for word in _WORDS if isinstance(value.get(word), str)]
            draft.remarks = "\n".join([*words, draft.remarks]).strip()
            return draft
    numbered = _numbered_entries(value, where)
    if numbered is not None:
        return numbered
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


def _holds_list(value: Mapping[str, Json]) -> bool:
    """Whether a list of steps stands somewhere under the keys that hold one."""
    seen = 0
    here: list[Json] = [value]
    while here and seen < _DEEPEST:
        seen += 1
        held = here.pop()
        if isinstance(held, list):
            return True
        if isinstance(held, str):
            held = _decoded(held)
        if isinstance(held, dict):
            inside = cast("dict[str, Json]", held)
            if inside and all(_NUMBERED_KEY.fullmatch(key) for key in inside):
                return True
            here += [inside[key] for key in _LISTS if key in inside]
    return False


def _numbered_entries(value: Mapping[str, Json], where: str) -> Draft | None:
    """`{"1": "...", "step_2": {...}}`: one step a key."""
    found = {key: _NUMBERED_KEY.fullmatch(key) for key in value}
    if not all(found.values()):
        return None
    entries = [
        replace(_entry(value[key], f"{where}/{escape(key)}"), label=match and match[1])
        for key, match in found.items()
    ]
    return Draft(entries=[entry for entry in entries if says_something(entry.text)])


def _add_list(
    draft: Draft, items: Sequence[Json], where: str, parent: int | None, depth: int
) -> None:
    if depth > _DEEPEST:
        raise InvalidInput(f"The plan is nested more than {_DEEPEST} deep.", where=where)
    numbers = _printed_numbers(items)
    places: dict[str, int] = {}
    for index, item in enumerate(items):
        at = f"{where}/{index}"
        entry = _entry(item, at)
        marker = numbers.get(index)
        if not says_something(entry.text):
            continue
        label = marker.label if marker else entry.label
        head = label.rpartition(".")[0] if label else ""
        above = places.get(head, parent)
        place = len(draft.entries)
        text = marker.text if marker else entry.text
        draft.entries.append(replace(entry, text=text, label=label, parent=above))
        if label:
            places[label] = place
        if isinstance(item, dict):
            inner = cast("dict[str, Json]", item)
            key = children_key(inner, at)
            if key is not None:
                _add_list(draft, inner[key], f"{at}/{escape(key)}", place, depth + 1)


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
