"""Expressions with hints: words that are cheaper to look for than the expressions themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hinted:
    """An expression that can match only where one of its hints, in lower case, stands."""

    pattern: re.Pattern[str]
    hints: tuple[str, ...]

    def search(self, text: str) -> re.Match[str] | None:
        """The first match, as the expression itself would find it."""
        lowered = text.lower()
        if not any(map(lowered.__contains__, self.hints)):
            return None
        return self.pattern.search(text)


def hinted(pattern: str, hints: str) -> Hinted:
    """The expression, with hints parted by spaces; upper and lower case are alike."""
    return Hinted(re.compile(pattern, re.IGNORECASE | re.DOTALL), tuple(hints.split()))
