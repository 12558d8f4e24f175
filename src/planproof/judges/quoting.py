"""Verbatim quotes: the piece of an event that shows best what it is evidence of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from planproof.alignment.calls import strings_in
from planproof.alignment.terms import terms_of
from planproof.finding import Evidence
from planproof.trace import Event

_LONGEST = 120
_LOOKED_AT = 8_000
_PIECE = re.compile(r"[^\n]+?(?:[.!?](?=\s)|\n|$)")


def cite(event: Event, wanted: frozenset[str]) -> Evidence:
    """Evidence from an event: of all its pieces the one with most of the wanted terms."""
    best, best_worth = "", -1
    for piece in _pieces(event, by_name=bool(wanted)):
        worth = len(wanted & terms_of(piece))
        if worth > best_worth:
            best, best_worth = piece, worth
    if best_worth <= 0 and event.output_pointer is not None:
        for piece in _sentences(event.output):
            if wanted & terms_of(piece):
                return Evidence(event.id, event.output_pointer, piece)
    return Evidence(event.id, event.pointer, best)


def _pieces(event: Event, *, by_name: bool) -> Iterator[str]:
    """The pieces of an event that can be quoted, the telling ones first."""
    # The name of a tool stands in its call; that of an agent who was spoken to need not.
    named = [event.name] if event.name and event.arguments is not None else []
    told = [*_clipped(strings_in(event.arguments)), *_sentences(event.text)]
    yield from (*named, *told) if by_name else (*told, *named)
    if event.name and not named and not told:
        yield event.name


def _sentences(text: str) -> Iterator[str]:
    return _clipped(match[0] for match in _PIECE.finditer(text[:_LOOKED_AT]))


def _clipped(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        clipped = text.strip()[:_LONGEST].strip()
        if clipped:
            yield clipped
