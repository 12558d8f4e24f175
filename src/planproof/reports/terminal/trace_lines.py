"""Trace on the terminal, 80 columns wide: events, plan, skipped parts, and lists of traces."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from planproof.core.json_values import format_value
from planproof.core.trace import UNVERIFIED, Event, EventStatus, Kind, SkippedPart, Trace
from planproof.planning.plan_search import PlanSearch
from planproof.readers.record_counts import explain_not_understood
from planproof.reports.side_by_side import Doubt
from planproof.reports.terminal.lines import WIDTH, truncate, wrap_text
from planproof.reports.terminal.plan_lines import format_located_plan
from planproof.reports.wording import TextSanitizer, make_sanitizer, pluralize

_HEAD, _TAIL = 14, 8
_MAX_PLAN_LINES = 20
_MAX_REASONS = 6
_MAX_DEPTH = 3
_MAX_ACTOR_WIDTH = 14
_DIM_STYLE = "dim"
_COUNTABLE = frozenset({Kind.ACTION, Kind.MESSAGE, Kind.OBSERVATION})
_KIND_STYLES = {Kind.ACTION: "cyan", Kind.BOOKKEEPING: "magenta", Kind.MESSAGE: "green"}


def render_trace(
    name: str,
    trace: Trace,
    located: PlanSearch,
    doubts: Sequence[Doubt] = (),
    *,
    unread_characters: int = 0,
    secrets: bool = False,
) -> RenderableType:
    """Render the reader, the events, the plan, skipped parts, and what is least certain."""
    show = make_sanitizer(secrets=secrets)
    parts: list[RenderableType] = [
        Text(show(name), "bold", no_wrap=True, overflow="ellipsis"),
        Text(f"{format_reader(trace)}: {_format_event_counts(trace.events)}"),
    ]
    if why := explain_not_understood(trace):
        parts.append(Text(show(why), "yellow"))
    elif trace.reader == "general":
        parts.append(Text(_describe_guess(trace)))
    if trace.events:
        parts += [Text(), _render_timeline(trace, show)]
    parts += [Text(), *_render_plan(located, show)]
    if trace.skipped:
        parts += [Text(), *_render_skipped(trace.skipped, show)]
    if unread_characters:
        parts.append(Text(f"{unread_characters:,} characters of text became no event"))
    if doubts:
        parts += [Text(), *_render_doubts(doubts, show)]
    return Padding(Group(*parts), (1, 2))


def format_reader(trace: Trace) -> str:
    """Return the reader of a trace, and a note if it is the general reader."""
    if trace.reader == "general":
        return "read by general (heuristic: unknown format)"
    return f"read by {trace.reader}"


def _describe_guess(trace: Trace) -> str:
    """Return how much was guessed, and how to write the guess down."""
    counts = trace.record_counts
    share = f"{counts.read:,} of {counts.records:,} agent records became events. " if counts else ""
    return f"{share}`planproof profile suggest FILE` writes the guess as a profile."


def _format_event_counts(events: Sequence[Event]) -> str:
    kinds = Counter(event.kind for event in events)
    by_kind = ", ".join(_format_kind_count(kinds[kind], kind) for kind in Kind if kind in kinds)
    return f"{pluralize(len(events), 'event')}{f' ({by_kind})' if by_kind else ''}"


def _format_kind_count(count: int, kind: Kind) -> str:
    return pluralize(count, kind.value) if kind in _COUNTABLE else f"{count:,} {kind}"


def _render_timeline(trace: Trace, show: TextSanitizer) -> RenderableType:
    rows = Table.grid(padding=(0, 1), expand=True)
    rows.add_column(justify="right", style=_DIM_STYLE, no_wrap=True)
    rows.add_column(no_wrap=True, max_width=_MAX_ACTOR_WIDTH, overflow="ellipsis")
    rows.add_column(no_wrap=True)
    rows.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    events = trace.events
    between = len(events) - _HEAD - _TAIL
    if between <= 1:
        head, tail = events, ()
    else:
        head, tail = events[:_HEAD], events[-_TAIL:]
    for event in head:
        _add_event_row(rows, event, trace, show)
    if tail:
        failed = sum(event.status is EventStatus.ERROR for event in events[_HEAD:-_TAIL])
        errors = f", {pluralize(failed, 'error')}" if failed else ""
        rows.add_row("…", "", "", Text(f"{between:,} more events{errors}", _DIM_STYLE))
    for event in tail:
        _add_event_row(rows, event, trace, show)
    return rows


def _add_event_row(rows: Table, event: Event, trace: Trace, show: TextSanitizer) -> None:
    text = Text("  " * _count_ancestors(event, trace))
    if event.status is EventStatus.ERROR:
        text.append("✗ ", "bold red")
    if event.name:
        text.append(f"{show(event.name)} ", "bold")
    if event.recognition == UNVERIFIED:
        text.append("(unverified) ", "yellow")
    text.append(show(event.text or format_value(event.arguments)))
    kind = Text(event.kind.value, _KIND_STYLES.get(event.kind, _DIM_STYLE))
    rows.add_row(show(event.id), show(event.actor or ""), kind, text)


def _count_ancestors(event: Event, trace: Trace) -> int:
    depth = 0
    while depth < _MAX_DEPTH and event.parent is not None:
        event = trace.by_id[event.parent]
        depth += 1
    return depth


def _render_plan(located: PlanSearch, show: TextSanitizer) -> Iterator[RenderableType]:
    title, *rest = format_located_plan(located, show)
    bold = "bold" if located.declaration else "bold yellow"
    yield Text(f"plan: {title}" if located.declaration else title, bold)
    for line in rest[:_MAX_PLAN_LINES]:
        yield Text(line, no_wrap=True, overflow="ellipsis")
    if more := rest[_MAX_PLAN_LINES:]:
        yield Text(
            f"  … {pluralize(len(more), 'more line')}; run planproof plan to see them", _DIM_STYLE
        )


def _render_skipped(
    skipped: Sequence[SkippedPart], show: TextSanitizer
) -> Iterator[RenderableType]:
    yield Text.assemble(("skipped", "bold"), f" {pluralize(len(skipped), 'part')} of the trace")
    first = {part.why: part.pointer for part in reversed(skipped)}
    reasons = Counter(part.why for part in skipped).most_common()
    rows = Table.grid(padding=(0, 1), expand=True)
    rows.add_column(justify="right", no_wrap=True)
    rows.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    for why, count in reasons[:_MAX_REASONS]:
        location = f", first at {first[why]}" if count > 1 else f", at {first[why]}"
        rows.add_row(f"{count:,}", show(f"{why}{location if first[why] else ''}"))
    if rest := reasons[_MAX_REASONS:]:
        count = sum(count for _, count in rest)
        rows.add_row(f"{count:,}", Text(f"for {pluralize(len(rest), 'other reason')}", _DIM_STYLE))
    yield Padding(rows, (0, 0, 0, 2))


_MAX_DOUBTS = 5
_MAX_RAW_LINES = 3
_HALF = 36


def _render_doubts(doubts: Sequence[Doubt], show: TextSanitizer) -> Iterator[RenderableType]:
    """Yield the records that are least certain, each beside what became of it."""
    yield Text.assemble(("least certain", "bold"), ": the record, and what became of it")
    rows = Table.grid(padding=(0, 1), expand=True)
    rows.add_column(width=_HALF, no_wrap=True, overflow="ellipsis", style=_DIM_STYLE)
    rows.add_column(width=1, style=_DIM_STYLE)
    rows.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    for doubt in doubts[:_MAX_DOUBTS]:
        raw = [f"{doubt.row.pointer or 'document'}:", *_clip_raw(doubt.row.raw, show)]
        shown = [truncate(show(doubt.why), _HALF), *_describe_event(doubt.event, show)]
        height = max(len(raw), len(shown))
        raw += [""] * (height - len(raw))
        shown += [""] * (height - len(shown))
        for left, right in zip(raw, shown, strict=True):
            rows.add_row(Text(left), "│", Text(right))
    yield Padding(rows, (0, 0, 0, 2))
    if len(doubts) > _MAX_DOUBTS:
        more = pluralize(len(doubts) - _MAX_DOUBTS, "other")
        yield Text(f"  {more}; --format html shows all", _DIM_STYLE)


def _clip_raw(raw: str, show: TextSanitizer) -> list[str]:
    """Return the beginning of a record, in a few short lines."""
    head = raw[: 20 * _MAX_RAW_LINES * _HALF].removeprefix("{\n").removesuffix("\n}")
    return wrap_text(show(head), _HALF)[:_MAX_RAW_LINES]


def _describe_event(event: Event | None, show: TextSanitizer) -> list[str]:
    if event is None:
        return []
    name = f"{event.name} " if event.name else ""
    text = show(f"{name}{event.text or format_value(event.arguments)}")
    return [f"{show(event.id)} {event.kind.value}", truncate(text, _HALF)]


_MAX_ID_WIDTH = 32
_TAG = re.compile(r"<[^<>]{1,80}>")


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """One trace in a list: its reader and events, or the error if it can't be read."""

    id: str
    reader: str = ""
    events: int = 0
    task: str = ""
    error: str | None = None


def format_trace_list(
    name: str, traces: Iterable[TraceEntry], *, secrets: bool = False
) -> Iterator[str]:
    """Format lines of at most 80 columns: number, id, reader, events, first line of the task."""
    show = make_sanitizer(secrets=secrets)
    rows = [_format_cells(number, trace) for number, trace in enumerate(traces, 1)]
    suffix = f" contains {pluralize(len(rows), 'trace')}; select one with --pick"
    yield f"{_truncate_start(show(name), WIDTH - len(suffix))}{suffix}"
    widths = [max(map(len, column), default=0) for column in zip(*rows, strict=True)]
    widths[1] = min(widths[1], _MAX_ID_WIDTH)
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
    """Return the first line that is not a tag: scaffolds put a task between tags."""
    lines = [line.strip() for line in task.splitlines() if line.strip()]
    return next((line for line in lines if not _TAG.fullmatch(line)), "")


def _truncate_start(name: str, width: int) -> str:
    return name if len(name) <= width else f"…{name[1 - width :]}"
