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
from planproof.llm.prompting.escaping import clipped, id_written, in_marks
from planproof.llm.prompting.event_lines import EventWriter, Line

_OPEN_AT_ONCE = 4
_FARTHEST = 12
_LONGEST = 100
_NUMBERED = re.compile(r"(\D{0,16})(\d{1,9})")
_BETWEEN = " ¦ "
_Shape: TypeAlias = tuple[str, tuple[str, ...]]

RUN_DETAILS = (1_200, 480, 160, 48)
"""How many characters tell what differs within a run, from the most to the least.

There are as many as of `lines.DETAILS`, for what is alike to nothing stays an event."""


@dataclass(slots=True)
class Run:
    """Alike events, which may alternate with those of other runs."""

    shape: _Shape
    events: list[Event] = field(default_factory=list[Event])
    last: int = 0


def runs_of(trace: Trace, writer: EventWriter) -> list[Run]:
    """The events by runs, in the order in which these begin. Images keep an event apart."""
    found: list[Run] = []
    open_runs: list[Run] = []
    for place, event in enumerate(trace.events):
        shape: _Shape = (writer.head(event), _keys(event.arguments))
        open_runs = [run for run in open_runs if place - run.last <= _FARTHEST]
        run = next((run for run in open_runs if run.shape == shape), None)
        if run is None and event.kind is Kind.ACTION:
            # Another tool is another piece of work: what was said about the last one ends here.
            open_runs = [run for run in open_runs if run.events[0].kind is Kind.ACTION]
        if run is None or event.images or len(run.events) >= _LONGEST:
            run = Run(shape)
            found.append(run)
            if not event.images:
                open_runs = [other for other in open_runs if other.shape != shape]
                open_runs = [*open_runs[1 - _OPEN_AT_ONCE :], run]
        run.events.append(event)
        run.last = place
    return found


def _keys(arguments: Json) -> tuple[str, ...]:
    return tuple(cast("dict[str, Json]", arguments)) if isinstance(arguments, dict) else ()


def line_of_run(run: Run, writer: EventWriter, detail: int) -> Line:
    """A run on one line: its ids, what its events have in common, and what differs."""
    if len(run.events) == 1:
        return writer.line(run.events[0], detail)
    most = RUN_DETAILS[detail]
    bodies = [_body(event, writer) for event in run.events]
    head = _common_start(bodies)
    tail = _common_start([body[len(head) :][::-1] for body in bodies])[::-1]
    middles = [body[len(head) : len(body) - len(tail)] for body in bodies]
    told, left_out = _told(middles, most)
    differing = f"⟨{told}⟩" if any(middles) else ""
    words = [
        " ".join(ranges(event.id for event in run.events)),
        f"({len(run.events)} alike)",
        run.shape[0],
        f"{clipped(head, most)}{differing}{clipped(tail, most)}",
        _statuses(run.events),
    ]
    left_out += max(0, len(head) - most) + max(0, len(tail) - most)
    left_out += sum(len(event.output) for event in run.events)
    if left_out:
        words.append(f"[+{left_out}]")
    return Line(" ".join(filter(None, words)), left_out)


def ranges(ids: Iterable[str]) -> Iterator[str]:
    """Ids in order, those that follow one another as "e3-e6"."""
    first: str | None = None
    last = ""
    for event_id in ids:
        if first is not None and _follows(last, event_id):
            last = event_id
            continue
        if first is not None:
            yield _range(first, last)
        first = last = event_id
    if first is not None:
        yield _range(first, last)


def _range(first: str, last: str) -> str:
    return id_written(first) if first == last else f"{id_written(first)}-{id_written(last)}"


def _follows(earlier: str, later: str) -> bool:
    one, two = _NUMBERED.fullmatch(earlier), _NUMBERED.fullmatch(later)
    if one is None or two is None or one[1] != two[1]:
        return False
    return int(two[2]) == int(one[2]) + 1 and str(int(two[2])) == two[2]


def _body(event: Event, writer: EventWriter) -> str:
    shown = writer.fields(event, 2)
    text = in_marks(shown.text) if shown.text else ""
    return " ".join(filter(None, (shown.arguments, text)))


def _common_start(bodies: Sequence[str]) -> str:
    # What the first and the last in alphabetical order have in common, all have.
    first, last = min(bodies), max(bodies)
    differs = (
        place for place, pair in enumerate(zip(first, last, strict=False)) if len(set(pair)) > 1
    )
    return first[: next(differs, min(len(first), len(last)))]


def _told(middles: Sequence[str], most: int) -> tuple[str, int]:
    """What differs, from the first events and from the last, as far as there is room."""
    whole = _BETWEEN.join(middles)
    if len(whole) <= most:
        return whole, 0
    each = max(4, most // 4)
    first = _within([clipped(middle, each) for middle in middles], most * 2 // 3)
    last = _within([clipped(middle, each) for middle in reversed(middles)], most // 3)[::-1]
    last = last[max(0, len(first) + len(last) - len(middles)) :]
    told = _BETWEEN.join((*first, ELLIPSIS, *last))
    return told, max(0, sum(map(len, middles)) - len(told))


def _within(texts: Sequence[str], most: int) -> list[str]:
    kept: list[str] = []
    room = most
    for text in texts:
        room -= len(text) + len(_BETWEEN)
        if room < 0:
            break
        kept.append(text)
    return kept


def _statuses(events: Sequence[Event]) -> str:
    counted = Counter(event.status for event in events)
    del counted[EventStatus.UNKNOWN]
    if len(counted) == 1 and counted.total() == len(events):
        return next(iter(counted)).value
    failed = [event.id for event in events if event.status is EventStatus.ERROR]
    told = [f"{number} {status.value}" for status, number in sorted(counted.items())]
    return ", ".join(told) + (f" ({' '.join(ranges(failed))})" if failed else "")
