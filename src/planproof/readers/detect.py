"""Finding the reader for a source, and reading it."""

from __future__ import annotations

from dataclasses import replace

from planproof.core.content import Json
from planproof.core.json_values import is_list
from planproof.core.trace import Accounted, Kind, Skipped, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput, PlanproofError
from planproof.extensions import package_of
from planproof.readers.accounting import account, account_chat
from planproof.readers.decoding.gc_pause import collector_at_rest
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import members, several
from planproof.readers.reader_protocol import Reader
from planproof.readers.recognition import FALLBACK, claimant, reader_named

_BUILT_IN = Vocabulary()
_NOTHING = "nothing in it is what this reader reads"
# Looked up once: every event is asked for its kind.
_ACTION = Kind.ACTION


@collector_at_rest()
def read_trace(
    source: Source, *, reader: str | None = None, vocabulary: Vocabulary = _BUILT_IN
) -> Trace:
    """Read a source with the reader of that name, or with the one that claims it."""
    if source.form == "json" and not isinstance(source.document, (dict, list)):
        raise InvalidInput(
            f"holds {_spoken(source.document)}, which is no trace.",
            where=source.name,
            advice="Give a list of messages, spans or events, or an object that holds one.",
        )
    if source.form == "archive":
        raise several(source, members(source))
    chosen = _chosen(source) if reader is None else reader_named(reader)
    trace = _read(source, chosen)
    accounted = _accounted(source, trace, chosen)
    if accounted is not trace.accounted:
        trace = replace(trace, accounted=accounted)
    if not trace.events and not trace.skipped:
        # A reader that was named for another format, or a file in which nothing happened.
        return replace(trace, skipped=(Skipped("", _NOTHING),))
    called = {event.name for event in trace.events if event.kind is _ACTION}
    noting = {name for name in called if vocabulary.keeps_books(name)}
    if not noting:
        return trace
    events = (
        replace(event, kind=Kind.BOOKKEEPING)
        if event.kind is _ACTION and event.name in noting
        else event
        for event in trace.events
    )
    return replace(trace, events=tuple(events))


def _accounted(source: Source, trace: Trace, reader: Reader) -> Accounted | None:
    """Account for a trace whose reader did not: a chat without calls, or no events at all."""
    if not trace.events:
        found = trace.accounted or account(source, trace)
        least = max(len(trace.skipped), _holds_anything(source.document))
        return replace(found, records=max(found.records, least))
    if trace.accounted is not None:
        return trace.accounted
    # What is given as events, and what another package reads, is taken as it is.
    if not type(reader).__module__.startswith("planproof.") or trace.reader == "native":
        return None
    chat = account_chat(trace.events)
    if chat is None or source.form == "text":
        return chat
    # What it passed over may be the calls.
    return replace(chat, calls=chat.calls + account(source, trace).calls)


def _holds_anything(document: Json) -> bool:
    """Return whether there is a text or a list in which something stands."""
    return bool(document.strip() if isinstance(document, str) else is_list(document) and document)


def _chosen(source: Source) -> Reader:
    reader = claimant(source)
    if reader is not None:
        return reader
    # Read as one, several traces would look like a single run of everything.
    if found := members(source):
        raise several(source, found)
    return reader_named(FALLBACK)


def _read(source: Source, reader: Reader) -> Trace:
    try:
        return reader.read(source)
    except PlanproofError:
        raise
    except Exception as error:
        package = package_of("readers", reader.name)
        if package is None:
            raise
        raise InvalidInput(
            f"the reader `{reader.name}` of {package} failed: {type(error).__name__}: {error}.",
            where=source.name,
            advice="Report it to them, or name another reader.",
        ) from error


def _spoken(value: object) -> str:
    if value is None:
        return "null"
    return "true or false" if isinstance(value, bool) else "a number"
