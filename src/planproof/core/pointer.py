"""Pointers to positions in a source, and how to resolve them.

A JSON document is addressed by a JSON pointer (`/3/tool_calls/0`; the empty one is the whole
document), JSON Lines by a 1-based line and a JSON pointer (`L12/message/content`), and text by
lines (`L12`, `L12-20`) or by characters of one line (`L12:5-80`). In JSON Lines, `L12-90/content`
is a value that arrived in chunks: the values at this pointer in those of the lines 12 to 90 that
have the same `id` as line 12, joined. Strings are concatenated; objects are merged key by key.
Below a string, `L12-20` are lines of it: `/log/L12-20`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import TypeAlias, cast

from planproof.core.content import Json
from planproof.errors import InvalidInput

LinesByText: TypeAlias = dict[str, list[str]]
"""The lines of texts that pointers led into."""

_LINES = re.compile(r"L([1-9]\d{0,11})(?:-([1-9]\d{0,11}))?(/.*)?", re.DOTALL)
_COLUMNS = re.compile(r"L([1-9]\d{0,11}):([1-9]\d{0,11})-([1-9]\d{0,11})")
_INDEX = re.compile(r"0|[1-9]\d{0,11}")


def escape(key: str) -> str:
    """Escape a key for a JSON pointer."""
    if "~" in key or "/" in key:
        return key.replace("~", "~0").replace("/", "~1")
    return key


def unescape(token: str) -> str:
    """Return the key that a token of a JSON pointer stands for."""
    return token.replace("~1", "/").replace("~0", "~")


def resolve(document: Json, pointer: str, lines_by_text: LinesByText | None = None) -> Json:
    """Return the value at `pointer`; a tuple is JSON Lines, a string is text, the rest is JSON.

    To resolve many pointers, pass a dictionary in which the lines of texts are kept.
    """
    kept = {} if lines_by_text is None else lines_by_text
    if isinstance(document, tuple):
        return _resolve_in_lines(cast("tuple[tuple[int, Json], ...]", document), pointer, kept)
    if isinstance(document, str) and pointer:
        return _resolve_in_text(document, pointer, kept)
    return _descend(document, pointer, pointer, kept)


def _resolve_in_text(text: str, pointer: str, kept: LinesByText) -> str:
    columns = _COLUMNS.fullmatch(pointer)
    if columns is not None:
        line = _resolve_in_text(text, f"L{columns[1]}", kept)
        start, end = int(columns[2]), int(columns[3])
        if not start <= end <= len(line):
            raise _unresolved_pointer_error(pointer)
        return line[start - 1 : end]
    match = _LINES.fullmatch(pointer)
    if match is None or match[3]:
        raise _unresolved_pointer_error(pointer)
    lines = kept.get(text)
    if lines is None:
        lines = kept[text] = text.split("\n")
    first = int(match[1])
    last = int(match[2] or first)
    if not first <= last <= len(lines):
        raise _unresolved_pointer_error(pointer)
    return "\n".join(lines[first - 1 : last])


def _resolve_in_lines(
    records: tuple[tuple[int, Json], ...], pointer: str, kept: LinesByText
) -> Json:
    if not pointer:
        return [value for _, value in records]
    match = _LINES.fullmatch(pointer)
    if match is None:
        raise _unresolved_pointer_error(pointer)
    first, path = int(match[1]), match[3] or ""
    start = bisect_left(records, first, key=lambda record: record[0])
    if start == len(records) or records[start][0] != first:
        raise _unresolved_pointer_error(pointer)
    if match[2] is None:
        return _descend(records[start][1], path, pointer, kept)
    return _join_chunks(records, start, int(match[2]), path, pointer)


def _join_chunks(
    records: tuple[tuple[int, Json], ...], start: int, last: int, path: str, pointer: str
) -> Json:
    stream = _stream_id(records[start][1])
    strings: list[str] = []
    objects: list[dict[str, Json]] = []
    for line, value in records[start:]:
        if line > last:
            break
        if _stream_id(value) == stream:
            try:
                chunk = _descend(value, path, pointer, {})
            except InvalidInput:
                continue
            if isinstance(chunk, str):
                strings.append(chunk)
            elif isinstance(chunk, dict):
                objects.append(cast("dict[str, Json]", chunk))
    return _merge_objects(objects) if objects else "".join(strings)


def _merge_objects(objects: list[dict[str, Json]]) -> dict[str, Json]:
    """Merge objects: join their strings and objects, keep the first of other values."""
    values_by_key: dict[str, list[Json]] = {}
    for one in objects:
        for key, value in one.items():
            values_by_key.setdefault(key, []).append(value)
    merged: dict[str, Json] = {}
    for key, values in values_by_key.items():
        strings = [value for value in values if isinstance(value, str)]
        inner = [cast("dict[str, Json]", value) for value in values if isinstance(value, dict)]
        if inner:
            merged[key] = _merge_objects(inner)
        else:
            merged[key] = "".join(strings) if strings else values[0]
    return merged


def _stream_id(value: Json) -> Json:
    return cast("dict[str, Json]", value).get("id") if isinstance(value, dict) else None


def _descend(value: Json, path: str, pointer: str, kept: LinesByText) -> Json:
    if not path:
        return value
    if not path.startswith("/"):
        raise _unresolved_pointer_error(pointer)
    for token in path[1:].split("/"):
        if isinstance(value, dict):
            key = unescape(token) if "~" in token else token
            if key not in value:
                raise _unresolved_pointer_error(pointer)
            value = cast("dict[str, Json]", value)[key]
        elif isinstance(value, list):
            items = cast("list[Json]", value)
            if _INDEX.fullmatch(token) is None or int(token) >= len(items):
                raise _unresolved_pointer_error(pointer)
            value = items[int(token)]
        elif isinstance(value, str):
            value = _resolve_in_text(value, token, kept)
        else:
            raise _unresolved_pointer_error(pointer)
    return value


def _unresolved_pointer_error(pointer: str) -> InvalidInput:
    return InvalidInput(
        f"pointer {pointer!r} not found in this source.",
        advice="Use the trace that the pointer was made for.",
    )


def collect_ancestors(pointers: Iterable[str]) -> set[str]:
    """Return the pointers to all ancestors of the values at the given pointers."""
    ancestors: set[str] = set()
    for pointer in pointers:
        end = pointer.rfind("/")
        while end >= 0 and pointer[:end] not in ancestors:
            ancestors.add(pointer[:end])
            end = pointer.rfind("/", 0, end)
    return ancestors
