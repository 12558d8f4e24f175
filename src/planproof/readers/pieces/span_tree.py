"""Spans in the order in which they began, each with the span around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TypeAlias

from planproof.content import Json
from planproof.readers.pieces.shapes import is_object, key_with_list
from planproof.readers.pieces.span import Span, span_of

Skip: TypeAlias = Callable[[str, str], None]

_CHILDREN = ("child_spans", "children", "child_runs", "spans")
_PARENTS = ("parent_span_id", "parentSpanId", "parent_id", "parent_run_id")
_LATEST = 10**20
# Where the count since 1970 becomes one of seconds, of milli-, micro- and of nanoseconds.
_SCALES = ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3))
_Id: TypeAlias = "tuple[str | int | None, str | int]"


def spans_of(entries: Iterable[tuple[str, Json]], skip: Skip) -> list[Span]:
    """All spans, also those inside others; a span that is there twice is taken once."""
    found: list[Span] = []
    known: dict[_Id, Span] = {}
    stack: list[tuple[Json, str, Span | None]] = [(v, pointer, None) for pointer, v in entries]
    stack.reverse()
    while stack:
        value, pointer, parent = stack.pop()
        span = span_of(value, pointer, parent)
        own = _own_id(value)
        if own is None or known.setdefault(own, span) is span:
            found.append(span)
        else:
            skip(pointer, "the same span again")
        key = key_with_list(value, _CHILDREN)
        if key is not None:
            children = value[key]
            stack.extend(
                (children[index], f"{pointer}/{key}/{index}", span)
                for index in range(len(children) - 1, -1, -1)
                if is_object(children[index])
            )
    for span in found:
        if span.parent is None:
            above = _parent_id(span.value)
            span.parent = known.get(above) if above is not None else None
    found = _in_time(_outer_first(found))
    for span in found:
        if span.parent is not None:
            span.parent.last = span
    return found


def _own_id(value: dict[str, Json]) -> _Id | None:
    context = value.get("context")
    own = _id(value, "span_id", "spanId", "id") or _id(context, "span_id", "spanId")
    return None if own is None else (_trace_id(value), own)


def _parent_id(value: dict[str, Json]) -> _Id | None:
    parent = value.get("parent")
    above = _id(value, *_PARENTS)
    above = above or (_id(parent, "span_id", "spanId") if is_object(parent) else parent)
    return (_trace_id(value), above) if isinstance(above, (str, int)) and above else None


def _trace_id(value: dict[str, Json]) -> str | int | None:
    # Ids of spans are only unique within their trace.
    return _id(value, "trace_id", "traceId") or _id(value.get("context"), "trace_id", "traceId")


def _id(value: Json, *keys: str) -> str | int | None:
    if not is_object(value):
        return None
    return next((value[key] for key in keys if isinstance(value.get(key), (str, int))), None)


def _outer_first(spans: list[Span]) -> list[Span]:
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


def _in_time(spans: list[Span]) -> list[Span]:
    """By start; a span without a time begins with the one before it, none before its parent."""
    began: dict[int, int] = {}
    before = 0
    for span in spans:
        start = _nanoseconds(span.start)
        start = before if start is None else start
        # Clocks of two machines differ: what was called can't have begun before its caller.
        if span.parent is not None:
            start = max(start, began[id(span.parent)])
        began[id(span)] = before = start
    # Sorting keeps the order of equals, so parents stay in front of what began with them.
    return sorted(spans, key=lambda span: began[id(span)])


def _nanoseconds(start: Json) -> int | None:
    if isinstance(start, str):
        if start.isascii() and start.isdigit() and len(start) <= len(str(_LATEST)):
            start = int(start)
        else:
            return _from_text(start)
    if isinstance(start, bool) or not isinstance(start, (int, float)) or abs(start) > _LATEST:
        return None
    for limit, scale in _SCALES:
        if abs(start) < limit:
            return int(start * scale)
    return int(start)


def _from_text(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return int(moment.timestamp() * 1_000_000) * 1000
    except (ValueError, OverflowError, OSError):
        return None
