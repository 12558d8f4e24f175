"""Runs of alike events on one line, which still names every id."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from planproof.core.content import Json
from planproof.core.phrases import ELLIPSIS
from planproof.core.trace import Event, EventStatus, Kind, Trace
from planproof.llm.prompting.escaping import clip_middle, wrap_in_guillemets, write_id
from planproof.llm.prompting.event_lines import EventWriter, TraceLine

_MAX_OPEN_GROUPS = 4
_MAX_DISTANCE = 12
_MAX_GROUP_SIZE = 100
_NUMBERED = re.compile(r"(\D{0,16})(\d{1,9})")
_SEPARATOR = " ¦ "
_Shape: TypeAlias = tuple[str, tuple[str, ...]]

GROUP_DETAIL_LEVELS = (1_200, 480, 160, 48)
"""How many characters tell what differs within a run, from the most to the least.

There are as many as of `lines.DETAILS`, for what is alike to nothing stays an event."""


@dataclass(slots=True)
class EventGroup:
    """Alike events, which may alternate with those of other runs."""

    shape: _Shape
    events: list[Event] = field(default_factory=list[Event])
    last_index: int = 0


def group_similar_events(trace: Trace, writer: EventWriter) -> list[EventGroup]:
    """The events by runs, in the order in which these begin. Images keep an event apart."""
    groups: list[EventGroup] = []
    open_groups: list[EventGroup] = []
    for event_index, event in enumerate(trace.events):
        shape: _Shape = (writer.write_head(event), _argument_names(event.arguments))
        open_groups = [
            group for group in open_groups if event_index - group.last_index <= _MAX_DISTANCE
        ]
        group = next((group for group in open_groups if group.shape == shape), None)
        if group is None and event.kind is Kind.ACTION:
            # Another tool is another piece of work: what was said about the last one ends here.
            open_groups = [group for group in open_groups if group.events[0].kind is Kind.ACTION]
        if group is None or event.images or len(group.events) >= _MAX_GROUP_SIZE:
            group = EventGroup(shape)
            groups.append(group)
            if not event.images:
                open_groups = [other for other in open_groups if other.shape != shape]
                open_groups = [*open_groups[1 - _MAX_OPEN_GROUPS :], group]
        group.events.append(event)
        group.last_index = event_index
    return groups


def _argument_names(arguments: Json) -> tuple[str, ...]:
    return tuple(cast("dict[str, Json]", arguments)) if isinstance(arguments, dict) else ()


def write_group_line(group: EventGroup, writer: EventWriter, detail: int) -> TraceLine:
    """A run on one line: its ids, what its events have in common, and what differs."""
    if len(group.events) == 1:
        return writer.write_line(group.events[0], detail)
    most = GROUP_DETAIL_LEVELS[detail]
    bodies = [_write_body(event, writer) for event in group.events]
    head = _find_common_prefix(bodies)
    tail = _find_common_prefix([body[len(head) :][::-1] for body in bodies])[::-1]
    middles = [body[len(head) : len(body) - len(tail)] for body in bodies]
    differences, left_out = _join_differences(middles, most)
    differing = f"⟨{differences}⟩" if any(middles) else ""
    words = [
        " ".join(format_id_ranges(event.id for event in group.events)),
        f"({len(group.events)} alike)",
        group.shape[0],
        f"{clip_middle(head, most)}{differing}{clip_middle(tail, most)}",
        _format_statuses(group.events),
    ]
    left_out += max(0, len(head) - most) + max(0, len(tail) - most)
    left_out += sum(len(event.output) for event in group.events)
    if left_out:
        words.append(f"[+{left_out}]")
    return TraceLine(" ".join(filter(None, words)), left_out)


def format_id_ranges(ids: Iterable[str]) -> Iterator[str]:
    """Ids in order, those that follow one another as "e3-e6"."""
    first: str | None = None
    last = ""
    for event_id in ids:
        if first is not None and _is_next_id(last, event_id):
            last = event_id
            continue
        if first is not None:
            yield _format_range(first, last)
        first = last = event_id
    if first is not None:
        yield _format_range(first, last)


def _format_range(first: str, last: str) -> str:
    return write_id(first) if first == last else f"{write_id(first)}-{write_id(last)}"


def _is_next_id(earlier: str, later: str) -> bool:
    one, two = _NUMBERED.fullmatch(earlier), _NUMBERED.fullmatch(later)
    if one is None or two is None or one[1] != two[1]:
        return False
    return int(two[2]) == int(one[2]) + 1 and str(int(two[2])) == two[2]


def _write_body(event: Event, writer: EventWriter) -> str:
    shown = writer.select_fields(event, 2)
    text = wrap_in_guillemets(shown.text) if shown.text else ""
    return " ".join(filter(None, (shown.arguments, text)))


def _find_common_prefix(bodies: Sequence[str]) -> str:
    # What the first and the last in alphabetical order have in common, all have.
    first, last = min(bodies), max(bodies)
    differs = (
        position
        for position, pair in enumerate(zip(first, last, strict=False))
        if len(set(pair)) > 1
    )
    return first[: next(differs, min(len(first), len(last)))]


def _join_differences(middles: Sequence[str], max_chars: int) -> tuple[str, int]:
    """What differs, from the first events and from the last, as far as there is room."""
    whole = _SEPARATOR.join(middles)
    if len(whole) <= max_chars:
        return whole, 0
    max_each = max(4, max_chars // 4)
    first = _take_within([clip_middle(middle, max_each) for middle in middles], max_chars * 2 // 3)
    last = _take_within(
        [clip_middle(middle, max_each) for middle in reversed(middles)], max_chars // 3
    )[::-1]
    last = last[max(0, len(first) + len(last) - len(middles)) :]
    text = _SEPARATOR.join((*first, ELLIPSIS, *last))
    return text, max(0, sum(map(len, middles)) - len(text))


def _take_within(texts: Sequence[str], max_chars: int) -> list[str]:
    taken: list[str] = []
    remaining = max_chars
    for text in texts:
        remaining -= len(text) + len(_SEPARATOR)
        if remaining < 0:
            break
        taken.append(text)
    return taken


def _format_statuses(events: Sequence[Event]) -> str:
    counted = Counter(event.status for event in events)
    del counted[EventStatus.UNKNOWN]
    if len(counted) == 1 and counted.total() == len(events):
        return next(iter(counted)).value
    failed = [event.id for event in events if event.status is EventStatus.ERROR]
    counts = [f"{number} {status.value}" for status, number in sorted(counted.items())]
    return ", ".join(counts) + (f" ({' '.join(format_id_ranges(failed))})" if failed else "")
