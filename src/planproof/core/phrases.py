"""Format names, quotes and lists from a case for use in a sentence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TypeVar

_Item = TypeVar("_Item")

OPEN_QUOTE = "“"
CLOSE_QUOTE = "”"
ELLIPSIS = "…"

# Words that the program's own sentences never use; a tool called "close" is quoted.
DEGREE_WORDS = re.compile(
    r"\b(?:mostly|largely|mainly|close|closely|reasonabl[ey]|significant(?:ly)?|substantial(?:ly)?|"
    r"considerabl[ey]|fairly|quite|rather(?! than)|very|somewhat|generally|nearly|almost|roughly|"
    r"adequate(?:ly)?|good|poor(?:ly)?|excellent|perfect(?:ly)?|great(?:ly)?|slight(?:ly)?|decent|"
    r"relatively|extremely|highly|strong(?:ly)?|weak(?:ly)?|essentially|sufficient(?:ly)?)\b",
    re.IGNORECASE,
)
QUOTED_TEXT = re.compile(r"“[^“”]*”|\"[^\"]*\"|`[^`]*`|(?<!\w)'[^']*'(?!\w)|(?<!\w)‘[^‘’]*’(?!\w)")
"""Matches quoted text in a sentence."""
_STEP_NUMBERS = re.compile(
    r"\bsteps?\s+(?P<numbers>\d[\d.]*(?:\s*(?:,\s*and|,|and|&|to|through|-|–)\s*\d[\d.]*){0,50})",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d[\d.]*)(?:\s*(?:to|through|-|–)\s*(\d[\d.]*))?")
_PLAIN_NAME = re.compile(r"#?\w(?:[\w\-:/#.]{0,38}[\w#])?")
_MAX_CHARS = 4_000
_CHUNK_CHARS = 1_000_000


def collapse_spaces(text: str) -> str:
    """Return the words of a text with one space between them: `" ".join(text.split())`.

    A long text is split part by part: a list of all its words would take twenty times its memory.
    """
    if len(text) <= _CHUNK_CHARS:
        return " ".join(text.split())
    parts: list[str] = []
    is_apart = False
    for start in range(0, len(text), _CHUNK_CHARS):
        chunk = text[start : start + _CHUNK_CHARS]
        words = " ".join(chunk.split())
        if words:
            if parts and (is_apart or chunk[0].isspace()):
                parts.append(" ")
            parts.append(words)
            is_apart = False
        is_apart = is_apart or chunk[-1].isspace()
    return "".join(parts)


def to_single_line(text: str) -> str:
    """Return the text on one line, without control, invisible and bidirectional characters."""
    clipped = text[:_MAX_CHARS]
    if not clipped.isprintable():
        clipped = "".join(
            " " if character.isspace() or character in "\x85\u2028\u2029" else character
            for character in clipped
            if character.isspace() or unicodedata.category(character)[0] != "C"
        )
    return " ".join(clipped.split())


def quote_text(text: str, longest: int = 60) -> str:
    """Return the text in quotes that no character inside it can close."""
    # Curly quotes in the trace become straight, so that only the program's own close a quote.
    line = to_single_line(text[:_MAX_CHARS].replace(OPEN_QUOTE, '"').replace(CLOSE_QUOTE, '"'))
    if len(line) > longest:
        line = line[: longest - 1].rstrip() + ELLIPSIS
    return f"{OPEN_QUOTE}{line}{CLOSE_QUOTE}"


@lru_cache(maxsize=1_024)
def format_name(name: str) -> str:
    """Return a number, an id or a tool name: quoted unless it is a plain name."""
    plain = _PLAIN_NAME.fullmatch(name) and not DEGREE_WORDS.search(name)
    return name if plain else quote_text(name, 40)


def join_items(
    items: Sequence[_Item], most: int = 3, format_item: Callable[[_Item], str] = str
) -> str:
    """ "2", "2 and 3", "2, 3 and 4", "2, 3, 4 and 7 more"; `format_item` formats one item."""
    if len(items) > most + 1:
        return f"{', '.join(map(format_item, items[:most]))} and {len(items) - most} more"
    texts = list(map(format_item, items))
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def format_steps(numbers: Sequence[str], most: int = 3) -> str:
    """ "step 2", "steps 2 and 3"."""
    return f"step{'s' * (len(numbers) > 1)} {join_items(numbers, most, format_name)}"


def find_step_ranges(text: str) -> Iterator[tuple[str, str]]:
    """Yield the step numbers in a text as ranges: "steps 2 to 4 and 7" -> 2-4, 7-7."""
    for match in _STEP_NUMBERS.finditer(text):
        for first, last in _RANGE.findall(match["numbers"]):
            yield first.rstrip("."), (last or first).rstrip(".")
