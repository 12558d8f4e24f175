"""Places: pointers to stretches of a text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TypeAlias

from planproof.core.content import Json

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
