"""Mask quotes, code and brackets in a text, so that only running words are split."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CLOSERS = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»"}
_BRACKETS_END = frozenset(_CLOSERS.values())
_SPECIAL = re.compile(r"[`\"'‘()\[\]{}“”«»]")
BLANK = "\x00"


def mask_quotes(text: str) -> str:
    """Return the text, at the same length, with quotes, code and brackets blanked out."""
    spans: list[tuple[int, int]] = []
    opened: list[tuple[str, int]] = []
    never_closed: set[str] = set()
    done = 0
    for match in _SPECIAL.finditer(text):
        index, character = match.start(), match[0]
        if index < done:
            continue
        if character in _CLOSERS:
            opened.append((_CLOSERS[character], index))
        elif character in _BRACKETS_END:
            _close_bracket(opened, spans, character, index)
        elif character not in never_closed and _opens_quote(text, index, character):
            end = _find_closing_quote(text, index, character)
            if end > 0:
                spans.append((index, end + 1))
                done = end + 1
            else:
                # No closing quote follows, so later ones of this kind need not be tried.
                never_closed.add(character)
    return _blank_spans(text, spans) if spans else text


def _close_bracket(
    opened: list[tuple[str, int]], spans: list[tuple[int, int]], closer: str, index: int
) -> None:
    # A closing bracket that matches none of the last 8 open ones is plain text.
    for depth in range(1, min(len(opened), 8) + 1):
        if opened[-depth][0] == closer:
            spans.append((opened[-depth][1], index + 1))
            del opened[-depth:]
            return


def _opens_quote(text: str, index: int, quote: str) -> bool:
    before = text[index - 1 : index]
    after = text[index + 1 : index + 2]
    return quote == "`" or (not before.isalnum() and bool(after) and not after.isspace())


def _find_closing_quote(text: str, index: int, quote: str) -> int:
    closer = {"‘": "’"}.get(quote, quote)
    end = text.find(closer, index + 1)
    while end > 0 and quote in "'‘" and text[end + 1 : end + 2].isalnum():
        end = text.find(closer, end + 1)  # skip an apostrophe inside a word
    return end


def _blank_spans(text: str, spans: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if end > done:
            begin = max(start, done)
            parts += [text[done:begin], BLANK * (end - begin)]
            done = end
    return "".join([*parts, text[done:]])


@dataclass(frozen=True, slots=True)
class HintedPattern:
    """A regular expression that can match only if the text contains one of its lower-case hints."""

    pattern: re.Pattern[str]
    hints: tuple[str, ...]

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match, as the expression itself would find it."""
        lowered = text.lower()
        if not any(map(lowered.__contains__, self.hints)):
            return None
        return self.pattern.search(text)


def compile_hinted(pattern: str, hints: str) -> HintedPattern:
    """Compile a case-insensitive expression with its space-separated hints."""
    return HintedPattern(re.compile(pattern, re.IGNORECASE | re.DOTALL), tuple(hints.split()))
