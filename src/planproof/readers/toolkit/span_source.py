"""Where the spans of a source stand, in whatever an exporter wrapped them; whose words they use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Literal, TypeAlias, cast

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, key_with_list, text_at
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import LOOKED_AT, entries
from planproof.readers.toolkit.repeated_prompts import Seen
from planproof.readers.toolkit.span import ATTRIBUTES, Note, Span, note_of, raw_attributes
from planproof.readers.toolkit.span_tree import spans_of
from planproof.readers.toolkit.trace_builder import Transcript

Convention: TypeAlias = Literal["openinference", "gen_ai", ""]

KIND = "openinference.span.kind"
_HOLDERS = ("spans", "data", "traces", "trace")
_EXPORTS = ("resourceSpans", "resource_spans", "batches", "resourceLogs", "resource_logs")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "scopeLogs", "scope_logs")
_RECORDS = ("spans", "logRecords", "log_records")
_GEN_AI = ("gen_ai.", "traceloop.", "logfire.", "ai.operationId", "llm.request.type")
_WORDS_OF_THEIR_OWN = ("mlflow.",)
_ATTRIBUTES = frozenset(ATTRIBUTES)
_MARKS = frozenset(("span_id", "spanId", "context", "start_time", "id"))
_OTHERS = frozenset(("run_type", "body"))
_KINDS = frozenset("LLM TOOL AGENT CHAIN RETRIEVER EMBEDDING RERANKER GUARDRAIL EVALUATOR".split())
_BEGINNINGS = frozenset((*ATTRIBUTES, *_EXPORTS, *_HOLDERS))
_DEEPEST = 4


def convention(source: Source) -> Convention:
    """Which words the first spans use; nothing when the source does not begin with spans."""
    if not _may_begin(source.document):
        return ""
    found: Convention = ""
    looks_like: Convention = ""
    for value in islice(_head(source), LOOKED_AT):
        raw = raw_attributes(value)
        keys = _keys(raw)
        looks_like = looks_like or _by_shape(value, keys)
        if KIND in keys or text_at(value, "span_kind") in _KINDS or "openinference" in keys:
            return "openinference"
        if not found and any(key.startswith(_GEN_AI) for key in keys):
            found = "gen_ai"
    return found or looks_like


def _may_begin(document: Json) -> bool:
    """A first look, which all but a few of the sources that are none of these fail."""
    if is_list(document):
        document = document[0] if document else None
    elif isinstance(document, tuple):
        [_, document] = cast("tuple[tuple[int, Json], ...]", document)[0]
    return is_object(document) and not _BEGINNINGS.isdisjoint(document)


def read_spans(source: Source, transcript: Transcript) -> list[Span]:
    """All spans of a source, in order; what is none among them is skipped."""
    found: list[tuple[str, Json]] = []
    notes: list[Note] = []
    seen = Seen(transcript)
    for pointer, value in _entries(source):
        if _is_span(value):
            found.append((pointer, value))
        elif is_object(value) and "body" in value:
            # They have no ids: the same record again is the same to the letter.
            if not seen.again(json.dumps(value), pointer):
                notes.append(note_of(value, pointer))
        else:
            transcript.skip(pointer, "is no span")
    spans = spans_of(found, transcript.skip)
    if notes:
        by_id = {text_at(span.value, "spanId", "span_id"): span for span in spans}
        for note in notes:
            span = by_id.get(note.span_id) if note.span_id is not None else None
            if span is not None:
                span.notes.append(note)
            else:
                transcript.skip(note.pointer, "belongs to no span that is here")
    return spans


def _is_span(value: Json) -> bool:
    return (
        is_object(value)
        # OTLP leaves out attributes where there are none.
        and (not _ATTRIBUTES.isdisjoint(value) or "startTimeUnixNano" in value)
        and not _MARKS.isdisjoint(value)
        and _OTHERS.isdisjoint(value)
    )


def _entries(source: Source) -> Iterator[tuple[str, Json]]:
    if is_object(source.document):
        yield from _inside(source.document, "", _DEEPEST)
        return
    for pointer, value in entries(source):
        yield from _inside(value, pointer, _DEEPEST)


def _inside(value: Json, pointer: str, depth: int) -> Iterator[tuple[str, Json]]:
    """The spans and log records in an entry: itself, or what it wraps."""
    if not is_object(value) or _is_span(value) or not depth:
        yield pointer, value
        return
    exports = [key for key in _EXPORTS if is_list(value.get(key))]
    for key in exports:
        yield from _exported(value[key], f"{pointer}/{key}")
    if exports:
        return
    key = next((key for key in _HOLDERS if isinstance(value.get(key), (dict, list))), None)
    if key is None:
        yield pointer, value
    elif is_list(value[key]):
        for index, item in enumerate(value[key]):
            yield from _inside(item, f"{pointer}/{key}/{index}", depth - 1)
    else:
        yield from _inside(value[key], f"{pointer}/{key}", depth - 1)


def _exported(resources: list[Json], pointer: str) -> Iterator[tuple[str, Json]]:
    for number, resource in enumerate(resources):
        key = key_with_list(resource, _SCOPES) if is_object(resource) else None
        if key is None:
            yield f"{pointer}/{number}", resource
            continue
        for index, scope in enumerate(resource[key]):
            place = f"{pointer}/{number}/{key}/{index}"
            held = key_with_list(scope, _RECORDS) if is_object(scope) else None
            if held is None:
                yield place, scope
                continue
            for position, record in enumerate(scope[held]):
                yield f"{place}/{held}/{position}", record


def _head(source: Source) -> Iterator[dict[str, Json]]:
    """The first spans, those inside others too; nothing as soon as something else turns up."""
    for _, value in _entries(source):
        if not _is_span(value):
            if is_object(value) and "body" in value and "spanId" in value:
                continue
            return
        stack = [value]
        while stack:
            span = stack.pop()
            yield span
            inner = span.get("child_spans")
            if is_list(inner):
                stack.extend(child for child in reversed(inner) if is_object(child))


def _by_shape(value: dict[str, Json], keys: list[str]) -> Convention:
    if any(key.startswith(_WORDS_OF_THEIR_OWN) for key in keys):
        return ""
    if "span_attributes" in value and "child_spans" in value:
        return "openinference"
    if is_object(value.get("context")) or "startTimeUnixNano" in value:
        return "gen_ai"
    return "gen_ai" if "start_time_unix_nano" in value else ""


def _keys(raw: Json) -> list[str]:
    if is_object(raw):
        return list(raw)
    keys = [pair.get("key") for pair in raw if is_object(pair)] if is_list(raw) else []
    return [key for key in keys if isinstance(key, str)]
