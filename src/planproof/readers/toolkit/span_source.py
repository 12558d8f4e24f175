"""Where the spans of a source stand, in whatever an exporter wrapped them; whose words they use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Literal, TypeAlias, cast

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, key_with_list, text_at
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import SNIFF_LIMIT, iter_entries
from planproof.readers.toolkit.repeated_prompts import SeenIds
from planproof.readers.toolkit.span import (
    ATTRIBUTE_KEYS,
    Span,
    SpanLogEvent,
    parse_span_log_event,
    raw_attributes,
)
from planproof.readers.toolkit.span_tree import build_span_tree
from planproof.readers.toolkit.trace_builder import TraceBuilder

ConventionName: TypeAlias = Literal["openinference", "gen_ai", ""]

SPAN_KIND_KEY = "openinference.span.kind"
_WRAPPER_KEYS = ("spans", "data", "traces", "trace")
_EXPORT_KEYS = ("resourceSpans", "resource_spans", "batches", "resourceLogs", "resource_logs")
_SCOPE_KEYS = (
    "scopeSpans",
    "scope_spans",
    "instrumentationLibrarySpans",
    "scopeLogs",
    "scope_logs",
)
_RECORD_KEYS = ("spans", "logRecords", "log_records")
_GEN_AI_PREFIXES = ("gen_ai.", "traceloop.", "logfire.", "ai.operationId", "llm.request.type")
_OTHER_PREFIXES = ("mlflow.",)
_ATTRIBUTE_KEY_SET = frozenset(ATTRIBUTE_KEYS)
_SPAN_KEYS = frozenset(("span_id", "spanId", "context", "start_time", "id"))
_NON_SPAN_KEYS = frozenset(("run_type", "body"))
_OPENINFERENCE_KINDS = frozenset(
    "LLM TOOL AGENT CHAIN RETRIEVER EMBEDDING RERANKER GUARDRAIL EVALUATOR".split()
)
_FIRST_KEYS = frozenset((*ATTRIBUTE_KEYS, *_EXPORT_KEYS, *_WRAPPER_KEYS))
_MAX_DEPTH = 4


def detect_convention(source: Source) -> ConventionName:
    """Which words the first spans use; nothing when the source does not begin with spans."""
    if not _may_be_spans(source.document):
        return ""
    detected: ConventionName = ""
    guessed: ConventionName = ""
    for value in islice(_iter_first_spans(source), SNIFF_LIMIT):
        raw = raw_attributes(value)
        keys = _attribute_names(raw)
        guessed = guessed or _guess_convention(value, keys)
        if (
            SPAN_KIND_KEY in keys
            or text_at(value, "span_kind") in _OPENINFERENCE_KINDS
            or "openinference" in keys
        ):
            return "openinference"
        if not detected and any(key.startswith(_GEN_AI_PREFIXES) for key in keys):
            detected = "gen_ai"
    return detected or guessed


def _may_be_spans(document: Json) -> bool:
    """A first look, which all but a few of the sources that are none of these fail."""
    if is_list(document):
        document = document[0] if document else None
    elif isinstance(document, tuple):
        [_, document] = cast("tuple[tuple[int, Json], ...]", document)[0]
    return is_object(document) and not _FIRST_KEYS.isdisjoint(document)


def read_spans(source: Source, builder: TraceBuilder) -> list[Span]:
    """All spans of a source, in order; what is none among them is skipped."""
    records: list[tuple[str, Json]] = []
    log_records: list[SpanLogEvent] = []
    seen = SeenIds(builder)
    for pointer, value in _iter_span_records(source):
        if _is_span(value):
            records.append((pointer, value))
        elif is_object(value) and "body" in value:
            # They have no ids: the same record again is the same to the letter.
            if not seen.skip_if_seen(json.dumps(value), pointer):
                log_records.append(parse_span_log_event(value, pointer))
        else:
            builder.skip(pointer, "is no span")
    spans = build_span_tree(records, builder.skip)
    if log_records:
        by_id = {text_at(span.value, "spanId", "span_id"): span for span in spans}
        for log_record in log_records:
            span = by_id.get(log_record.span_id) if log_record.span_id is not None else None
            if span is not None:
                span.log_records.append(log_record)
            else:
                builder.skip(log_record.pointer, "belongs to no span that is here")
    return spans


def _is_span(value: Json) -> bool:
    return (
        is_object(value)
        # OTLP leaves out attributes where there are none.
        and (not _ATTRIBUTE_KEY_SET.isdisjoint(value) or "startTimeUnixNano" in value)
        and not _SPAN_KEYS.isdisjoint(value)
        and _NON_SPAN_KEYS.isdisjoint(value)
    )


def _iter_span_records(source: Source) -> Iterator[tuple[str, Json]]:
    if is_object(source.document):
        yield from _iter_wrapped(source.document, "", _MAX_DEPTH)
        return
    for pointer, value in iter_entries(source):
        yield from _iter_wrapped(value, pointer, _MAX_DEPTH)


def _iter_wrapped(value: Json, pointer: str, depth: int) -> Iterator[tuple[str, Json]]:
    """The spans and log records in an entry: itself, or what it wraps."""
    if not is_object(value) or _is_span(value) or not depth:
        yield pointer, value
        return
    exports = [key for key in _EXPORT_KEYS if is_list(value.get(key))]
    for key in exports:
        yield from _iter_exported(value[key], f"{pointer}/{key}")
    if exports:
        return
    key = next((key for key in _WRAPPER_KEYS if isinstance(value.get(key), (dict, list))), None)
    if key is None:
        yield pointer, value
    elif is_list(value[key]):
        for index, item in enumerate(value[key]):
            yield from _iter_wrapped(item, f"{pointer}/{key}/{index}", depth - 1)
    else:
        yield from _iter_wrapped(value[key], f"{pointer}/{key}", depth - 1)


def _iter_exported(resources: list[Json], pointer: str) -> Iterator[tuple[str, Json]]:
    for number, resource in enumerate(resources):
        key = key_with_list(resource, _SCOPE_KEYS) if is_object(resource) else None
        if key is None:
            yield f"{pointer}/{number}", resource
            continue
        for index, scope in enumerate(resource[key]):
            scope_pointer = f"{pointer}/{number}/{key}/{index}"
            records_key = key_with_list(scope, _RECORD_KEYS) if is_object(scope) else None
            if records_key is None:
                yield scope_pointer, scope
                continue
            for position, record in enumerate(scope[records_key]):
                yield f"{scope_pointer}/{records_key}/{position}", record


def _iter_first_spans(source: Source) -> Iterator[dict[str, Json]]:
    """The first spans, those inside others too; nothing as soon as something else turns up."""
    for _, value in _iter_span_records(source):
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


def _guess_convention(value: dict[str, Json], keys: list[str]) -> ConventionName:
    if any(key.startswith(_OTHER_PREFIXES) for key in keys):
        return ""
    if "span_attributes" in value and "child_spans" in value:
        return "openinference"
    if is_object(value.get("context")) or "startTimeUnixNano" in value:
        return "gen_ai"
    return "gen_ai" if "start_time_unix_nano" in value else ""


def _attribute_names(raw: Json) -> list[str]:
    if is_object(raw):
        return list(raw)
    keys = [pair.get("key") for pair in raw if is_object(pair)] if is_list(raw) else []
    return [key for key in keys if isinstance(key, str)]
