"""Looking at JSON values of unknown shape without tripping over them."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, TypeGuard, cast

from planproof.content import Json

DEEPEST = 200
"""How deeply a value may be nested: more than any framework writes, less than Python can walk."""

_CONTAINERS = frozenset((dict, list))
_BRACKETS = frozenset(("{}", "[]"))
_WHITE_SPACE = " \t\n\r"
# What `raw_decode` asks, without the way there: it is asked for every call.
_SCAN: Callable[[str, int], tuple[Json, int]] = cast(
    "Any", json.JSONDecoder(parse_constant=str)
).scan_once
# What was parsed has no circles to look for.
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False)
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
    if not _may_be_deeper_than(level, limit):
        return False
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


def _may_be_deeper_than(level: list[Json], limit: int) -> bool:
    """The same in a fifth of the time; a yes is to be looked into.

    The garbage collector keeps track of whatever holds an array or an object; of what holds only
    plain values it need not, so that the last level may go unseen.
    """
    for _ in range(limit - 1):
        if not level:
            return False
        level = list(filter(gc.is_tracked, gc.get_referents(*level)))
    return True


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
    if bare[:1] + bare[-1:] not in _BRACKETS or len(bare) > _BIGGEST_EMBEDDED:
        return None
    try:
        # It stops the iteration where a value should begin and none does.
        value, end = _SCAN(bare, 0)
    except (ValueError, RecursionError, StopIteration):
        return None
    if end < len(bare):
        return None
    # What is nested so deeply has as many brackets that open, and that close.
    return None if end > 2 * DEEPEST and is_deeper_than(value, DEEPEST) else value


def written(value: Json) -> str:
    """A value as the text of an event: strings as they are, the rest as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else _ENCODER.encode(value)


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
