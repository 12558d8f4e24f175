"""The traces of a file that holds several, one a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from planproof.reports.terminal.lines import WIDTH, truncate
from planproof.reports.wording import make_sanitizer, pluralize

_WIDEST_ID = 32
_TAG = re.compile(r"<[^<>]{1,80}>")


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """What is told of one trace: its reader and events, or why it can't be read."""

    id: str
    reader: str = ""
    events: int = 0
    task: str = ""
    error: str | None = None


def format_trace_list(
    name: str, traces: Iterable[TraceEntry], *, secrets: bool = False
) -> Iterator[str]:
    """Lines of at most 80 columns: number, id, reader, events, and the first line of the task."""
    show = make_sanitizer(secrets=secrets)
    rows = [_format_cells(number, trace) for number, trace in enumerate(traces, 1)]
    suffix = f" holds {pluralize(len(rows), 'trace')}; take one with --pick"
    yield f"{_truncate_start(show(name), WIDTH - len(suffix))}{suffix}"
    widths = [max(map(len, column), default=0) for column in zip(*rows, strict=True)]
    widths[1] = min(widths[1], _WIDEST_ID)
    for number, id_, reader, events, rest in rows:
        head = (
            f"{number:>{widths[0]}}  {truncate(show(id_), widths[1]):<{widths[1]}}  "
            f"{reader:<{widths[2]}}  {events:>{widths[3]}}  "
        )
        yield f"{head}{truncate(show(rest), WIDTH - len(head))}".rstrip()


def _format_cells(number: int, trace: TraceEntry) -> tuple[str, str, str, str, str]:
    events = "" if trace.error is not None else f"{trace.events:,}"
    rest = _find_title(trace.task) if trace.error is None else f"✗ {trace.error}"
    return str(number), trace.id, trace.reader, events, rest


def _find_title(task: str) -> str:
    """The first line that says something: scaffolds put a task between tags."""
    lines = [line.strip() for line in task.splitlines() if line.strip()]
    return next((line for line in lines if not _TAG.fullmatch(line)), "")


def _truncate_start(name: str, width: int) -> str:
    return name if len(name) <= width else f"…{name[1 - width :]}"
