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
_ELLIPSIS_PATTERN = re.compile(rf"[\[(]?(?:{ELLIPSIS}|\.\.\.)[\])]?")


def to_searchable_text(value: Json) -> str:
    """A raw value as text in which quotes are looked for."""
    return _normalize(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def is_quote_in(quote: str, text: str) -> bool:
    """Whether a quote stands in a `quotable` text; … or ... may stand for what was skipped.

    JSON escapes are undone on both sides and white space is folded; upper and lower case differ.
    """
    plain, parts = _split_at_ellipses(quote)
    if not any(parts):
        return False
    if plain in text:
        return True
    reached = 0
    for part in parts:
        reached = text.find(part, reached)
        if reached < 0:
            return False
        reached += len(part)
    return len(parts) > 1


@lru_cache(maxsize=64)
def _split_at_ellipses(quote: str) -> tuple[str, tuple[str, ...]]:
    """A quote as it is looked for, whole and between what it skips."""
    plain = _normalize(quote)
    return plain, tuple(map(str.strip, _ELLIPSIS_PATTERN.split(plain)))


def _normalize(text: str) -> str:
    if "\\" in text:
        text = _join_surrogates(_ESCAPE.sub(_unescape_match, text))
    text = " ".join(text.split())
    # One after the other: a pattern that finds them all takes several times as long.
    for mark in _PUNCTUATION:
        if mark in text:
            text = text.replace(f" {mark}", mark).replace(f"{mark} ", mark)
    return text


def _unescape_match(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return " " if match[2] else ""


def _join_surrogates(text: str) -> str:
    """Two escapes that are the halves of one character, put together."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
