"""Iterate over the entries of a source: lines, or items of a list or of a list in an object."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice
from typing import TypeAlias

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, key_with_list
from planproof.readers.decoding.source import Source

SNIFF_LIMIT = 20
"""The number of entries that a reader examines to detect its format."""


def iter_entries(
    source: Source,
    list_keys: Sequence[str] = (),
    is_entry: Callable[[dict[str, Json]], bool] | None = None,
) -> Iterator[tuple[str, Json]]:
    """Yield each entry with its pointer; `list_keys` are the keys of an object's list.

    An object accepted by `is_entry` is itself the only entry: JSON Lines of one line are JSON.
    """
    if source.form == "jsonl":
        for line, value in source.document:
            yield f"L{line}", value
        return
    document, pointer = source.document, ""
    if is_object(document):
        if is_entry is not None and is_entry(document):
            yield pointer, document
            return
        key = key_with_list(document, list_keys)
        if key is None:
            return
        document, pointer = document[key], f"/{key}"
    if is_list(document):
        for index, value in enumerate(document):
            yield f"{pointer}/{index}", value


def take_first_entries(
    source: Source,
    list_keys: Sequence[str] = (),
    is_entry: Callable[[dict[str, Json]], bool] | None = None,
) -> Sequence[Json]:
    """Return the first entries, without pointers, for format detection."""
    return [value for _, value in islice(iter_entries(source, list_keys, is_entry), SNIFF_LIMIT)]


def iter_items(value: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yield the items of a list with their pointers; nothing if it is not a list."""
    for index, item in enumerate(value if is_list(value) else ()):
        yield f"{pointer}/{index}", item


def iter_flat_entries(
    source: Source, list_keys: Sequence[str], is_entry: Callable[[dict[str, Json]], bool]
) -> Iterator[tuple[str, Json]]:
    """Yield each entry as `iter_entries` does, and of an entry that is a list its items."""
    for pointer, entry in iter_entries(source, list_keys, is_entry):
        if is_list(entry):
            yield from iter_items(entry, pointer)
        else:
            yield pointer, entry


PointerFactory: TypeAlias = Callable[[int, int], str]
"""Makes a pointer from the start and end of a range of a text."""


def make_constant_pointer(pointer: str) -> PointerFactory:
    """Return a factory with one pointer for all ranges: a JSON string has no pointers into it."""
    return lambda start, end: pointer


def point_to_lines(first: int, last: int) -> str:
    """Return the pointer to lines of a text."""
    return f"L{first}" if first == last else f"L{first}-{last}"


def make_line_pointer(pointer: str, lines: Sequence[str]) -> PointerFactory:
    """Return a factory for a text joined from lines: a line's pointer, or the list's pointer."""
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))

    def pointer_for(start: int, end: int) -> str:
        first, last = bisect_right(starts, start) - 1, bisect_right(starts, max(start, end - 1)) - 1
        return f"{pointer}/{first}" if first == last else pointer

    return pointer_for


def make_range_pointer(
    text: str, numbers: Sequence[int], lines_at: Callable[[int, int], str] = point_to_lines
) -> PointerFactory:
    """Return a factory for a text whose lines have these numbers in the source.

    A range is narrowed to its lines without the blank ones around it. `lines_at` makes the pointer
    from the first and the last number.
    """
    starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))

    def pointer_for(start: int, end: int) -> str:
        fragment = text[start:end]
        first = start + len(fragment) - len(fragment.lstrip())
        last = max(first, start + len(fragment.rstrip()) - 1)
        return lines_at(
            numbers[min(bisect_right(starts, first), len(numbers)) - 1],
            numbers[min(bisect_right(starts, last), len(numbers)) - 1],
        )

    return pointer_for
