"""How a line of a plan announces a step: a printed number, a bullet, a box to tick."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

MarkerKind = Literal["number", "letter", "bullet", "title"]


@dataclass(frozen=True, slots=True)
class Marker:
    """What stands before a step's text; `label` is the printed number or letter."""

    kind: MarkerKind
    label: str | None
    text: str


_BOLD = r"(?P<bold>\*\*|__)?"
_NUMBER = re.compile(
    rf"(?:\#{{1,6}}\s+|>\s+)*{_BOLD}(?:"
    r"(?:step|schritt|task)\s*\#?(?P<word>\d{1,6}(?:\.\d{1,3}){0,4})\s*(?:[.):\]]|[-–—](?=\s)|(?=\*\*|__|$))|"
    r"(?P<plain>\d{1,6}(?:\.\d{1,3}){0,4})(?:[.):](?=\s|\*\*|__|$)|\s[-–—](?=\s)|\\[.)](?=\s))|"
    r"[(\[](?P<enclosed>\d{1,6}(?:\.\d{1,3}){0,4})[)\]](?=\s)|"
    r"(?P<dotted>\d{1,3}(?:\.\d{1,3}){1,4})(?=\s)"
    r")(?P<boldend>\*\*|__)?\s*",
    re.IGNORECASE,
)
_TITLE = re.compile(
    rf"(?:\#{{1,6}}\s+)?{_BOLD}(?:phase|stage|part)\s+(?P<label>\d{{1,3}})\s*(?:[.):]|[-–—](?=\s))"
    r"(?P<boldend>\*\*|__)?\s*",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"(?:(?P<open>[a-z]|i{1,3}|iv|vi{0,3}|ix)[.)]|\((?P<enclosed>[a-z]|i{1,3}|iv|vi{0,3}|ix)\))\s+(?=\S)"
)
_BULLET = re.compile(r"(?:[-+•–—‣◦▪·●○■□➢➤→»]|\*(?!\*))\s+(?=\S)")
_BOX = re.compile(r"(?:\[(?:[ xX✓✔✗✘→~\->.]?)\]|[☐☑☒✅✔✓⬜🔲❌⏳🔄]\ufe0f?)\s*")

_BOXED = re.compile(
    r"(?:[-+*•]\s{1,4})?(?:\d{1,4}[.)]\s{1,4})?"
    r"(?:\[(?P<mark>[ xX✓✔✗✘→~\->.!]?)\]|(?P<sign>[☐☑☒✅✔✓⬜🔲❌⏳🔄]))"
)
_OPEN_MARKS = frozenset(["", " ", "→", "~", "-", ">", ".", "☐", "⬜", "🔲", "⏳", "🔄"])


def read_marker(line: str) -> Marker | None:
    """The marker at the head of a line (without its indentation), or nothing."""
    for read in (_read_title, _read_number, _read_bullet, _read_letter):
        marker = read(line)
        if marker is not None:
            return marker
    return None


def read_number(text: str) -> Marker | None:
    """A printed number at the head of a text."""
    return _read_number(text)


def has_open_box(line: str) -> bool | None:
    """Whether the box before an item is still to be ticked; nothing when there is no box."""
    match = _BOXED.match(line)
    return None if match is None else (match["sign"] or match["mark"]) in _OPEN_MARKS


def has_text(text: str) -> bool:
    """Whether there is a letter or a digit in it: a line of dashes is no step."""
    return any(character.isalnum() for character in text)


def strip_bullet(text: str) -> str:
    """The text of a list item without a bullet or a box to tick before it."""
    marker = _read_bullet(text.lstrip())
    return marker.text if marker else text.strip()


def _read_title(line: str) -> Marker | None:
    match = _TITLE.match(line)
    return Marker("title", match["label"], _text_after(line, match)) if match else None


def _read_number(line: str) -> Marker | None:
    match = _NUMBER.match(line)
    if match is None:
        return None
    label = match["word"] or match["plain"] or match["enclosed"] or match["dotted"]
    return Marker("number", label, _strip_box(_text_after(line, match)))


def _read_bullet(line: str) -> Marker | None:
    bullet = _BULLET.match(line)
    box = _BOX.match(line, bullet.end() if bullet else 0)
    if bullet is None and box is None:
        return None
    rest = _strip_box(line[bullet.end() if bullet else 0 :])
    inner = _read_number(rest)  # "- [ ] 1. Do this", "- **Step 1:** Do this"
    return inner or Marker("bullet", None, rest)


def _read_letter(line: str) -> Marker | None:
    match = _LETTER.match(line)
    if match is None:
        return None
    return Marker("letter", match["open"] or match["enclosed"], _strip_box(line[match.end() :]))


def _text_after(line: str, match: re.Match[str]) -> str:
    rest = line[match.end() :]
    if match["bold"] and not match["boldend"]:
        rest = rest.replace(match["bold"], "", 1)  # the other end of "**1. Title**"
    return rest.strip()


def _strip_box(text: str) -> str:
    return _BOX.sub("", text, count=1).strip() if _BOX.match(text) else text.strip()
