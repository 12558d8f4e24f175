"""Looking at JSON values of unknown shape without tripping over them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TypeGuard

from planproof.content import Json

DEEPEST = 200
"""How deeply a value may be nested: more than any framework writes, less than Python can walk."""

_CONTAINERS = frozenset((dict, list))
_WHITE_SPACE = " \t\n\r"
_DECODER = json.JSONDecoder(parse_constant=str)
_BIGGEST_EMBEDDED = 20_000_000
_LATEST_SECOND = 1e11


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    """Whether this is a JSON object."""
    return isinstance(value, dict)


def is_list(value: Json) -> TypeGuard[list[Json]]:
    """Whether this is a JSON array."""
    return isinstance(value, list)


def is_deeper_than(value: Json, limit: int) -> bool:
    """Whether arrays and objects are nested in each other more than `limit` times."""
    level: list[Json] = [value] if value.__class__ in _CONTAINERS else []
    for _ in range(limit):
        if not level:
            return False
        level = [
            child
            for parent in level
            for child in (parent.values() if parent.__class__ is dict else parent)
            if child.__class__ in _CONTAINERS
        ]
    return bool(level)


def text_at(value: dict[str, Json], *keys: str) -> str | None:
    """The first of these fields that is a string with something in it."""
    for key in keys:
        found = value.get(key)
        if found and isinstance(found, str):
            return found
    return None


def key_with_text(value: dict[str, Json], keys: Iterable[str]) -> str | None:
    """The first of these keys under which a string with more than white space stands."""
    for key in keys:
        found = value.get(key)
        if found and isinstance(found, str) and not found.isspace():
            return key
    return None


def key_with_list(value: dict[str, Json], keys: Iterable[str]) -> str | None:
    """The first of these keys under which an array stands."""
    return next((key for key in keys if is_list(value.get(key))), None)


def embedded(text: str) -> Json:
    """The JSON object or array that a string holds; None when it holds none."""
    bare = text.strip(_WHITE_SPACE)
    if not bare.startswith(("{", "[")) or len(bare) > _BIGGEST_EMBEDDED:
        return None
    try:
        value, end = _DECODER.raw_decode(bare)
    except (ValueError, RecursionError):
        return None
    # What is nested so deeply needs as many brackets.
    is_deep = bare.count("[") + bare.count("{") > DEEPEST and is_deeper_than(value, DEEPEST)
    return None if end < len(bare) or is_deep else value


def written(value: Json) -> str:
    """A value as the text of an event: strings as they are, the rest as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def time_of(value: Json) -> str | None:
    """A time as ISO 8601: given so, or as seconds, milli-, micro- or nanoseconds since 1970."""
    if isinstance(value, str):
        if not (value.isascii() and value.isdigit()) or len(value) > 20:
            return value[:64] or None
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        seconds = float(value)
        while abs(seconds) > _LATEST_SECOND:
            seconds /= 1000
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None
