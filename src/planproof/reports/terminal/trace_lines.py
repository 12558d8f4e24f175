"""What was understood of a trace, in a terminal of 80 columns: events, plan, what was skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from planproof.core.json_values import written
from planproof.core.trace import Event, EventStatus, Kind, Skipped, Trace
from planproof.planning.located_plan import Located
from planproof.readers.accounting import why_not_understood
from planproof.reports.terminal.plan_lines import plan_lines
from planproof.reports.wording import Show, many, shows

_HEAD, _TAIL = 14, 8
_MOST_LINES = 20
_MOST_REASONS = 6
_DEEPEST = 3
_LONGEST_ACTOR = 14
_QUIET = "dim"
_COUNTABLE = frozenset({Kind.ACTION, Kind.MESSAGE, Kind.OBSERVATION})
_KIND_STYLES = {Kind.ACTION: "cyan", Kind.BOOKKEEPING: "magenta", Kind.MESSAGE: "green"}


def understanding(
    name: str, trace: Trace, located: Located, *, secrets: bool = False
) -> RenderableType:
    """The reader, the events in a few lines, the plan and where it stands, and what was skipped."""
    show = shows(secrets=secrets)
    parts: list[RenderableType] = [
        Text(show(name), "bold", no_wrap=True, overflow="ellipsis"),
        Text(f"{read_by(trace)}: {_counted(trace.events)}"),
    ]
    if why := why_not_understood(trace):
        parts.append(Text(show(why), "yellow"))
    if trace.events:
        parts += [Text(), _timeline(trace, show)]
    parts += [Text(), *_plan(located, show)]
    if trace.skipped:
        parts += [Text(), *_skipped(trace.skipped, show)]
    return Padding(Group(*parts), (1, 2))


def read_by(trace: Trace) -> str:
    """Which reader read a trace, and whether it is one that knows the format."""
    if trace.reader == "general":
        return "read by general, which guesses: it knows no format"
    return f"read by {trace.reader}"


def _counted(events: Sequence[Event]) -> str:
    kinds = Counter(event.kind for event in events)
    by_kind = ", ".join(_of_kind(kinds[kind], kind) for kind in Kind if kind in kinds)
    return f"{many(len(events), 'event')}{f' ({by_kind})' if by_kind else ''}"


def _of_kind(count: int, kind: Kind) -> str:
    return many(count, kind.value) if kind in _COUNTABLE else f"{count:,} {kind}"


def _timeline(trace: Trace, show: Show) -> RenderableType:
    rows = Table.grid(padding=(0, 1), expand=True)
    rows.add_column(justify="right", style=_QUIET, no_wrap=True)
    rows.add_column(no_wrap=True, max_width=_LONGEST_ACTOR, overflow="ellipsis")
    rows.add_column(no_wrap=True)
    rows.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    events = trace.events
    between = len(events) - _HEAD - _TAIL
    if between <= 1:
        head, tail = events, ()
    else:
        head, tail = events[:_HEAD], events[-_TAIL:]
    for event in head:
        _add(rows, event, trace, show)
    if tail:
        failed = sum(event.status is EventStatus.ERROR for event in events[_HEAD:-_TAIL])
        errors = f", {many(failed, 'error')} in them" if failed else ""
        rows.add_row("…", "", "", Text(f"{between:,} events between{errors}", _QUIET))
    for event in tail:
        _add(rows, event, trace, show)
    return rows


def _add(rows: Table, event: Event, trace: Trace, show: Show) -> None:
    text = Text("  " * _depth(event, trace))
    if event.status is EventStatus.ERROR:
        text.append("✗ ", "bold red")
    if event.name:
        text.append(f"{show(event.name)} ", "bold")
    text.append(show(event.text or written(event.arguments)))
    kind = Text(event.kind.value, _KIND_STYLES.get(event.kind, _QUIET))
    rows.add_row(show(event.id), show(event.actor or ""), kind, text)


def _depth(event: Event, trace: Trace) -> int:
    depth = 0
    while depth < _DEEPEST and event.parent is not None:
        event = trace.by_id[event.parent]
        depth += 1
    return depth


def _plan(located: Located, show: Show) -> Iterator[RenderableType]:
    title, *rest = plan_lines(located, show)
    bold = "bold" if located.declaration else "bold yellow"
    yield Text(f"plan: {title}" if located.declaration else title, bold)
    for line in rest[:_MOST_LINES]:
        yield Text(line, no_wrap=True, overflow="ellipsis")
    if more := rest[_MOST_LINES:]:
        yield Text(f"  … {many(len(more), 'more line')}; planproof plan shows them", _QUIET)


def _skipped(skipped: Sequence[Skipped], show: Show) -> Iterator[RenderableType]:
    yield Text.assemble(("skipped", "bold"), f" {many(len(skipped), 'part')} of the trace")
    first = {part.why: part.pointer for part in reversed(skipped)}
    reasons = Counter(part.why for part in skipped).most_common()
    rows = Table.grid(padding=(0, 1), expand=True)
    rows.add_column(justify="right", no_wrap=True)
    rows.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    for why, count in reasons[:_MOST_REASONS]:
        place = f", first at {first[why]}" if count > 1 else f", at {first[why]}"
        rows.add_row(f"{count:,}", show(f"{why}{place if first[why] else ''}"))
    if rest := reasons[_MOST_REASONS:]:
        count = sum(count for _, count in rest)
        rows.add_row(f"{count:,}", Text(f"for {many(len(rest), 'other reason')}", _QUIET))
    yield Padding(rows, (0, 0, 0, 2))
