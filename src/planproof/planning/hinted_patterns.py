"""Expressions with hints: words that are cheaper to look for than the expressions themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HintedPattern:
    """An expression that can match only where one of its hints, in lower case, stands."""

    pattern: re.Pattern[str]
    hints: tuple[str, ...]

    def search(self, text: str) -> re.Match[str] | None:
        """The first match, as the expression itself would find it."""
        lowered = text.lower()
        if not any(map(lowered.__contains__, self.hints)):
            return None
        return self.pattern.search(text)


def compile_hinted(pattern: str, hints: str) -> HintedPattern:
    """The expression, with hints parted by spaces; upper and lower case are alike."""
    return HintedPattern(re.compile(pattern, re.IGNORECASE | re.DOTALL), tuple(hints.split()))
