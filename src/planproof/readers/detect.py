"""Finding the reader for a source, and reading it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from planproof.errors import InvalidInput
from planproof.extensions import load, registered
from planproof.readers.protocol import Reader
from planproof.readers.source import Source
from planproof.trace import Event, Kind, Trace
from planproof.vocabulary import Vocabulary

_FALLBACK = "general"
_BUILT_IN = Vocabulary()


def read_trace(
    source: Source, *, reader: str | None = None, vocabulary: Vocabulary = _BUILT_IN
) -> Trace:
    """Read a source with the reader of that name, or with the first that recognises it."""
    if source.form == "json" and not isinstance(source.document, (dict, list)):
        raise InvalidInput(
            f"holds {_spoken(source.document)}, which is no trace.",
            where=source.name,
            advice="Give a list of messages, spans or events, or an object that holds one.",
        )
    chosen = _reader(reader) if reader is not None else _recognise(source)
    trace = chosen.read(source)
    called = {event.name for event in trace.events if event.kind is Kind.ACTION}
    noting = {name for name in called if vocabulary.keeps_books(name)}
    if not noting:
        return trace
    return replace(trace, events=tuple(_as_bookkeeping(event, noting) for event in trace.events))


def _recognise(source: Source) -> Reader:
    for name in registered("readers"):
        if name != _FALLBACK:
            reader = _reader(name)
            if reader.sniff(source):
                return reader
    return _reader(_FALLBACK)


@cache
def _reader(name: str) -> Reader:
    found = load("readers", name)
    return found() if isinstance(found, type) else found


def _as_bookkeeping(event: Event, noting: set[str | None]) -> Event:
    if event.kind is Kind.ACTION and event.name in noting:
        return replace(event, kind=Kind.BOOKKEEPING)
    return event


def _spoken(value: object) -> str:
    if value is None:
        return "null"
    return "true or false" if isinstance(value, bool) else "a number"
