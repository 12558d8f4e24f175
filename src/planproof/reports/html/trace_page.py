"""The HTML page of a trace as it was read: every record beside its events, linked both ways.

The page has no script. Its content security policy allows only its own style, by hash.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.resources import files

from planproof.core.json_values import format_value
from planproof.core.trace import Event, EventStatus, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.record_counts import explain_not_understood
from planproof.reports.html.page_templates import get_environment
from planproof.reports.html.size_budget import SizeBudget
from planproof.reports.plain_text import escape_invisible, redact
from planproof.reports.side_by_side import RecordRow, build_rows, find_doubts
from planproof.reports.wording import make_sanitizer, pluralize

_STYLES = ("page.css", "trace.css")
_MAX_ROWS = 20_000
# No secret that is masked is longer, so that cutting a text never reveals the end of one.
_LONGEST_SECRET = 10_000


@dataclass(frozen=True, slots=True)
class _EventView:
    """An event on the page; `record` and `result` are the rows that it and its result are in."""

    anchor: str
    id: str
    kind: str
    actor: str
    name: str
    text: str
    pointer: str
    failed: bool
    output: str
    record: str
    result: str


@dataclass(frozen=True, slots=True)
class _RowView:
    """A record on the page; `result_of` are the events whose result it holds."""

    anchor: str
    pointer: str
    raw: str
    doubt: str
    events: list[_EventView] = field(default_factory=list[_EventView])
    result_of: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    notes: list[str] = field(default_factory=list[str])


def render_trace_page(source: Source, trace: Trace, *, secrets: bool = False) -> Iterator[str]:
    """Render the page, in chunks."""
    import planproof  # noqa: PLC0415 - the package is fully imported by now

    show = make_sanitizer(secrets=secrets)
    rows = build_rows(source, trace)
    assets = files("planproof.reports.html").joinpath("assets")
    style = "\n".join(assets.joinpath(name).read_text(encoding="utf-8") for name in _STYLES)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    view = _PageView(rows, trace, secrets=secrets)
    return (
        get_environment()
        .get_template("trace.html.jinja")
        .generate(
            title=show(source.name),
            version=planproof.__version__,
            policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
            "form-action 'none'",
            style=style,
            facts=_list_facts(trace, rows),
            problem=show(explain_not_understood(trace) or ""),
            doubts=view.list_doubts(),
            rows=view.iter_rows(),
            omitted=max(len(rows) - _MAX_ROWS, 0),
        )
    )


def _list_facts(trace: Trace, rows: Sequence[RecordRow]) -> list[str]:
    facts = [
        f"read by {trace.reader}",
        pluralize(len(rows), "record"),
        pluralize(len(trace.events), "event"),
        pluralize(len(trace.skipped), "skipped part"),
    ]
    unread = sum(row.is_unread and bool(row.pointer) for row in rows)
    return [*facts, f"{unread:,} not read"] if unread else facts


class _PageView:
    """Builds what the template shows: texts that are masked, cut and escaped, and links."""

    def __init__(self, rows: Sequence[RecordRow], trace: Trace, *, secrets: bool) -> None:
        self._rows = rows[:_MAX_ROWS]
        self._trace = trace
        self._secrets = secrets
        self._limit = SizeBudget.for_event_count(2 * len(rows)).max_characters
        self._event_anchors = {id(event): f"e{n}" for n, event in enumerate(trace.events)}
        self._record_of: dict[int, str] = {}
        self._result_of: dict[int, str] = {}
        for index, row in enumerate(self._rows):
            self._record_of.update((id(event), f"r{index}") for event in row.events)
            self._result_of.update((id(event), f"r{index}") for event in row.results)
        self._doubts = find_doubts(self._rows, trace)

    def list_doubts(self) -> list[tuple[str, str, str]]:
        """Return why, where and the anchor of each uncertain record."""
        anchors = {id(row): f"r{index}" for index, row in enumerate(self._rows)}
        return [
            (self._show(doubt.why), self._show(doubt.row.pointer), anchors[id(doubt.row)])
            for doubt in self._doubts
        ]

    def iter_rows(self) -> Iterator[_RowView]:
        """Yield the records with their events."""
        doubts = {id(doubt.row): doubt.why for doubt in self._doubts}
        for index, row in enumerate(self._rows):
            notes = [f"skipped: {self._show(part.why)}" for part in row.skipped]
            if row.part_of is not None:
                notes.append(f"part of {self._show(row.part_of)}")
            if row.is_unread and row.pointer:
                notes.append("not read")
            yield _RowView(
                anchor=f"r{index}",
                pointer=self._show(row.pointer) or "document",
                raw=self._show(row.raw),
                doubt=self._show(doubts.get(id(row), "")),
                events=[self._build_event(event) for event in row.events],
                result_of=[
                    (self._show(event.id), self._event_anchors[id(event)]) for event in row.results
                ],
                notes=notes,
            )

    def _build_event(self, event: Event) -> _EventView:
        return _EventView(
            anchor=self._event_anchors[id(event)],
            id=self._show(event.id),
            kind=event.kind.value,
            actor=self._show(event.actor or ""),
            name=self._show(event.name or ""),
            text=self._show(event.text or format_value(event.arguments)),
            pointer=self._show(event.pointer),
            failed=event.status is EventStatus.ERROR,
            output=self._show(event.output),
            record=self._record_of.get(id(event), ""),
            result=self._result_of.get(id(event), ""),
        )

    def _show(self, text: str) -> str:
        """Return a text for the page: masked unless secrets are shown, cut, and visible."""
        head = text[: self._limit + _LONGEST_SECRET]
        masked = head if self._secrets else redact(head)
        cut = masked[: self._limit]
        more = len(text) - len(cut)
        end = f"… {more:,} more characters" if more > 0 and len(masked) > self._limit else ""
        return f"{escape_invisible(cut)}{end}"
