"""Spans in the order in which they began, each with the span around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TypeAlias

from planproof.core.content import Json
from planproof.core.json_values import is_object, key_with_list
from planproof.readers.toolkit.span import Span, build_span

SkipCallback: TypeAlias = Callable[[str, str], None]

_CHILD_KEYS = ("child_spans", "children", "child_runs", "spans")
_CHILD_KEY_SET = frozenset(_CHILD_KEYS)
_TRACE_ID_KEYS = ("trace_id", "traceId")
_SPAN_ID_KEYS = ("span_id", "spanId", "id")
_PARENT_ID_KEYS = ("parent_span_id", "parentSpanId", "parent_id", "parent_run_id")
_MAX_TIMESTAMP = 10**20
# Where the count since 1970 becomes one of seconds, of milli-, micro- and of nanoseconds.
_SCALES = ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3))
_Key: TypeAlias = str | int | None
_Id: TypeAlias = tuple[_Key, str | int]


def build_span_tree(entries: Iterable[tuple[str, Json]], skip: SkipCallback) -> list[Span]:
    """All spans, also those inside others; a span that is there twice is taken once."""
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
            skip(pointer, "the same span again")
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
    """The ids of its trace, of the span, and of the one around it."""
    context, parent = value.get("context"), value.get("parent")
    trace, own = _first_id(value, _TRACE_ID_KEYS), _first_id(value, _SPAN_ID_KEYS)
    if is_object(context):
        trace, own = (
            trace or _first_id(context, _TRACE_ID_KEYS),
            _first_id(context, _SPAN_ID_KEYS) or own,
        )
    outer = _first_id(value, _PARENT_ID_KEYS)
    if outer is None:
        outer = (
            _first_id(parent, _SPAN_ID_KEYS) if is_object(parent) else _first_id(value, ("parent",))
        )
    return trace, own, outer


def _first_id(value: dict[str, Json], keys: Iterable[str]) -> _Key:
    for key in keys:
        identifier = value.get(key)
        # A root says so with an empty id or with zero.
        if identifier and isinstance(identifier, (str, int)):
            return identifier
    return None


def _sort_parents_first(spans: list[Span]) -> list[Span]:
    """The same spans, each behind the one around it; parents that run in a circle are cut."""
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
    """By start; a span without a time begins with the one before it, none before its parent."""
    began: dict[int, int] = {}
    before = 0
    for span in spans:
        start = _parse_nanoseconds(span.start)
        start = before if start is None else start
        # Clocks of two machines differ: what was called can't have begun before its caller.
        if span.parent is not None:
            start = max(start, began[id(span.parent)])
        began[id(span)] = before = start
    # Sorting keeps the order of equals, so parents stay in front of what began with them.
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
