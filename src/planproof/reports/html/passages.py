"""A text of an event as a page shows it: masked, cut to its room, with what is quoted marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from planproof.core.quotes import ELLIPSIS
from planproof.reports.plain_text import many_lines
from planproof.reports.redaction import redact

Piece: TypeAlias = "str | int | list[str | list[str]]"
"""Text; text with the findings that quote it; or how many characters are left out."""
Span: TypeAlias = tuple[int, int]

# No secret of any sort that is masked is longer, so that a cut never shows the end of one.
_LONGEST_SECRET = 8_000
# White space, quotation marks and escapes: quotes are compared without them.
_LOOSE = re.compile(r'\\+[nrtbf]?|[\s"]+')


@dataclass(frozen=True, slots=True)
class Quote:
    """The words that a finding quotes."""

    finding: str
    words: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A text in pieces; which findings quote it, and whose quotes are part of a secret."""

    pieces: list[Piece]
    quoted_by: set[str] = field(default_factory=set[str])
    secret_to: set[str] = field(default_factory=set[str])


def passage(text: str, quotes: Sequence[Quote], *, room: int, secrets: bool) -> Passage:
    """The text with its quotes marked, within the room; what is quoted is always shown."""
    considered = text if quotes else text[: room + _LONGEST_SECRET]
    masked = considered if secrets else redact(considered)
    marks: list[tuple[Span, str]] = []
    secret: set[str] = set()
    for quote in quotes:
        words = quote.words if secrets else redact(quote.words)
        if found := where_quoted(words, masked):
            marks += [(span, quote.finding) for span in found]
        elif masked is not considered and where_quoted(quote.words, considered):
            secret.add(quote.finding)
    left_out = len(text) - len(considered)
    pieces = list(_pieces(masked, marks, _kept(masked, marks, room), left_out))
    return Passage(pieces, {finding for _, finding in marks}, secret)


def where_quoted(words: str, text: str) -> list[Span]:
    """Where a quote stands in a text, piece by piece where it leaves something out."""
    start = text.find(words)
    if start >= 0 and words:
        return [(start, start + len(words))]
    bare, places = _bare(text)
    found: list[Span] = []
    reached = 0
    for piece in words.split(ELLIPSIS):
        wanted, _ = _bare(piece)
        start = bare.find(wanted, reached)
        if start < 0:
            return []
        reached = start + len(wanted)
        if wanted:
            found.append((places[start], places[reached - 1] + 1))
    return found


def _bare(text: str) -> tuple[str, list[int]]:
    """A text without what is loose in it, and the place of each character that is left."""
    kept: list[str] = []
    places: list[int] = []
    reached = 0
    for loose in _LOOSE.finditer(text):
        kept.append(text[reached : loose.start()])
        places += range(reached, loose.start())
        reached = loose.end()
    kept.append(text[reached:])
    places += range(reached, len(text))
    return "".join(kept), places


def _kept(text: str, marks: Sequence[tuple[Span, str]], room: int) -> list[Span]:
    """What is shown: the beginning, and what stands around each mark."""
    if len(text) <= room:
        return [(0, len(text))]
    around = room // 4
    wanted = [(0, room)]
    wanted += [(max(start - around, 0), min(end + around, len(text))) for (start, end), _ in marks]
    kept: list[Span] = []
    for start, end in sorted(wanted):
        if kept and start <= kept[-1][1]:
            kept[-1] = (kept[-1][0], max(end, kept[-1][1]))
        else:
            kept.append((start, end))
    return kept


def _pieces(
    text: str, marks: Sequence[tuple[Span, str]], kept: Sequence[Span], left_out: int
) -> Iterator[Piece]:
    reached = 0
    for start, end in kept:
        if start > reached:
            yield start - reached
        yield from _marked(text, marks, start, end)
        reached = end
    if left_out := left_out + len(text) - reached:
        yield left_out


def _marked(text: str, marks: Sequence[tuple[Span, str]], start: int, end: int) -> Iterator[Piece]:
    """A part of the text, split where a mark begins or ends."""
    edges = {edge for span, _ in marks for edge in span if start < edge < end}
    borders = [start, *sorted(edges), end]
    for left, right in pairwise(borders):
        findings = [name for (first, last), name in marks if first <= left and right <= last]
        shown = many_lines(text[left:right])
        if shown:
            yield [shown, list(dict.fromkeys(findings))] if findings else shown
