"""The traces of a file that holds several, one a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from planproof.reports.terminal.lines import WIDTH, cut
from planproof.reports.wording import many, shows

_WIDEST_ID = 32
_TAG = re.compile(r"<[^<>]{1,80}>")


@dataclass(frozen=True, slots=True)
class Listed:
    """What is told of one trace: its reader and events, or why it can't be read."""

    id: str
    reader: str = ""
    events: int = 0
    task: str = ""
    error: str | None = None


def listing(name: str, traces: Iterable[Listed], *, secrets: bool = False) -> Iterator[str]:
    """Lines of at most 80 columns: number, id, reader, events, and the first line of the task."""
    show = shows(secrets=secrets)
    rows = [_cells(number, trace) for number, trace in enumerate(traces, 1)]
    holds = f" holds {many(len(rows), 'trace')}; take one with --pick"
    yield f"{_end_of(show(name), WIDTH - len(holds))}{holds}"
    widths = [max(map(len, column), default=0) for column in zip(*rows, strict=True)]
    widths[1] = min(widths[1], _WIDEST_ID)
    for number, id_, reader, events, rest in rows:
        head = (
            f"{number:>{widths[0]}}  {cut(show(id_), widths[1]):<{widths[1]}}  "
            f"{reader:<{widths[2]}}  {events:>{widths[3]}}  "
        )
        yield f"{head}{cut(show(rest), WIDTH - len(head))}".rstrip()


def _cells(number: int, trace: Listed) -> tuple[str, str, str, str, str]:
    events = "" if trace.error is not None else f"{trace.events:,}"
    rest = _title(trace.task) if trace.error is None else f"✗ {trace.error}"
    return str(number), trace.id, trace.reader, events, rest


def _title(task: str) -> str:
    """The first line that says something: scaffolds put a task between tags."""
    lines = [line.strip() for line in task.splitlines() if line.strip()]
    return next((line for line in lines if not _TAG.fullmatch(line)), "")


def _end_of(name: str, width: int) -> str:
    return name if len(name) <= width else f"…{name[1 - width :]}"
