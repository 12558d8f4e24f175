"""Find checklists: steps with marks, which agents print again as the work proceeds."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MARK = r"(?:[ xX✓✔✗✘→>~!\-✅❌⏳]\ufe0f?|->|)"
_ITEM = rf"[ \t]{{0,40}}(?:\d{{1,3}}[.)]|[-*•])[ \t]{{1,8}}\[{_MARK}\][ \t]"
_CHECKLIST = re.compile(
    rf"^{_ITEM}[^\n]*+(?:\n(?:{_ITEM}|[ \t]{{2,40}}[^ \t\n])[^\n]*+)*+", re.MULTILINE
)


def find_checklists(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each checklist in a text."""
    # Searching for a single letter takes a fraction of the time.
    return (match.span() for match in (_CHECKLIST.finditer(text) if "]" in text else ()))
