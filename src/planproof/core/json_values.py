"""Helpers for JSON values of unknown shape: type checks, lookups, parsing and limits."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from math import isfinite
from typing import TypeGuard

from msgspec.json import Decoder

from planproof.core.content import Json

MAX_DEPTH = 200
"""Maximum nesting depth: more than any framework writes, less than Python can walk."""

_CONTAINERS = frozenset((dict, list))
_OPENING, _CLOSING = "{[", "}]"
_WHITE_SPACE = " \t\n\r"
_LENIENT_DECODER = json.JSONDecoder(parse_constant=str)
# Parsed values have no cycles.
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False)
_MAX_EMBEDDED_LENGTH = 20_000_000
_LATEST_SECOND = 1e11


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    """Return whether a value is a JSON object."""
    return isinstance(value, dict)


def is_list(value: Json) -> TypeGuard[list[Json]]:
    """Return whether a value is a JSON array."""
    return isinstance(value, list)


def is_deeper_than(value: Json, limit: int) -> bool:
    """Return whether arrays and objects are nested more than `limit` levels deep."""
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
    """Return the value of the first of these keys that is a non-empty string."""
    for key in keys:
        text = value.get(key)
        if text and isinstance(text, str):
            return text
    return None


def key_with_text(value: dict[str, Json], keys: Iterable[str]) -> str | None:
    """Return the first of these keys whose value is a string that is not blank."""
    for key in keys:
        text = value.get(key)
        if text and isinstance(text, str) and not text.isspace():
            return key
    return None


def key_with_list(value: dict[str, Json], keys: Iterable[str]) -> str | None:
    """Return the first of these keys whose value is an array."""
    return next((key for key in keys if is_list(value.get(key))), None)


def parse_embedded_json(text: str) -> Json:
    """Return the JSON object or array that a string contains; None if there is none."""
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
    # Each level needs two brackets.
    return None if len(bare) > 2 * MAX_DEPTH and is_deeper_than(value, MAX_DEPTH) else value


def format_value(value: Json) -> str:
    """Return a value as the text of an event: strings unchanged, other values as JSON."""
    if isinstance(value, str):
        return value
    # The encoder takes ten times as long for a single value.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return repr(value)
    return "" if value is None else _ENCODER.encode(value)


def parse_time(value: Json) -> str | None:
    """Return a time as ISO 8601, from text or from (milli-, micro-, nano-)seconds since 1970."""
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
"""Raised for text that is not strict JSON; the standard library may still parse it."""

MAX_VALUES = 2_000_000
"""Default maximum number of values and keys in JSON."""

_BLOCK = 1 << 20
_decode = Decoder().decode


def parse_strict(text: str) -> Json:
    """Parse text as strict JSON; raises one of `NOT_STRICT_ERRORS`."""
    # Encode explicitly: otherwise a non-ASCII string keeps a copy of its UTF-8 bytes.
    return _decode(text if text.isascii() else text.encode())


def has_more_values(text: str, limit: int) -> bool:
    """Return whether JSON text has more than `limit` values and keys, without parsing it.

    Three bytes of text may become an object of a hundred. An empty list or object counts twice.
    """
    # This count includes marks inside strings; if it is low enough, no closer look is needed.
    if len(text) < limit or _count_marks(text) < limit:
        return False
    count, start, in_string = 1, 0, False
    while start < len(text) and count <= limit:
        end = start + _BLOCK
        # Do not separate a backslash from the character that it escapes.
        while text[end - 1 : end] == "\\":
            end += 1
        parts = text[start:end].replace("\\\\", "").replace('\\"', "").split('"')
        count += _count_marks("".join(parts[in_string::2]))
        in_string ^= len(parts) % 2 == 0
        start = end
    return count > limit


def _count_marks(text: str) -> int:
    """Count the characters that begin a value or end a key."""
    return sum(map(text.count, ",:[{"))
