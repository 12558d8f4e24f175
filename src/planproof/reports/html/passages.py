"""A text of an event as a page shows it: masked, cut to its room, with what is quoted marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from planproof.core.quotes import ELLIPSIS
from planproof.reports.plain_text import escape_invisible
from planproof.reports.redaction import redact

TextSegment: TypeAlias = "str | int | list[str | list[str]]"
"""Text; text with the findings that quote it; or how many characters are left out."""
Span: TypeAlias = tuple[int, int]

# No secret of any sort that is masked is longer, so that a cut never shows the end of one.
_LONGEST_SECRET = 8_000
# White space, quotation marks and escapes: quotes are compared without them.
_LOOSE = re.compile(r'\\+[nrtbf]?|[\s"]+')


@dataclass(frozen=True, slots=True)
class FindingQuote:
    """The words that a finding quotes."""

    finding: str
    words: str


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text in pieces; which findings quote it, and whose quotes are part of a secret."""

    segments: list[TextSegment]
    quoting_findings: set[str] = field(default_factory=set[str])
    redacted_findings: set[str] = field(default_factory=set[str])


def mark_quotes(
    text: str, quotes: Sequence[FindingQuote], *, max_characters: int, secrets: bool
) -> MarkedText:
    """The text with its quotes marked, within the room; what is quoted is always shown."""
    searched = text if quotes else text[: max_characters + _LONGEST_SECRET]
    masked = searched if secrets else redact(searched)
    marks: list[tuple[Span, str]] = []
    secret: set[str] = set()
    for quote in quotes:
        words = quote.words if secrets else redact(quote.words)
        if spans := find_quote_spans(words, masked):
            marks += [(span, quote.finding) for span in spans]
        elif masked is not searched and find_quote_spans(quote.words, searched):
            secret.add(quote.finding)
    left_out = len(text) - len(searched)
    segments = list(
        _split_segments(masked, marks, _select_spans(masked, marks, max_characters), left_out)
    )
    return MarkedText(segments, {finding for _, finding in marks}, secret)


def find_quote_spans(words: str, text: str) -> list[Span]:
    """Where a quote stands in a text, piece by piece where it leaves something out."""
    start = text.find(words)
    if start >= 0 and words:
        return [(start, start + len(words))]
    bare, offsets = _strip_loose_characters(text)
    spans: list[Span] = []
    reached = 0
    for fragment in words.split(ELLIPSIS):
        bare_fragment, _ = _strip_loose_characters(fragment)
        start = bare.find(bare_fragment, reached)
        if start < 0:
            return []
        reached = start + len(bare_fragment)
        if bare_fragment:
            spans.append((offsets[start], offsets[reached - 1] + 1))
    return spans


def _strip_loose_characters(text: str) -> tuple[str, list[int]]:
    """A text without what is loose in it, and the place of each character that is left."""
    fragments: list[str] = []
    offsets: list[int] = []
    reached = 0
    for loose in _LOOSE.finditer(text):
        fragments.append(text[reached : loose.start()])
        offsets += range(reached, loose.start())
        reached = loose.end()
    fragments.append(text[reached:])
    offsets += range(reached, len(text))
    return "".join(fragments), offsets


def _select_spans(text: str, marks: Sequence[tuple[Span, str]], max_characters: int) -> list[Span]:
    """What is shown: the beginning, and what stands around each mark."""
    if len(text) <= max_characters:
        return [(0, len(text))]
    around = max_characters // 4
    candidates = [(0, max_characters)]
    candidates += [
        (max(start - around, 0), min(end + around, len(text))) for (start, end), _ in marks
    ]
    spans: list[Span] = []
    for start, end in sorted(candidates):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _split_segments(
    text: str, marks: Sequence[tuple[Span, str]], spans: Sequence[Span], left_out: int
) -> Iterator[TextSegment]:
    reached = 0
    for start, end in spans:
        if start > reached:
            yield start - reached
        yield from _split_at_marks(text, marks, start, end)
        reached = end
    if left_out := left_out + len(text) - reached:
        yield left_out


def _split_at_marks(
    text: str, marks: Sequence[tuple[Span, str]], start: int, end: int
) -> Iterator[TextSegment]:
    """A part of the text, split where a mark begins or ends."""
    edges = {edge for span, _ in marks for edge in span if start < edge < end}
    borders = [start, *sorted(edges), end]
    for left, right in pairwise(borders):
        findings = [name for (first, last), name in marks if first <= left and right <= last]
        escaped = escape_invisible(text[left:right])
        if escaped:
            yield [escaped, list(dict.fromkeys(findings))] if findings else escaped
