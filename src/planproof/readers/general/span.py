"""One span, whatever it is called: its attributes, its kind, its place, the span around it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from planproof.content import Json
from planproof.pointer import escape
from planproof.readers.pieces.outcomes import outcome_of, stated
from planproof.readers.pieces.shapes import is_list, is_object, key_with_list, text_at
from planproof.trace import EventStatus

_ATTRIBUTES = ("attributes", "span_attributes", "spanAttributes", "span_data")
_CHILDREN = ("child_spans", "children", "child_runs", "spans")
_STARTS = (
    "start_time",
    "startTimeUnixNano",
    "start_time_unix_nano",
    "started_at",
    "startTime",
    "timestamp",
)
_KINDS = (
    "openinference.span.kind",
    "gen_ai.operation.name",
    "traceloop.span.kind",
    "mlflow.spanType",
    "span.type",
    "type",
)
_OBSERVED = frozenset("GENERATION SPAN TOOL AGENT CHAIN RETRIEVER".split())
_LATEST = 1e30
_TOOLS = frozenset(("tool", "execute_tool", "function"))
_MODELS = frozenset(
    "llm chat call_llm chat_model completion text_completion generate_content generation".split()
)


@dataclass(slots=True, eq=False)
class Span:
    """A span; `place` is the pointer to its attributes, `ends_with` the last work inside it."""

    value: dict[str, Json]
    pointer: str
    attributes: dict[str, Json]
    place: str
    parent: Span | None
    start: Json
    has_pairs: bool = False
    ends_with: Span | None = None

    @property
    def kind(self) -> str:
        """What it calls itself: "tool", "llm", "agent" and so on."""
        kind = text_at(self.attributes, *_KINDS) or text_at(
            self.value, "run_type", "span_type", "type"
        )
        return (kind or "").lower()

    @property
    def hands_over(self) -> bool:
        """Whether one agent gave the word to another in it."""
        return self.kind == "handoff"

    @property
    def runs_tool(self) -> bool:
        """Whether a tool ran in it."""
        return self.kind in _TOOLS

    @property
    def asks_model(self) -> bool:
        """Whether a model answered in it."""
        return self.kind in _MODELS

    def pointer_to(self, key: str) -> str:
        """Where an attribute stands; among key-value pairs, the list of all."""
        return self.place if self.has_pairs else f"{self.place}/{escape(key)}"

    def key_of(self, keys: Iterable[str]) -> str | None:
        """The first of these attributes that is there."""
        return next((key for key in keys if self.attributes.get(key) is not None), None)

    def status(self, output: str | None) -> EventStatus:
        """How it ended: an error if it says so or if the output does."""
        said = stated(self.value.get("status_code")) or stated(self.value.get("status"))
        if self.value.get("error"):
            said = EventStatus.ERROR
        if said is not EventStatus.ERROR and output is not None:
            found = outcome_of(output)
            return found if found is EventStatus.ERROR else said or found
        return said or EventStatus.UNKNOWN


def is_span(value: Json) -> bool:
    """Whether this is a span: attributes together with an id or a time."""
    if not is_object(value):
        return False
    if isinstance(value.get("run_type"), str):
        return True
    if text_at(value, "type") in _OBSERVED and any(key in value for key in _STARTS):
        return True
    return any(key in value for key in _ATTRIBUTES) and any(
        key in value for key in ("span_id", "spanId", "context", *_STARTS)
    )


def spans_of(entries: Iterable[tuple[str, Json]]) -> list[Span]:
    """All spans, also those inside others, in the order in which they began."""
    found: list[Span] = []
    stack: list[tuple[Json, str, Span | None]] = [(v, pointer, None) for pointer, v in entries]
    stack.reverse()
    while stack:
        value, pointer, parent = stack.pop()
        span = _span(value, pointer, parent)
        found.append(span)
        key = key_with_list(value, _CHILDREN)
        if key is not None:
            stack.extend(
                (value[key][index], f"{pointer}/{key}/{index}", span)
                for index in range(len(value[key]) - 1, -1, -1)
                if is_object(value[key][index])
            )
    _link(found)
    found = _in_time(found)
    for span in found:
        if span.parent is not None:
            span.parent.ends_with = span
    return found


def _span(value: dict[str, Json], pointer: str, parent: Span | None) -> Span:
    key = next((key for key in _ATTRIBUTES if key in value), None)
    raw = value if key is None else value[key]
    place = pointer if key is None else f"{pointer}/{key}"
    start = next((value[name] for name in _STARTS if value.get(name) is not None), None)
    if is_list(raw):
        return Span(value, pointer, _from_pairs(raw), place, parent, start, has_pairs=True)
    return Span(value, pointer, raw if is_object(raw) else {}, place, parent, start)


def _from_pairs(entries: list[Json]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for entry in entries:
        if is_object(entry) and isinstance(entry.get("key"), str):
            value = entry.get("value")
            found[entry["key"]] = next(iter(value.values()), None) if is_object(value) else value
    return found


def _link(spans: list[Span]) -> None:
    by_id: dict[str | int, Span] = {}
    for span in spans:
        own = _id(span.value, "span_id", "spanId", "id") or _id(
            span.value.get("context"), "span_id"
        )
        if own is not None:
            by_id.setdefault(own, span)
    for span in spans:
        if span.parent is None:
            parent = span.value.get("parent")
            above = _id(span.value, "parent_span_id", "parentSpanId", "parent_id", "parent_run_id")
            above = above or (_id(parent, "span_id") if is_object(parent) else parent)
            if isinstance(above, (str, int)):
                span.parent = by_id.get(above)
    _cut_circles(spans)


def _id(value: Json, *keys: str) -> str | int | None:
    if not is_object(value):
        return None
    return next((value[key] for key in keys if isinstance(value.get(key), (str, int))), None)


def _cut_circles(spans: list[Span]) -> None:
    cleared: set[int] = set()
    for span in spans:
        way: set[int] = set()
        current: Span | None = span
        while current is not None and id(current) not in cleared:
            way.add(id(current))
            if current.parent is not None and id(current.parent) in way:
                current.parent = None
            current = current.parent
        cleared |= way


def _in_time(spans: list[Span]) -> list[Span]:
    starts = [span.start for span in spans]
    if all(isinstance(start, str) and not start.isdigit() for start in starts):
        return sorted(spans, key=lambda span: span.start)
    if all(_is_number(start) for start in starts):
        return sorted(spans, key=lambda span: float(span.start))
    return spans


def _is_number(start: Json) -> bool:
    if isinstance(start, str):
        return start.isascii() and start.isdigit() and len(start) < 30
    return isinstance(start, (int, float)) and abs(start) < _LATEST
