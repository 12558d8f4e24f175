"""Whether a quote stands in a part of the source, word for word."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from planproof.core.content import Json

ELLIPSIS = "…"

# Any number of backslashes: JSON may hold JSON that holds JSON.
_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|([nrtbf])|(?=(.)))?", re.DOTALL)
_PUNCTUATION = '{}[]:,"'
# As it is printed, as it is typed, or in brackets.
_LEFT_OUT = re.compile(rf"[\[(]?(?:{ELLIPSIS}|\.\.\.)[\])]?")


def quotable(value: Json) -> str:
    """A raw value as text in which quotes are looked for."""
    return _plain(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def stands_in(quote: str, text: str) -> bool:
    """Whether a quote stands in a `quotable` text; … or ... may stand for what was skipped.

    JSON escapes are undone on both sides and white space is folded; upper and lower case differ.
    """
    plain, pieces = _pieces(quote)
    if not any(pieces):
        return False
    if plain in text:
        return True
    reached = 0
    for piece in pieces:
        reached = text.find(piece, reached)
        if reached < 0:
            return False
        reached += len(piece)
    return len(pieces) > 1


@lru_cache(maxsize=64)
def _pieces(quote: str) -> tuple[str, tuple[str, ...]]:
    """A quote as it is looked for, whole and between what it skips."""
    plain = _plain(quote)
    return plain, tuple(map(str.strip, _LEFT_OUT.split(plain)))


def _plain(text: str) -> str:
    if "\\" in text:
        text = _paired(_ESCAPE.sub(_unescaped, text))
    text = " ".join(text.split())
    # One after the other: a pattern that finds them all takes several times as long.
    for mark in _PUNCTUATION:
        if mark in text:
            text = text.replace(f" {mark}", mark).replace(f"{mark} ", mark)
    return text


def _unescaped(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    return " " if found[2] else ""


def _paired(text: str) -> str:
    """Two escapes that are the halves of one character, put together."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
