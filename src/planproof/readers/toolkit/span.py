"""Model a span: its attributes with their pointers, its events and its status."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeGuard

from planproof.core.content import Json
from planproof.core.json_values import format_value, is_list, is_object, key_with_text, text_at
from planproof.core.pointer import escape
from planproof.core.trace import EventStatus
from planproof.readers.toolkit.nested_messages import MessagePart
from planproof.readers.toolkit.tool_calls import infer_status, parse_status
from planproof.readers.toolkit.trace_builder import EventDraft

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
        status = self.value.get("status")
        if is_object(status):
            key = key_with_text(status, _STATUS_MESSAGE_KEYS)
            if key is not None:
                return status[key], f"{self.pointer}/status/{key}"
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
        return declared or EventStatus.UNKNOWN

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
    if isinstance(value.get("run_type"), str):
        return True
    if text_at(value, "type") in _OBSERVATION_TYPES and any(
        key in value for key in START_TIME_KEYS
    ):
        return True
    # OTLP omits `attributes` if there are none.
    has_attributes = any(key in value for key in (*ATTRIBUTE_KEYS, "startTimeUnixNano"))
    return has_attributes and any(key in value for key in _ID_KEYS)


def find_attributes_key(value: dict[str, Json]) -> str | None:
    """Return the key under which a span has its attributes."""
    return next((key for key in ATTRIBUTE_KEYS if key in value), None)


def build_span(value: dict[str, Json], pointer: str, parent: Span | None) -> Span:
    """Build a span with its attributes as one flat object, in whatever form they are written."""
    key = find_attributes_key(value)
    raw = value if key is None else value[key]
    attributes_pointer = pointer if key is None else f"{pointer}/{key}"
    start = next((value[name] for name in START_TIME_KEYS if value.get(name) is not None), None)
    return Span(value, pointer, _parse_attributes(raw), attributes_pointer, raw, parent, start)


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


SpanKind: TypeAlias = Literal["tool", "model", "agent", "plan", ""]


@dataclass(frozen=True, slots=True)
class SpanConvention:
    """A convention for recording what agents, models and tools do.

    `classify` returns the kind of a span: "" for one that only contains others, None for one of
    another convention. `parse_answer` yields what a model said in a span, `parse_prompt` what it
    was given, mostly earlier messages. `find_step` returns the span around a model call that has
    the result of the answer; `parse_task` returns the user's task from an agent's span.
    """

    classify: Callable[[Span], SpanKind | None]
    parse_answer: Callable[[Span], Iterator[MessagePart]]
    parse_prompt: Callable[[Span], Iterator[MessagePart]]
    tool_names: tuple[str, ...]
    call_ids: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    agent_names: tuple[str, ...]
    find_step: Callable[[Span], Span | None] = lambda _: None
    parse_task: Callable[[Span], MessagePart | None] = lambda _: None
