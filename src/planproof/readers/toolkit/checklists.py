"""Find checklists: steps with marks, which agents print again as the work proceeds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_MARK = r"(?:[ xX✓✔✗✘→>~!\-✅❌⏳]\ufe0f?|->|)"
_ITEM = re.compile(rf"[ \t]{{0,40}}(?:\d{{1,3}}[.)]|[-*•])[ \t]{{1,8}}\[{_MARK}\][ \t]")
_CONTINUATION = re.compile(r"[ \t]{2,40}\S")


def find_checklists(text: str) -> Iterable[tuple[int, int]]:
    """Return the start and end of each checklist in a text."""
    # Searching for a single letter takes a fraction of the time.
    return _iter_checklists(text) if "]" in text else ()


def _iter_checklists(text: str) -> Iterator[tuple[int, int]]:
    position = _find_first_item(text)
    start = end = -1
    while 0 <= position < len(text):
        line_end = text.find("\n", position)
        line_end = len(text) if line_end < 0 else line_end
        if _ITEM.match(text, position, line_end):
            start = position if start < 0 else start
            end = line_end
        elif start >= 0 and _CONTINUATION.match(text, position, line_end):
            end = line_end
        elif start >= 0:
            yield start, end
            start = -1
        position = line_end + 1
    if start >= 0:
        yield start, end


def _find_first_item(text: str) -> int:
    """Return the start of the first line with a mark, or -1."""
    mark = text.find("] ")
    while mark >= 0:
        line = text.rfind("\n", 0, mark) + 1
        if _ITEM.match(text, line):
            return line
        line_end = text.find("\n", mark)
        mark = text.find("] ", line_end) if line_end >= 0 else -1
    return -1
