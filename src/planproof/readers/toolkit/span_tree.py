"""Spans in the order in which they began, each with the span around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TypeAlias

from planproof.core.content import Json
from planproof.core.json_values import is_object, key_with_list
from planproof.readers.toolkit.span import Span, span_of

Skip: TypeAlias = Callable[[str, str], None]

_CHILDREN = ("child_spans", "children", "child_runs", "spans")
_HOLDERS = frozenset(_CHILDREN)
_TRACES = ("trace_id", "traceId")
_OWN = ("span_id", "spanId", "id")
_PARENTS = ("parent_span_id", "parentSpanId", "parent_id", "parent_run_id")
_LATEST = 10**20
# Where the count since 1970 becomes one of seconds, of milli-, micro- and of nanoseconds.
_SCALES = ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3))
_Key: TypeAlias = str | int | None
_Id: TypeAlias = tuple[_Key, str | int]


def spans_of(entries: Iterable[tuple[str, Json]], skip: Skip) -> list[Span]:
    """All spans, also those inside others; a span that is there twice is taken once."""
    found: list[Span] = []
    known: dict[_Id, Span] = {}
    above: list[tuple[Span, _Id]] = []
    stack: list[tuple[Json, str, Span | None]] = [(v, pointer, None) for pointer, v in entries]
    stack.reverse()
    while stack:
        value, pointer, parent = stack.pop()
        span = span_of(value, pointer, parent)
        trace, own, outer = _ids(value)
        if own is None or known.setdefault((trace, own), span) is span:
            found.append(span)
            if parent is None and outer is not None:
                above.append((span, (trace, outer)))
        else:
            skip(pointer, "the same span again")
        key = None if _HOLDERS.isdisjoint(value) else key_with_list(value, _CHILDREN)
        if key is not None:
            children = value[key]
            stack.extend(
                (children[index], f"{pointer}/{key}/{index}", span)
                for index in range(len(children) - 1, -1, -1)
                if is_object(children[index])
            )
    for span, outer in above:
        span.parent = known.get(outer)
    found = _in_time(_outer_first(found))
    for span in found:
        if span.parent is not None:
            span.parent.last = span
    return found


def _ids(value: dict[str, Json]) -> tuple[_Key, _Key, _Key]:
    """The ids of its trace, of the span, and of the one around it."""
    context, parent = value.get("context"), value.get("parent")
    trace, own = _first(value, _TRACES), _first(value, _OWN)
    if is_object(context):
        trace, own = trace or _first(context, _TRACES), _first(context, _OWN) or own
    outer = _first(value, _PARENTS)
    if outer is None:
        outer = _first(parent, _OWN) if is_object(parent) else _first(value, ("parent",))
    return trace, own, outer


def _first(value: dict[str, Json], keys: Iterable[str]) -> _Key:
    for key in keys:
        found = value.get(key)
        # A root says so with an empty id or with zero.
        if found and isinstance(found, (str, int)):
            return found
    return None


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
