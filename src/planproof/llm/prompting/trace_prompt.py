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
from planproof.llm.prompting.event_lines import DETAIL_LEVELS, EventWriter, TraceLine
from planproof.llm.prompting.repeated_events import (
    GROUP_DETAIL_LEVELS,
    group_similar_events,
    write_group_line,
)

_MAX_SCORED_EVENTS = 3


@dataclass(frozen=True, slots=True)
class TraceText:
    """The text, and how much of the events it shows.

    `shortened` counts the events of which something was left out, `collapsed` those that share a
    line with others.
    """

    text: str
    events: tuple[str, ...]
    shortened: int = 0
    collapsed: int = 0
    within_budget: bool = True


class _Entry(NamedTuple):
    """What becomes a line: an event or a run. Detail 0 is the most."""

    events: Sequence[Event]
    write: Callable[[int], TraceLine]


def write_trace(trace: Trace, writer: EventWriter, budget: int) -> TraceText:
    """The trace as lines, one an event or, where these do not fit, one a run of alike events."""
    entries = list(_build_event_entries(trace, writer.write_line))
    lines = _fit_lines(entries, len(DETAIL_LEVELS), writer, budget)
    if lines is None:
        entries = list(_build_group_entries(trace, writer))
        lines = _fit_lines(entries, len(GROUP_DETAIL_LEVELS), writer, budget)
    return _build_text(trace, entries, lines)


def write_json(trace: Trace, writer: EventWriter, budget: int) -> TraceText:
    """The trace as a JSON array of events, one a line; they are shortened but never collapsed."""
    entries = list(_build_event_entries(trace, writer.write_object))
    lines = _fit_lines(entries, len(DETAIL_LEVELS), writer, budget - len(entries) - len("[\n\n]"))
    written = _build_text(trace, entries, lines)
    return replace(written, text="[\n" + written.text.replace("\n", ",\n") + "\n]")


def _build_event_entries(trace: Trace, line: Callable[[Event, int], TraceLine]) -> Iterator[_Entry]:
    for event in trace.events:
        yield _Entry((event,), partial(line, event))


def _build_group_entries(trace: Trace, writer: EventWriter) -> Iterator[_Entry]:
    for run in group_similar_events(trace, writer):
        yield _Entry(run.events, partial(write_group_line, run, writer))


def _build_text(trace: Trace, entries: list[_Entry], lines: list[TraceLine] | None) -> TraceText:
    ids = tuple(event.id for event in trace.events)
    if lines is None:
        return TraceText("", ids, within_budget=False)
    counts = [len(entry.events) for entry in entries]
    return TraceText(
        "\n".join(line.text for line in lines),
        ids,
        shortened=sum(count for count, line in zip(counts, lines, strict=True) if line.left_out),
        collapsed=sum(count for count in counts if count > 1),
    )


def _fit_lines(
    entries: list[_Entry], details: int, writer: EventWriter, budget: int
) -> list[TraceLine] | None:
    """All entries in full, or all at the least detail and as many as fit at more of it."""
    lines, remaining = _write_at_detail(0, entries, budget)
    if remaining >= 0:
        return lines
    reached = details - 1
    lines, remaining = _write_at_detail(reached, entries, budget)
    if remaining < 0:
        return None
    _spend_remaining(remaining, reached, entries, lines, writer)
    return lines


def _write_at_detail(
    detail: int, entries: list[_Entry], budget: int
) -> tuple[list[TraceLine], int]:
    """All entries at one detail, and what they leave of the budget."""
    lines = [entry.write(detail) for entry in entries]
    return lines, budget - sum(len(line.text) + 1 for line in lines)


def _spend_remaining(
    remaining: int, reached: int, entries: list[_Entry], lines: list[TraceLine], writer: EventWriter
) -> None:
    """Give what is left of the budget to the nearest entries, then to all, step by step."""
    overlaps = [
        max(map(writer.count_plan_terms, entry.events[:_MAX_SCORED_EVENTS])) for entry in entries
    ]
    ranked = sorted(range(len(entries)), key=lambda index: -overlaps[index])
    most_relevant = [index for index in ranked if 2 * overlaps[index] > max(overlaps)]
    for indices in (most_relevant, ranked):
        for detail in reversed(range(reached)):
            for index in indices:
                if not lines[index].left_out:
                    continue
                better = entries[index].write(detail)
                cost = len(better.text) - len(lines[index].text)
                if 0 < cost <= remaining:
                    lines[index] = better
                    remaining -= cost
