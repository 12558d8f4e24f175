"""Verbatim quotes: the piece of an event that shows best what it is evidence of."""

from __future__ import annotations

import re

from planproof.checking.call_text import leaves_of
from planproof.contracts.terms import terms_of
from planproof.core.finding import Evidence
from planproof.core.trace import Event

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
    if wanted and best_worth <= 0 and event.output_pointer is not None:
        for piece in _sentences(event.output):
            if wanted & terms_of(piece):
                return Evidence(event.id, event.output_pointer, piece)
    return Evidence(event.id, event.pointer, best)


def _pieces(event: Event, *, by_name: bool) -> list[str]:
    """The pieces of an event that can be quoted, the telling ones first."""
    told = [
        piece
        for _, text in leaves_of(event.arguments)
        if isinstance(text, str) and (piece := _clipped(text))
    ]
    if event.text:
        told += _sentences(event.text)
    # The name of a tool stands in its call; that of an agent who was spoken to need not.
    if event.name and (event.arguments is not None or not told):
        return [event.name, *told] if by_name else [*told, event.name]
    return told


def _sentences(text: str) -> list[str]:
    found = _PIECE.findall(text[:_LOOKED_AT])
    return list(filter(None, map(_clipped, found)))


def _clipped(text: str) -> str:
    return text.strip()[:_LONGEST].rstrip()
