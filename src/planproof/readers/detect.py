"""Read a source into a trace, with a named reader or the one detected for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from planproof.core.content import Json
from planproof.core.json_values import is_list
from planproof.core.trace import Kind, RecordCounts, SkippedPart, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput, PlanproofError
from planproof.extensions import find_package
from planproof.readers.decoding.source import Source, gc_paused
from planproof.readers.decoding.split_traces import multiple_traces_error, split_traces
from planproof.readers.recognition import (
    FALLBACK_READER,
    Reader,
    detect_reader,
    find_profile,
    load_reader,
)
from planproof.readers.record_counts import (
    count_chat_records,
    count_json_records,
    explain_not_understood,
    find_unread_records,
)

_BUILT_IN_VOCABULARY = Vocabulary()
# They claim what has a few lines of their format, and may not understand it.
_LOOSE_READERS = ("text-log",)
_NO_RECORDS_NOTE = "contains nothing that this reader can read"


@gc_paused()
def read_trace(
    source: Source,
    *,
    reader: str | None = None,
    vocabulary: Vocabulary = _BUILT_IN_VOCABULARY,
    profiles: Sequence[Reader] = (),
) -> Trace:
    """Read a source with the named reader, or with the one that claims it.

    `profiles` are the user's own. Their names come before those of all other readers.
    """
    if source.form == "json" and not isinstance(source.document, (dict, list)):
        raise InvalidInput(
            f"contains {_describe_scalar(source.document)}, which is not a trace.",
            where=source.name,
            advice="Pass a list of messages, spans or events, or an object that contains one.",
        )
    if source.form == "archive":
        raise multiple_traces_error(source, split_traces(source))
    if reader is None:
        chosen = _choose_reader(source, profiles)
    else:
        chosen = find_profile(reader, profiles) or load_reader(reader)
    trace = _run_reader(source, chosen)
    trace = _add_counts(source, trace, chosen)
    if reader is None and chosen.name in _LOOSE_READERS and explain_not_understood(trace):
        general = load_reader(FALLBACK_READER)
        other = _add_counts(source, _run_reader(source, general), general)
        is_better = explain_not_understood(other) is None
        trace = other if is_better and any(e.kind is Kind.ACTION for e in other.events) else trace
    if trace.events and (unread := find_unread_records(source, trace)):
        trace = replace(trace, skipped=(*trace.skipped, *unread))
    if not trace.events and not trace.skipped:
        # The named reader is for another format, or nothing happened in the run.
        return replace(trace, skipped=(SkippedPart("", _NO_RECORDS_NOTE),))
    return mark_bookkeeping(trace, vocabulary)


def mark_bookkeeping(trace: Trace, vocabulary: Vocabulary) -> Trace:
    """Return a trace in which calls of tools that only keep notes are bookkeeping."""
    called = {event.name for event in trace.events if event.kind is Kind.ACTION}
    noting = {name for name in called if vocabulary.is_bookkeeping(name)}
    if not noting:
        return trace
    events = (
        structs.replace(event, kind=Kind.BOOKKEEPING)
        if event.kind is Kind.ACTION and event.name in noting
        else event
        for event in trace.events
    )
    return replace(trace, events=tuple(events))


def _add_counts(source: Source, trace: Trace, reader: Reader) -> Trace:
    counts = _count_trace_records(source, trace, reader)
    return trace if counts is trace.record_counts else replace(trace, record_counts=counts)


def _count_trace_records(source: Source, trace: Trace, reader: Reader) -> RecordCounts | None:
    """Count records if the reader did not: for a chat without calls, or without any events."""
    if not trace.events:
        counts = trace.record_counts or count_json_records(source, trace)
        least = max(len(trace.skipped), _has_content(source.document))
        return replace(counts, records=max(counts.records, least))
    if trace.record_counts is not None:
        return trace.record_counts
    # Native traces, and those of readers from other packages, are accepted as they are.
    if not type(reader).__module__.startswith("planproof.") or trace.reader == "native":
        return None
    chat = count_chat_records(trace)
    if chat is None or chat.calls_read or source.form == "text":
        return chat
    # The skipped records may be the calls.
    return replace(chat, calls=chat.calls + count_json_records(source, trace).calls)


def _has_content(document: Json) -> bool:
    """Return whether a document is a text or a list that is not empty."""
    return bool(document.strip() if isinstance(document, str) else is_list(document) and document)


def _choose_reader(source: Source, profiles: Sequence[Reader]) -> Reader:
    reader = detect_reader(source, profiles)
    if reader is not None:
        return reader
    # Read as one trace, several would look like a single run.
    if traces := split_traces(source, profiles):
        raise multiple_traces_error(source, traces)
    return load_reader(FALLBACK_READER)


def _run_reader(source: Source, reader: Reader) -> Trace:
    try:
        return reader.read(source)
    except PlanproofError:
        raise
    except Exception as error:
        package = find_package("readers", reader.name)
        if package is None:
            raise
        raise InvalidInput(
            f"the reader `{reader.name}` of {package} failed: {type(error).__name__}: {error}.",
            where=source.name,
            advice="Report it to the authors of the package, or select another reader.",
        ) from error


def _describe_scalar(value: object) -> str:
    if value is None:
        return "null"
    return "a boolean" if isinstance(value, bool) else "a number"
