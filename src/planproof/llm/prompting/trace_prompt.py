"""A trace written for a model inside a budget: every event keeps at least its id.

What there is room for is chosen by nearness to the plan's words, and what was left out is counted.
Where even one line for every run of alike events is too much, the trace does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from planproof.core.trace import Event, Trace
from planproof.llm.prompting.event_lines import DETAILS, EventWriter, Line
from planproof.llm.prompting.repeated_events import RUN_DETAILS, line_of_run, runs_of

_LOOKED_AT = 3


@dataclass(frozen=True, slots=True)
class WrittenTrace:
    """The text, and how much of the events it shows.

    `shortened` counts the events of which something was left out, `collapsed` those that share a
    line with others.
    """

    text: str
    events: tuple[str, ...]
    shortened: int = 0
    collapsed: int = 0
    fits: bool = True


class _Entry(NamedTuple):
    """What becomes a line: an event or a run. Detail 0 is the most."""

    events: Sequence[Event]
    line: Callable[[int], Line]


def write_trace(trace: Trace, writer: EventWriter, budget: int) -> WrittenTrace:
    """The trace as lines, one an event or, where these do not fit, one a run of alike events."""
    entries = list(_events(trace, writer.line))
    lines = _fitted(entries, len(DETAILS), writer, budget)
    if lines is None:
        entries = list(_runs(trace, writer))
        lines = _fitted(entries, len(RUN_DETAILS), writer, budget)
    return _written(trace, entries, lines)


def write_objects(trace: Trace, writer: EventWriter, budget: int) -> WrittenTrace:
    """The trace as a JSON array of events, one a line; they are shortened but never collapsed."""
    entries = list(_events(trace, writer.as_object))
    lines = _fitted(entries, len(DETAILS), writer, budget - len(entries) - len("[\n\n]"))
    written = _written(trace, entries, lines)
    return replace(written, text="[\n" + written.text.replace("\n", ",\n") + "\n]")


def _events(trace: Trace, line: Callable[[Event, int], Line]) -> Iterator[_Entry]:
    for event in trace.events:
        yield _Entry((event,), partial(line, event))


def _runs(trace: Trace, writer: EventWriter) -> Iterator[_Entry]:
    for run in runs_of(trace, writer):
        yield _Entry(run.events, partial(line_of_run, run, writer))


def _written(trace: Trace, entries: list[_Entry], lines: list[Line] | None) -> WrittenTrace:
    ids = tuple(event.id for event in trace.events)
    if lines is None:
        return WrittenTrace("", ids, fits=False)
    counts = [len(entry.events) for entry in entries]
    return WrittenTrace(
        "\n".join(line.text for line in lines),
        ids,
        shortened=sum(count for count, line in zip(counts, lines, strict=True) if line.left_out),
        collapsed=sum(count for count in counts if count > 1),
    )


def _fitted(
    entries: list[_Entry], details: int, writer: EventWriter, budget: int
) -> list[Line] | None:
    """All entries in full, or all at the least detail and as many as fit at more of it."""
    lines, room = _at(0, entries, budget)
    if room >= 0:
        return lines
    reached = details - 1
    lines, room = _at(reached, entries, budget)
    if room < 0:
        return None
    _spend(room, reached, entries, lines, writer)
    return lines


def _at(detail: int, entries: list[_Entry], budget: int) -> tuple[list[Line], int]:
    """All entries at one detail, and what they leave of the budget."""
    lines = [entry.line(detail) for entry in entries]
    return lines, budget - sum(len(line.text) + 1 for line in lines)


def _spend(
    room: int, reached: int, entries: list[_Entry], lines: list[Line], writer: EventWriter
) -> None:
    """Give what is left of the budget to the nearest entries, then to all, step by step."""
    nearness = [max(map(writer.nearness, entry.events[:_LOOKED_AT])) for entry in entries]
    ranked = sorted(range(len(entries)), key=lambda place: -nearness[place])
    nearest = [place for place in ranked if 2 * nearness[place] > max(nearness)]
    for places in (nearest, ranked):
        for detail in reversed(range(reached)):
            for place in places:
                if not lines[place].left_out:
                    continue
                better = entries[place].line(detail)
                cost = len(better.text) - len(lines[place].text)
                if 0 < cost <= room:
                    lines[place] = better
                    room -= cost
