"""One span of a trace: its attributes, where they stand, how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, key_with_text, text_at, written
from planproof.core.pointer import escape
from planproof.core.trace import EventStatus
from planproof.readers.toolkit.call_outcomes import outcome_of, stated
from planproof.readers.toolkit.trace_builder import Draft

STARTS = (
    "start_time",
    "startTimeUnixNano",
    "start_time_unix_nano",
    "started_at",
    "startTime",
    "timestamp",
)
ATTRIBUTES = ("attributes", "span_attributes", "spanAttributes")
_IDS = ("span_id", "spanId", "context", *STARTS)
_OBSERVED = frozenset("GENERATION SPAN TOOL AGENT CHAIN RETRIEVER".split())
_LISTS = frozenset(("arrayValue", "array_value"))
_NESTED = _LISTS | {"kvlistValue", "kvlist_value"}
# Where exporters write why a span failed: beside it, in its status, or as an event of it.
_WHY = ("status_message", "statusMessage", "error")
_WHY_IN_STATUS = ("description", "message")
_FAILURES = {"exception": "exception.message", "agent.step_recovery": "message"}


@dataclass(slots=True)
class Note:
    """A log record or an event that belongs to a span: its name, its place, what it holds."""

    name: str
    pointer: str
    attributes: dict[str, Json]
    span_id: str | None = None


@dataclass(slots=True, eq=False)
class Span:
    """A span; `place` is the pointer to its attributes, `places` to those that stand elsewhere.

    `raw` are the attributes as they were written, which may be a list of keys with values.
    `last` is the last span that began inside it. What reading it has found out is kept with it:
    the agent whose work it is, the model call around it, and the action that it is a part of.
    """

    value: dict[str, Json]
    pointer: str
    attributes: dict[str, Json]
    place: str
    raw: Json
    parent: Span | None = None
    start: Json = None
    last: Span | None = None
    sort: str = ""
    agent: Span | None = None
    model: Span | None = None
    around: Draft | None = None
    notes: list[Note] = field(default_factory=list[Note])
    places: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def name(self) -> str:
        """What it is called."""
        return text_at(self.value, "name", "span_name", "spanName") or ""

    def pointer_to(self, key: str) -> str:
        """Where an attribute stands."""
        if key in self.places:
            return self.places[key]
        if not is_list(self.raw):
            return f"{self.place}/{escape(key)}"
        if len(self.raw) == len(self.attributes):
            return f"{self.place}/{list(self.attributes).index(key)}/value"
        found = (n for n, pair in enumerate(self.raw) if is_object(pair) and pair.get("key") == key)
        return f"{self.place}/{next(found)}/value"

    def key_of(self, keys: Iterable[str]) -> str | None:
        """The first of these attributes that is there."""
        return next((key for key in keys if self.attributes.get(key) is not None), None)

    def place_of(self, key: str | None) -> str:
        """What there is to see of it: its attributes, or all of it if this one stands elsewhere."""
        elsewhere = self.places.get(key, self.place) if key is not None else self.place
        return self.place if elsewhere.startswith(self.place) else self.pointer

    def events(self) -> Iterator[Note]:
        """The events noted in it, and the log records that name it."""
        events = self.value.get("events")
        for index, event in enumerate(events if is_list(events) else []):
            if is_object(event):
                yield note_of(event, f"{self.pointer}/events/{index}")
        yield from self.notes

    def failure(self) -> tuple[str, str] | None:
        """Why it failed, and where that is said."""
        key = key_with_text(self.value, _WHY)
        if key is not None:
            return self.value[key], f"{self.pointer}/{key}"
        status = self.value.get("status")
        if is_object(status):
            key = key_with_text(status, _WHY_IN_STATUS)
            if key is not None:
                return status[key], f"{self.pointer}/status/{key}"
        for note in self.events():
            why = note.attributes.get(_FAILURES.get(note.name, ""))
            if isinstance(why, str) and why:
                return why, note.pointer
        return None

    def status(self, output: str | None) -> EventStatus:
        """How it ended: an error if it says so or if the output does."""
        said = stated(self.value.get("status_code")) or stated(self.value.get("status"))
        if self.value.get("error"):
            said = EventStatus.ERROR
        if said is not EventStatus.ERROR and output is not None:
            found = outcome_of(output)
            return found if found is EventStatus.ERROR else said or found
        return said or EventStatus.UNKNOWN

    def answers(self, draft: Draft, keys: Iterable[str]) -> None:
        """Note as the outcome of an action what this span gave back, or why it failed."""
        key = self.key_of(keys)
        if key is not None:
            draft.returned(written(self.attributes[key]), self.pointer_to(key))
            draft.status = self.status(draft.output)
            return
        why = self.failure()
        if why is not None:
            draft.returned(*why, EventStatus.ERROR)
        else:
            draft.status = self.status(None)


def is_span(value: Json) -> bool:
    """Whether this is a span: attributes together with an id or a time."""
    if not is_object(value):
        return False
    if isinstance(value.get("run_type"), str):
        return True
    if text_at(value, "type") in _OBSERVED and any(key in value for key in STARTS):
        return True
    return any(key in value for key in ATTRIBUTES) and any(key in value for key in _IDS)


def raw_attributes(value: dict[str, Json]) -> Json:
    """What stands under the first key that attributes are known to have."""
    return next((value[key] for key in ATTRIBUTES if key in value), None)


def span_of(value: dict[str, Json], pointer: str, parent: Span | None) -> Span:
    """A span with its attributes as one flat object, however they are written."""
    key = next((key for key in ATTRIBUTES if key in value), None)
    raw = value if key is None else value[key]
    place = pointer if key is None else f"{pointer}/{key}"
    start = next((value[name] for name in STARTS if value.get(name) is not None), None)
    attributes = _from_pairs(raw) if is_list(raw) else raw
    attributes = attributes if is_object(attributes) else {}
    return Span(value, pointer, attributes, place, raw, parent, start)


def note_of(value: dict[str, Json], pointer: str) -> Note:
    """An event of a span or a log record; what its body holds counts as attributes of it."""
    # One exporter writes these words with capitals.
    raw = value.get("attributes", value.get("Attributes"))
    attributes = _from_pairs(raw) if is_list(raw) else raw
    found = dict(attributes) if is_object(attributes) else {}
    body = _bare(value.get("body"))
    if is_object(body):
        found.update(body)
    name = text_at(value, "name", "Name", "eventName", "event_name") or text_at(found, "event.name")
    return Note(name or "", pointer, found, text_at(value, "spanId", "span_id"))


def _from_pairs(entries: list[Json]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for entry in entries:
        # Nearly all are whole; what is asked here is asked of every attribute there is.
        try:
            key, value = entry["key"], entry["value"]
        except (TypeError, KeyError):
            continue
        if isinstance(key, str):
            found[key] = _bare(value)
    return found


def _bare(value: Json) -> Json:
    """A value without the name of its type, as protocol buffers write it in JSON."""
    if not is_object(value) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    if kind not in _NESTED:
        return inner
    values = inner.get("values") if is_object(inner) else inner
    if not is_list(values):
        return []
    if kind in _LISTS:
        return [_bare(item) for item in values]
    pairs = [item for item in values if is_object(item) and isinstance(item.get("key"), str)]
    return {item["key"]: _bare(item.get("value")) for item in pairs}
