"""Spans: attributes, events and status of one, and how to find them in any exporter's wrapping."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Literal, TypeAlias, TypeGuard, cast

from planproof.core.content import Json
from planproof.core.json_values import (
    format_value,
    is_list,
    is_object,
    key_with_list,
    key_with_text,
    text_at,
)
from planproof.core.pointer import escape
from planproof.core.trace import EventStatus
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import SNIFF_LIMIT, iter_entries, iter_items
from planproof.readers.toolkit.repeated_prompts import SeenIds
from planproof.readers.toolkit.tool_calls import infer_status, parse_status
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

START_TIME_KEYS = (
    "start_time",
    "startTimeUnixNano",
    "start_time_unix_nano",
    "started_at",
    "startTime",
    "timestamp",
)
ATTRIBUTE_KEYS = ("attributes", "span_attributes", "spanAttributes")
_ID_KEYS = ("span_id", "spanId", "context", *START_TIME_KEYS)
_OBSERVATION_TYPES = frozenset(
    "GENERATION SPAN EVENT TOOL AGENT CHAIN RETRIEVER EMBEDDING EVALUATOR GUARDRAIL".split()
)
_RUN_KEYS = frozenset(("parentObservationId", "parent_observation_id", "traceId", "trace_id"))
_ARRAY_TYPES = frozenset(("arrayValue", "array_value"))
_NESTED_TYPES = _ARRAY_TYPES | {"kvlistValue", "kvlist_value"}
# Exporters write the error of a span next to it, in its status, or as an event of it.
_ERROR_KEYS = ("status_message", "statusMessage", "error")
_STATUS_MESSAGE_KEYS = ("description", "message")
_ERROR_EVENTS = {"exception": "exception.message", "agent.step_recovery": "message"}


@dataclass(slots=True)
class SpanLogEvent:
    """A log record or event of a span: its name, pointer and attributes."""

    name: str
    pointer: str
    attributes: dict[str, Json]
    span_id: str | None = None


@dataclass(slots=True, eq=False)
class Span:
    """A span; `attributes_pointer` points to its attributes.

    `attribute_pointers` are the pointers of attributes located elsewhere. `raw` are the attributes
    as written, possibly a list of keys with values. `last_child` is the last span that started
    inside it. Results of reading are stored here too: the span of its agent, the model call around
    it, and the action that encloses it.
    """

    value: dict[str, Json]
    pointer: str
    attributes: dict[str, Json]
    attributes_pointer: str
    raw: Json
    parent: Span | None = None
    start: Json = None
    last_child: Span | None = None
    is_run: bool = False
    kind: str = ""
    agent: Span | None = None
    model: Span | None = None
    enclosing_action: EventDraft | None = None
    log_records: list[SpanLogEvent] = field(default_factory=list[SpanLogEvent])
    attribute_pointers: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def name(self) -> str:
        """The name of the span."""
        return text_at(self.value, "name", "span_name", "spanName") or ""

    def pointer_to(self, key: str) -> str:
        """Return the pointer to an attribute."""
        if key in self.attribute_pointers:
            return self.attribute_pointers[key]
        if not is_list(self.raw):
            return f"{self.attributes_pointer}/{escape(key)}"
        keys = [pair.get("key") if is_object(pair) else None for pair in self.raw]
        return f"{self.attributes_pointer}/{keys.index(key)}/value"

    def find_key(self, keys: Iterable[str]) -> str | None:
        """Return the first of these keys that has an attribute."""
        return next((key for key in keys if self.attributes.get(key) is not None), None)

    def get_call_pointer(self, key: str | None) -> str:
        """Return the pointer to the attributes, or to the whole span if `key` is elsewhere."""
        own = self.attributes_pointer
        pointer = self.attribute_pointers.get(key or "", own)
        return own if pointer.startswith(own) else self.pointer

    def iter_events(self) -> Iterator[SpanLogEvent]:
        """Yield the events of the span, and the log records that refer to it."""
        events = self.value.get("events")
        for index, event in enumerate(events if is_list(events) else []):
            if is_object(event):
                yield parse_span_log_event(event, f"{self.pointer}/events/{index}")
        yield from self.log_records

    def find_error(self) -> tuple[str, str] | None:
        """Return the error message of the span and the pointer to it."""
        key = key_with_text(self.value, _ERROR_KEYS)
        if key is not None:
            return self.value[key], f"{self.pointer}/{key}"
        for name in ("error", "status"):
            status = self.value.get(name)
            key = key_with_text(status, _STATUS_MESSAGE_KEYS) if is_object(status) else None
            if key is not None and is_object(status):
                return status[key], f"{self.pointer}/{name}/{key}"
        for event in self.iter_events():
            why = event.attributes.get(_ERROR_EVENTS.get(event.name, ""))
            if isinstance(why, str) and why:
                return why, event.pointer
        return None

    def get_status(self, output: str | None) -> EventStatus:
        """Return the status of the span: an error if the span or the output says so."""
        declared = parse_status(self.value.get("status_code")) or parse_status(
            self.value.get("status")
        )
        if self.value.get("error") or self.value.get("level") == "ERROR":
            declared = EventStatus.ERROR
        if declared is not EventStatus.ERROR and output is not None:
            inferred = infer_status(output)
            return inferred if inferred is EventStatus.ERROR else declared or inferred
        has_ended = bool(self.value.get("ended_at"))
        return declared or (EventStatus.OK if has_ended else EventStatus.UNKNOWN)

    def copy_outcome_to(self, draft: EventDraft, keys: Iterable[str]) -> None:
        """Set the output of an action from this span, or its error."""
        key = self.find_key(keys)
        if key is not None:
            draft.set_output(format_value(self.attributes[key]), self.pointer_to(key))
            draft.status = self.get_status(draft.output)
            return
        why = self.find_error()
        if why is not None:
            draft.set_output(*why, EventStatus.ERROR)
        else:
            draft.status = self.get_status(None)


def is_span(value: Json) -> TypeGuard[dict[str, Json]]:
    """Return whether this is a span: attributes together with an id or a time, or a run."""
    if not is_object(value):
        return False
    if isinstance(value.get("run_type"), str) or _is_observation(value):
        return True
    # OTLP omits `attributes` if there are none.
    has_attributes = any(key in value for key in (*ATTRIBUTE_KEYS, "startTimeUnixNano"))
    return has_attributes and any(key in value for key in _ID_KEYS)


def is_run(value: Json) -> bool:
    """Return whether a value is a run or observation, not a span with attributes."""
    if not is_object(value) or any(key in value for key in ATTRIBUTE_KEYS):
        return False
    if isinstance(value.get("run_type"), str):
        return "inputs" in value or "outputs" in value
    return _is_observation(value) and not _RUN_KEYS.isdisjoint(value)


def _is_observation(value: dict[str, Json]) -> bool:
    is_typed = text_at(value, "type") in _OBSERVATION_TYPES
    return is_typed and any(key in value for key in START_TIME_KEYS)


def find_attributes_key(value: dict[str, Json]) -> str | None:
    """Return the key under which a span has its attributes."""
    return next((key for key in ATTRIBUTE_KEYS if key in value), None)


def build_span(value: dict[str, Json], pointer: str, parent: Span | None) -> Span:
    """Build a span with its attributes as one flat object, in whatever form they are written."""
    key = find_attributes_key(value)
    raw = value if key is None else value[key]
    attributes_pointer = pointer if key is None else f"{pointer}/{key}"
    start = next((value[name] for name in START_TIME_KEYS if value.get(name) is not None), None)
    span = Span(value, pointer, _parse_attributes(raw), attributes_pointer, raw, parent, start)
    span.is_run = key is None and is_run(value)
    return span


def parse_span_log_event(value: dict[str, Json], pointer: str) -> SpanLogEvent:
    """Parse an event of a span or a log record; the content of its body counts as attributes."""
    # One exporter capitalises these keys.
    attributes = _parse_attributes(value.get("attributes", value.get("Attributes")))
    body = _unwrap_value(value.get("body"))
    merged = {**attributes, **body} if is_object(body) else attributes
    name = text_at(value, "name", "Name", "eventName", "event_name") or text_at(
        merged, "event.name"
    )
    return SpanLogEvent(name or "", pointer, merged, text_at(value, "spanId", "span_id"))


def _parse_attributes(raw: Json) -> dict[str, Json]:
    """Return attributes that are written as an object or as a list of keys with values."""
    if not is_list(raw):
        return raw if is_object(raw) else {}
    attributes: dict[str, Json] = {}
    for entry in raw:
        # This runs for every attribute, and nearly all of them have both keys.
        try:
            key, value = entry["key"], entry["value"]
        except (TypeError, KeyError):
            continue
        if isinstance(key, str):
            attributes[key] = _unwrap_value(value)
    return attributes


def _unwrap_value(value: Json) -> Json:
    """Remove the type name around a value, as written by protocol buffers in JSON."""
    if not is_object(value) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    if kind not in _NESTED_TYPES:
        return inner
    values = inner.get("values") if is_object(inner) else inner
    if not is_list(values):
        return []
    if kind in _ARRAY_TYPES:
        return [_unwrap_value(item) for item in values]
    pairs = [item for item in values if is_object(item) and isinstance(item.get("key"), str)]
    return {item["key"]: _unwrap_value(item.get("value")) for item in pairs}


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
        records = cast("tuple[tuple[int, Json], ...]", document)
        document = records[0][1] if records else None
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
