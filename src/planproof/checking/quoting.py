"""Select verbatim quotes: the passage of an event that best supports a finding."""

from __future__ import annotations

import re

from planproof.checking.call_text import flatten_arguments
from planproof.contracts.terms import extract_terms
from planproof.core.finding import Evidence
from planproof.core.trace import Event

_MAX_QUOTE_CHARS = 120
_MAX_TEXT_CHARS = 8_000
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?](?=\s)|\n|$)")


def cite(event: Event, terms: frozenset[str]) -> Evidence:
    """Return evidence from an event: the passage with most of the given terms."""
    best, best_worth = "", -1
    for passage in _list_passages(event, by_name=bool(terms)):
        worth = len(terms & extract_terms(passage))
        if worth > best_worth:
            best, best_worth = passage, worth
    if terms and best_worth <= 0 and event.output_pointer is not None:
        for passage in _split_sentences(event.output):
            if terms & extract_terms(passage):
                return Evidence(event.id, event.output_pointer, passage)
    return Evidence(event.id, event.pointer, best)


def _list_passages(event: Event, *, by_name: bool) -> list[str]:
    """Return the passages of an event that can be quoted, most informative first."""
    passages = [
        passage
        for _, text in flatten_arguments(event.arguments)
        if isinstance(text, str) and (passage := _clip(text))
    ]
    if event.text:
        passages += _split_sentences(event.text)
    # A tool's name is part of its call; the name of an agent that was addressed need not be.
    if event.name and (event.arguments is not None or not passages):
        return [event.name, *passages] if by_name else [*passages, event.name]
    return passages


def _split_sentences(text: str) -> list[str]:
    sentences = _SENTENCE.findall(text[:_MAX_TEXT_CHARS])
    return list(filter(None, map(_clip, sentences)))


def _clip(text: str) -> str:
    return text.strip()[:_MAX_QUOTE_CHARS].rstrip()
