"""Check that a quote occurs verbatim in a part of the source."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from planproof.core.content import Json
from planproof.core.phrases import collapse_spaces
from planproof.core.pointer import LinesByText, resolve

ELLIPSIS = "…"

# Any number of backslashes: JSON may hold JSON that holds JSON.
_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|([nrtbf])|(?=(.)))?", re.DOTALL)
# Readers of printed text drop the codes for colours; some programs print them without the escape.
_ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]|\[\d{1,3}(?:;\d{1,3}){0,3}m")
_PUNCTUATION = '{}[]:,"'
# What normalizing changes: escapes, codes for colours or the end of one, ellipses.
_SPECIAL = re.compile(rf"[\\\[{ELLIPSIS}]|^\d[\d;]*m|\.\.\.")
# Printed, typed, or in brackets.
_ELLIPSIS_PATTERN = re.compile(rf"[\[(]?(?:{ELLIPSIS}|\.\.\.)[\])]?")


def to_searchable_text(value: Json) -> str:
    """Return a raw value as normalized text in which quotes can be searched."""
    return _normalize(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def is_quote_in(quote: str, text: str) -> bool:
    """Return whether a quote occurs in a text from `to_searchable_text`.

    … or ... may replace omitted text. JSON escapes are undone on both sides and white space is
    collapsed; case matters.
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


class QuotableTexts:
    """The texts of a source by pointer, in which quotes can be searched.

    Many events may share a pointer. Their quotes are mostly looked up in order, so that each search
    begins where the last one ended.
    """

    def __init__(self, document: Json) -> None:
        self._document = document
        self._lines: LinesByText = {}
        self._texts: dict[str, str] = {}
        self._used: set[str] = set()
        self._last_found: dict[str, int] = {}
        self._missing: set[tuple[str, str]] = set()

    def get(self, pointer: str) -> str:
        """Return the text at a pointer, from `to_searchable_text`."""
        text = self._texts.get(pointer)
        if text is None:
            value = resolve(self._document, pointer, self._lines)
            text = self._texts[pointer] = to_searchable_text(value)
        return text

    def contains(self, quote: str, pointer: str) -> bool:
        """Return whether a quote occurs at a pointer, as `is_quote_in` says."""
        if pointer not in self._used and _is_plain(quote):
            # Most pointers belong to one event, and most quotes are part of one string as it is.
            self._used.add(pointer)
            value = resolve(self._document, pointer, self._lines)
            if _is_in_one_string(quote, value):
                return True
        text = self.get(pointer)
        plain, parts = _split_at_ellipses(quote)
        if any(parts):
            found = text.find(plain, self._last_found.get(pointer, 0))
            if found >= 0:
                self._last_found[pointer] = found
                return True
        if (pointer, quote) in self._missing:
            return False
        if is_quote_in(quote, text):
            return True
        self._missing.add((pointer, quote))
        return False


def _is_plain(quote: str) -> bool:
    """Return whether a quote has only characters that normalizing a text leaves as they are."""
    if not quote.isprintable() and not "".join(quote.split()).isprintable():
        return False
    return not (_SPECIAL.search(quote) or quote.isspace() or not quote)


def _is_in_one_string(quote: str, value: Json) -> bool:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if quote in item:
                return True
        elif isinstance(item, dict):
            pending += (*item, *item.values())
        elif isinstance(item, list | tuple):
            pending += item
    return False


@lru_cache(maxsize=64)
def _split_at_ellipses(quote: str) -> tuple[str, tuple[str, ...]]:
    """Return the normalized quote, and its parts between ellipses."""
    plain = _normalize(quote)
    return plain, tuple(map(str.strip, _ELLIPSIS_PATTERN.split(plain)))


def _normalize(text: str) -> str:
    if "\\" in text:
        text = _join_surrogates(_ESCAPE.sub(_unescape_match, text))
    if "[" in text:
        text = _ANSI.sub("", text)
    text = collapse_spaces(text)
    # One at a time: a regular expression for all takes several times as long.
    for mark in _PUNCTUATION:
        if mark in text:
            text = text.replace(f" {mark}", mark).replace(f"{mark} ", mark)
    return text


def _unescape_match(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return " " if match[2] else ""


def _join_surrogates(text: str) -> str:
    """Combine surrogate pairs that were escaped separately."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
