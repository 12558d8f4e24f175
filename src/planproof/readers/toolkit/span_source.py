"""Find the spans in a source, in any exporter's wrapping, and detect their convention."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Literal, TypeAlias, cast

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, key_with_list, text_at
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import SNIFF_LIMIT, iter_entries, iter_items
from planproof.readers.toolkit.repeated_prompts import SeenIds
from planproof.readers.toolkit.span import (
    ATTRIBUTE_KEYS,
    Span,
    SpanLogEvent,
    build_span,
    find_attributes_key,
    is_span,
    parse_span_log_event,
)
from planproof.readers.toolkit.trace_builder import TraceBuilder

ConventionName: TypeAlias = Literal["openinference", "gen_ai", ""]
RecordTest: TypeAlias = Callable[[Json], bool]

SPAN_KIND_KEY = "openinference.span.kind"
_WRAPPER_KEYS = ("observations", "runs", "spans", "data", "traces", "trace")
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
_OPENINFERENCE_KINDS = frozenset(
    "LLM TOOL AGENT CHAIN RETRIEVER EMBEDDING RERANKER GUARDRAIL EVALUATOR".split()
)
_FIRST_KEYS = frozenset((*ATTRIBUTE_KEYS, *_EXPORT_KEYS, *_WRAPPER_KEYS))
_MAX_DEPTH = 4


def detect_convention(source: Source) -> ConventionName:
    """Detect the convention of the first spans; empty if the source does not begin with spans."""
    if not _may_be_spans(source.document):
        return ""
    detected: ConventionName = ""
    guessed: ConventionName = ""
    for value in islice(_iter_first_spans(source), SNIFF_LIMIT):
        keys = _list_attribute_names(value.get(find_attributes_key(value) or ""))
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
    """Check quickly whether a document may contain spans; nearly all other sources fail this."""
    if is_list(document):
        document = document[0] if document else None
    elif isinstance(document, tuple):
        [_, document] = cast("tuple[tuple[int, Json], ...]", document)[0]
    return is_object(document) and not _FIRST_KEYS.isdisjoint(document)


def read_spans(source: Source, builder: TraceBuilder) -> list[Span]:
    """Return all spans of a source, in order; other entries are skipped."""
    records: list[tuple[str, Json]] = []
    log_records: list[SpanLogEvent] = []
    seen = SeenIds(builder)
    for pointer, value in iter_span_records(source, _is_span):
        if _is_span(value):
            records.append((pointer, value))
        elif is_object(value) and "body" in value:
            # These records have no ids: only an identical record counts as a duplicate.
            if not seen.skip_if_seen(json.dumps(value), pointer):
                log_records.append(parse_span_log_event(value, pointer))
        else:
            builder.skip(pointer, "not a span")
    spans = build_span_tree(records, builder.skip)
    if log_records:
        by_id = {text_at(span.value, "spanId", "span_id"): span for span in spans}
        for log_record in log_records:
            span = by_id.get(log_record.span_id) if log_record.span_id is not None else None
            if span is not None:
                span.log_records.append(log_record)
            else:
                builder.skip(log_record.pointer, "belongs to a span that is not in the trace")
    return spans


def _is_span(value: Json) -> bool:
    return is_span(value) and "run_type" not in value and "body" not in value


def iter_span_records(source: Source, is_record: RecordTest) -> Iterator[tuple[str, Json]]:
    """Yield the entries of a source, or what they wrap until `is_record` holds."""
    entries = [("", source.document)] if is_object(source.document) else iter_entries(source)
    for pointer, value in entries:
        yield from _iter_wrapped(value, pointer, is_record, _MAX_DEPTH)


def _iter_wrapped(
    value: Json, pointer: str, is_record: RecordTest, depth: int
) -> Iterator[tuple[str, Json]]:
    if not is_object(value) or is_record(value) or not depth:
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
        for item_pointer, item in iter_items(value[key], f"{pointer}/{key}"):
            yield from _iter_wrapped(item, item_pointer, is_record, depth - 1)
    else:
        yield from _iter_wrapped(value[key], f"{pointer}/{key}", is_record, depth - 1)


def _iter_exported(resources: list[Json], pointer: str) -> Iterator[tuple[str, Json]]:
    for resource_pointer, resource in iter_items(resources, pointer):
        for scope_pointer, scope in _iter_listed(resource, resource_pointer, _SCOPE_KEYS):
            yield from _iter_listed(scope, scope_pointer, _RECORD_KEYS)


def _iter_listed(value: Json, pointer: str, keys: tuple[str, ...]) -> Iterator[tuple[str, Json]]:
    """Yield the items under the first of the keys that has a list, or else the value itself."""
    key = key_with_list(value, keys) if is_object(value) else None
    if key is None:
        yield pointer, value
    else:
        yield from iter_items(value[key], f"{pointer}/{key}")


def _iter_first_spans(source: Source) -> Iterator[dict[str, Json]]:
    """Yield the first spans, including nested ones; stop at the first entry of another type."""
    for _, value in iter_span_records(source, _is_span):
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


def _list_attribute_names(raw: Json) -> list[str]:
    if is_object(raw):
        return list(raw)
    keys = [pair.get("key") for pair in raw if is_object(pair)] if is_list(raw) else []
    return [key for key in keys if isinstance(key, str)]


SkipCallback: TypeAlias = Callable[[str, str], None]

_CHILD_KEYS = ("child_spans", "children", "child_runs", "spans")
_CHILD_KEY_SET = frozenset(_CHILD_KEYS)
_TRACE_ID_KEYS = ("trace_id", "traceId")
_SPAN_ID_KEYS = ("span_id", "spanId", "id")
_PARENT_ID_KEYS = (
    "parent_span_id",
    "parentSpanId",
    "parent_id",
    "parent_run_id",
    "parentObservationId",
    "parent_observation_id",
)
_MAX_TIMESTAMP = 10**20
# Limits between counts since 1970 in seconds, milliseconds, microseconds and nanoseconds.
_SCALES = ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3))
_Key: TypeAlias = str | int | None
_Id: TypeAlias = tuple[_Key, str | int]


def build_span_tree(entries: Iterable[tuple[str, Json]], skip: SkipCallback) -> list[Span]:
    """Return all spans, including nested ones; duplicates are skipped."""
    spans: list[Span] = []
    known: dict[_Id, Span] = {}
    above: list[tuple[Span, _Id]] = []
    stack: list[tuple[Json, str, Span | None]] = [(v, pointer, None) for pointer, v in entries]
    stack.reverse()
    while stack:
        value, pointer, parent = stack.pop()
        span = build_span(value, pointer, parent)
        trace, own, outer = _parse_ids(value)
        if own is None or known.setdefault((trace, own), span) is span:
            spans.append(span)
            if parent is None and outer is not None:
                above.append((span, (trace, outer)))
        else:
            skip(pointer, "duplicate span")
        key = None if _CHILD_KEY_SET.isdisjoint(value) else key_with_list(value, _CHILD_KEYS)
        if key is not None:
            children = value[key]
            stack.extend(
                (children[index], f"{pointer}/{key}/{index}", span)
                for index in range(len(children) - 1, -1, -1)
                if is_object(children[index])
            )
    for span, outer in above:
        span.parent = known.get(outer)
    spans = _sort_by_start(_sort_parents_first(spans))
    for span in spans:
        if span.parent is not None:
            span.parent.last_child = span
    return spans


def _parse_ids(value: dict[str, Json]) -> tuple[_Key, _Key, _Key]:
    """Return the ids of the trace, of the span, and of its parent."""
    context, parent = value.get("context"), value.get("parent")
    context = context if is_object(context) else {}
    parent = parent if is_object(parent) else {"id": parent}
    return (
        _find_first_id(value, _TRACE_ID_KEYS) or _find_first_id(context, _TRACE_ID_KEYS),
        _find_first_id(context, _SPAN_ID_KEYS) or _find_first_id(value, _SPAN_ID_KEYS),
        _find_first_id(value, _PARENT_ID_KEYS) or _find_first_id(parent, _SPAN_ID_KEYS),
    )


def _find_first_id(value: dict[str, Json], keys: Iterable[str]) -> _Key:
    for key in keys:
        identifier = value.get(key)
        # A root span has an empty parent id, or zero.
        if identifier and isinstance(identifier, (str, int)):
            return identifier
    return None


def _sort_parents_first(spans: list[Span]) -> list[Span]:
    """Sort spans so that each follows its parent; cycles of parents are cut."""
    ordered: list[Span] = []
    placed: set[int] = set()
    for span in spans:
        way: list[Span] = []
        on_way: set[int] = set()
        current: Span | None = span
        while current is not None and id(current) not in placed:
            way.append(current)
            on_way.add(id(current))
            if current.parent is not None and id(current.parent) in on_way:
                current.parent = None
            current = current.parent
        placed |= on_way
        ordered.extend(reversed(way))
    return ordered


def _sort_by_start(spans: list[Span]) -> list[Span]:
    """Sort by start; a span without a time starts with the previous one, none before its parent."""
    began: dict[int, int] = {}
    before = 0
    for span in spans:
        start = _parse_nanoseconds(span.start)
        start = before if start is None else start
        # Clocks of two machines differ: a callee cannot have started before its caller.
        if span.parent is not None:
            start = max(start, began[id(span.parent)])
        began[id(span)] = before = start
    # The sort is stable, so parents stay before the spans that started with them.
    return sorted(spans, key=lambda span: began[id(span)])


def _parse_nanoseconds(start: Json) -> int | None:
    if isinstance(start, str):
        if start.isascii() and start.isdigit() and len(start) <= len(str(_MAX_TIMESTAMP)):
            start = int(start)
        else:
            return _parse_iso_time(start)
    if (
        isinstance(start, bool)
        or not isinstance(start, (int, float))
        or abs(start) > _MAX_TIMESTAMP
    ):
        return None
    for limit, scale in _SCALES:
        if abs(start) < limit:
            return int(start * scale)
    return int(start)


def _parse_iso_time(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return int(moment.timestamp() * 1_000_000) * 1000
    except (ValueError, OverflowError, OSError):
        return None
