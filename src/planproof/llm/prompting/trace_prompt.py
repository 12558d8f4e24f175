"""Write a trace into a prompt within a budget: every event keeps at least its id.

Detail goes to the events with the most words of the plan, and omitted text is counted. If even one
line per group of similar events is too long, the trace does not fit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias, TypeVar, cast

from planproof.core.content import Json
from planproof.core.phrases import ELLIPSIS
from planproof.core.trace import Event, EventStatus, Kind, Trace
from planproof.llm.prompting.escaping import clip_middle, wrap_in_guillemets, write_id
from planproof.llm.prompting.event_lines import DETAIL_LEVELS, EventWriter, TraceLine

_MAX_SCORED_EVENTS = 3
_LEAST_DETAIL = len(DETAIL_LEVELS) - 1
_Entry = TypeVar("_Entry", Event, "EventGroup")


@dataclass(frozen=True, slots=True)
class TraceText:
    """The text of a trace, and how much of the events it shows.

    `shortened` counts the events shown incompletely, `collapsed` those that share a line.
    """

    text: str
    events: tuple[str, ...]
    shortened: int = 0
    collapsed: int = 0
    within_budget: bool = True


def write_trace(trace: Trace, writer: EventWriter, budget: int) -> TraceText:
    """Write the trace with one line per event, or per group of similar events if too long."""
    lines = _fit_lines(trace.events, writer.write_line, writer, budget)
    if lines is not None:
        return _build_text(trace, trace.events, lines)
    groups = group_similar_events(trace, writer)
    lines = _fit_lines(groups, partial(write_group_line, writer=writer), writer, budget)
    return _build_text(trace, groups, lines)


def write_json(trace: Trace, writer: EventWriter, budget: int) -> TraceText:
    """Write the trace as a JSON array, one event per line; shortened but never grouped."""
    events = trace.events
    lines = _fit_lines(events, writer.write_object, writer, budget - len(events) - len("[\n\n]"))
    written = _build_text(trace, events, lines)
    return replace(written, text="[\n" + written.text.replace("\n", ",\n") + "\n]")


def _build_text(
    trace: Trace, entries: Sequence[_Entry], lines: list[TraceLine] | None
) -> TraceText:
    ids = tuple(event.id for event in trace.events)
    if lines is None:
        return TraceText("", ids, within_budget=False)
    counts = [len(_list_events(entry)) for entry in entries]
    return TraceText(
        "\n".join(line.text for line in lines),
        ids,
        shortened=sum(count for count, line in zip(counts, lines, strict=True) if line.left_out),
        collapsed=sum(count for count in counts if count > 1),
    )


def _list_events(entry: Event | EventGroup) -> Sequence[Event]:
    return (entry,) if isinstance(entry, Event) else entry.events


def _fit_lines(
    entries: Sequence[_Entry],
    write: Callable[[_Entry, int], TraceLine],
    writer: EventWriter,
    budget: int,
) -> list[TraceLine] | None:
    """Write all entries in full, or at the least detail with more for as many as fit.

    An entry is an event or a group of events that becomes a line. Returns None if even the least
    detail does not fit.
    """
    lines = [write(entry, 0) for entry in entries]
    if _count_remaining(lines, budget) >= 0:
        return lines
    lines = [write(entry, _LEAST_DETAIL) for entry in entries]
    remaining = _count_remaining(lines, budget)
    if remaining < 0:
        return None
    _spend_remaining(remaining, entries, lines, write, writer)
    return lines


def _count_remaining(lines: Iterable[TraceLine], budget: int) -> int:
    return budget - sum(len(line.text) + 1 for line in lines)


def _spend_remaining(
    remaining: int,
    entries: Sequence[_Entry],
    lines: list[TraceLine],
    write: Callable[[_Entry, int], TraceLine],
    writer: EventWriter,
) -> None:
    """Spend the remaining budget on the entries most relevant to the plan, then on all."""
    overlaps = [
        max(map(writer.count_plan_terms, _list_events(entry)[:_MAX_SCORED_EVENTS]))
        for entry in entries
    ]
    ranked = sorted(range(len(entries)), key=lambda index: -overlaps[index])
    most_relevant = [index for index in ranked if 2 * overlaps[index] > max(overlaps)]
    for indices in (most_relevant, ranked):
        for detail in reversed(range(_LEAST_DETAIL)):
            for index in indices:
                if not lines[index].left_out:
                    continue
                better = write(entries[index], detail)
                cost = len(better.text) - len(lines[index].text)
                if 0 < cost <= remaining:
                    lines[index] = better
                    remaining -= cost


_MAX_OPEN_GROUPS = 4
_MAX_DISTANCE = 12
_MAX_GROUP_SIZE = 100
_NUMBERED = re.compile(r"(\D{0,16})(\d{1,9})")
_SEPARATOR = " ¦ "
_Shape: TypeAlias = tuple[str, tuple[str, ...]]

GROUP_DETAIL_LEVELS = (1_200, 480, 160, 48)
"""Maximum number of characters for the differences within a group, from most to least detail.

The same number of levels as `event_lines.DETAIL_LEVELS`, because an event that is similar to no
other is written with those."""


@dataclass(slots=True)
class EventGroup:
    """Similar events, which may alternate with events of other groups."""

    shape: _Shape
    events: list[Event] = field(default_factory=list[Event])
    last_index: int = 0


def group_similar_events(trace: Trace, writer: EventWriter) -> list[EventGroup]:
    """Group similar events, ordered by first event. An event with images is not grouped."""
    groups: list[EventGroup] = []
    open_groups: list[EventGroup] = []
    for event_index, event in enumerate(trace.events):
        shape: _Shape = (writer.write_head(event), _list_argument_names(event.arguments))
        open_groups = [
            group for group in open_groups if event_index - group.last_index <= _MAX_DISTANCE
        ]
        group = next((group for group in open_groups if group.shape == shape), None)
        if group is None and event.kind is Kind.ACTION:
            # Another tool starts other work: texts about the previous one end here.
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


def _list_argument_names(arguments: Json) -> tuple[str, ...]:
    return tuple(cast("dict[str, Json]", arguments)) if isinstance(arguments, dict) else ()


def write_group_line(group: EventGroup, detail: int, writer: EventWriter) -> TraceLine:
    """Write a group on one line: ids, what its events have in common, and what differs."""
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
    """Yield ids in order, with consecutive ones as "e3-e6"."""
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
    # The common prefix of the alphabetically first and last is common to all.
    first, last = min(bodies), max(bodies)
    differs = (
        position
        for position, pair in enumerate(zip(first, last, strict=False))
        if len(set(pair)) > 1
    )
    return first[: next(differs, min(len(first), len(last)))]


def _join_differences(middles: Sequence[str], max_chars: int) -> tuple[str, int]:
    """Return the differences from the first and last events, as far as they fit."""
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
