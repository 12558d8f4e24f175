"""The entries of a source: lines, the items of a list, or of a list that an object holds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TypeAlias

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, key_with_list
from planproof.readers.decoding.source import Source

SNIFF_LIMIT = 20
"""How many entries a reader looks at to find out whether a source is of its format."""


def iter_entries(
    source: Source,
    list_keys: Sequence[str] = (),
    is_entry: Callable[[dict[str, Json]], bool] | None = None,
) -> Iterator[tuple[str, Json]]:
    """Each entry with its pointer; `holders` are the keys under which an object has its list.

    An object that `is_entry` takes is itself the only entry: JSON Lines of one line are JSON.
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


def first_entries(
    source: Source,
    list_keys: Sequence[str] = (),
    is_entry: Callable[[dict[str, Json]], bool] | None = None,
) -> Sequence[Json]:
    """As many of the same entries, without their pointers, as it takes to know a format."""
    document = source.document
    if source.form == "jsonl":
        return [value for _, value in document[:SNIFF_LIMIT]]
    if is_object(document):
        if is_entry is not None and is_entry(document):
            return (document,)
        key = key_with_list(document, list_keys)
        document = document[key] if key is not None else ()
    return document[:SNIFF_LIMIT] if is_list(document) else ()


def iter_items(value: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    """The items of a list with their pointers; nothing when it is no list."""
    for index, item in enumerate(value if is_list(value) else ()):
        yield f"{pointer}/{index}", item


PointerFactory: TypeAlias = Callable[[int, int], str]
"""Makes a pointer of where a stretch of a text begins and ends."""


def make_constant_pointer(pointer: str) -> PointerFactory:
    """The same pointer for all of a text: a JSON string has no pointers into it."""
    return lambda start, end: pointer


def make_line_pointer(pointer: str, lines: Sequence[str]) -> PointerFactory:
    """Places in the text that a list of lines makes: one of them, or the list for several."""
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))

    def pointer_for(start: int, end: int) -> str:
        first, last = bisect_right(starts, start) - 1, bisect_right(starts, max(start, end - 1)) - 1
        return f"{pointer}/{first}" if first == last else pointer

    return pointer_for


def key_pointer(holder: dict[str, Json], key: str, pointer: str) -> str:
    """Where what an object holds under a key stands; the object itself when it has no such key."""
    return f"{pointer}/{key}" if key in holder else pointer
