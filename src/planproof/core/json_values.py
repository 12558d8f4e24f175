"""Looking at JSON values of unknown shape without tripping over them."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TypeGuard, cast

from msgspec.json import Decoder

from planproof.core.content import Json

MAX_DEPTH = 200
"""How deeply a value may be nested: more than any framework writes, less than Python can walk."""

_CONTAINERS = frozenset((dict, list))
_OPENING, _CLOSING = "{[", "}]"
_WHITE_SPACE = " \t\n\r"
_LENIENT_DECODER = json.JSONDecoder(parse_constant=str)
# What was parsed has no circles to look for.
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False)
_MAX_EMBEDDED_LENGTH = 20_000_000
_LATEST_SECOND = 1e11


# Asked of nearly every value: the check of the class itself spares a call of Python's.
is_object = cast("Callable[[Json], TypeGuard[dict[str, Json]]]", dict.__instancecheck__)
"""Whether this is a JSON object."""
is_list = cast("Callable[[Json], TypeGuard[list[Json]]]", list.__instancecheck__)
"""Whether this is a JSON array."""


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
        text = value.get(key)
        if text and isinstance(text, str):
            return text
    return None


def key_with_text(value: dict[str, Json], keys: Iterable[str]) -> str | None:
    """The first of these keys under which a string with more than white space stands."""
    for key in keys:
        text = value.get(key)
        if text and isinstance(text, str) and not text.isspace():
            return key
    return None


def key_with_list(value: dict[str, Json], keys: Iterable[str]) -> str | None:
    """The first of these keys under which an array stands."""
    return next((key for key in keys if is_list(value.get(key))), None)


def parse_embedded_json(text: str) -> Json:
    """The JSON object or array that a string holds; None when it holds none."""
    bare = text.strip(_WHITE_SPACE)
    if not bare or bare[0] not in _OPENING or bare[-1] not in _CLOSING:
        return None
    if len(bare) > _MAX_EMBEDDED_LENGTH or has_more_values(bare, MAX_VALUES):
        return None
    try:
        value = parse_strict(bare)
    except NOT_STRICT_ERRORS:
        try:
            value = _LENIENT_DECODER.decode(bare)
        except NOT_STRICT_ERRORS:
            return None
    # Each level takes a bracket at both ends.
    return None if len(bare) > 2 * MAX_DEPTH and is_deeper_than(value, MAX_DEPTH) else value


def format_value(value: Json) -> str:
    """A value as the text of an event: strings as they are, the rest as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else _ENCODER.encode(value)


def parse_time(value: Json) -> str | None:
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


NOT_STRICT_ERRORS = (ValueError, RecursionError)
"""What is raised where a text is no strict JSON; it may still be JSON to the standard library."""

MAX_VALUES = 2_000_000
"""How many values and keys JSON may hold, unless something else is configured."""

_BLOCK = 1 << 20
_decode = Decoder().decode


def parse_strict(text: str) -> Json:
    """The JSON value that a text holds; raises one of `NOT_STRICT`."""
    # A text keeps the bytes that it had to be encoded to, unless they are made apart from it.
    return _decode(text if text.isascii() else text.encode())


def has_more_values(text: str, limit: int) -> bool:
    """Return whether JSON text holds more than so many values and keys, without parsing it.

    Three bytes of text may become an object of a hundred. An empty list or object counts twice.
    """
    # Marks inside strings are counted as well: if these are few enough, there is no need to look.
    if len(text) < limit or _count_marks(text) < limit:
        return False
    count, start, in_string = 1, 0, False
    while start < len(text) and count <= limit:
        end = start + _BLOCK
        # A backslash belongs to the character that follows it.
        while text[end - 1 : end] == "\\":
            end += 1
        parts = text[start:end].replace("\\\\", "").replace('\\"', "").split('"')
        count += _count_marks("".join(parts[in_string::2]))
        in_string ^= len(parts) % 2 == 0
        start = end
    return count > limit


def _count_marks(text: str) -> int:
    """Count what begins a value or ends a key."""
    return sum(map(text.count, ",:[{"))
