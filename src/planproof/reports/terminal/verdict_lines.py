"""Verdict on the terminal, 80 columns wide."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from planproof.core.finding import Extra, Severity, Status, StepFinding
from planproof.core.verdict import Verdict
from planproof.reports.timeline import order_by_time
from planproof.reports.wording import (
    STATUS_LABELS,
    STATUS_MARKS,
    TextSanitizer,
    format_coverage,
    format_headline,
    format_low_confidence,
    format_model_notes,
    format_plan_origin,
    format_score,
    format_tally,
    make_sanitizer,
)

_LEVEL_STYLES = {
    1.0: "bold bright_green",
    0.75: "bold green",
    0.5: "bold yellow",
    0.25: "bold dark_orange",
    0.0: "bold red",
}
_STYLES = {
    Status.EXECUTED: "green",
    Status.PARTIAL: "yellow",
    Status.MISSING: "red",
    Status.AMBIGUOUS: "yellow",
    Status.OUT_OF_ORDER: "red",
}
GLYPHS = {status: (STATUS_MARKS[status], style) for status, style in _STYLES.items()}
SEVERITY_STYLES = {Severity.MAJOR: "red", Severity.MINOR: "yellow"}
_DIM_STYLE = "dim"
_MAX_TEXT_LENGTH = 240
_MAX_QUOTES = 3
_MAX_CONSECUTIVE_EXTRAS = 5
_LOW_CONFIDENCE = 0.6


def render_verdict(verdict: Verdict, *, secrets: bool = False) -> RenderableType:
    """Render the score, the reason, findings in time order, and the nearest better score."""
    show = make_sanitizer(secrets=secrets)
    parts: list[RenderableType] = [
        _render_header(verdict, show),
        Text(),
        Text(show(verdict.reason)),
    ]
    if verdict.steps or verdict.extras:
        parts += [Text(), _render_timeline(verdict, show)]
    footer = list(_render_footer(verdict, show))
    if footer:
        parts += [Text(), *footer]
    return Padding(Group(*parts), (1, 2))


def _render_header(verdict: Verdict, show: TextSanitizer) -> RenderableType:
    style = "bold magenta" if verdict.level is None else _LEVEL_STYLES[verdict.level]
    lines = [Text(format_headline(verdict), style)]
    if verdict.steps:
        lines.append(Text(format_tally(verdict)))
    if low_confidence := format_low_confidence(verdict):
        lines.append(Text(low_confidence, "yellow"))
    if verdict.id is not None:
        lines.append(_truncate_no_wrap(show(verdict.id), _DIM_STYLE))
    if verdict.score is None:
        return Group(*lines)
    head = Table.grid(padding=(0, 4, 0, 0))
    digits = render_big_digits(format_score(verdict.score))
    head.add_row(Text("\n".join(digits), style, no_wrap=True), Group(*lines))
    return head


def _render_timeline(verdict: Verdict, show: TextSanitizer) -> RenderableType:
    rows = Table.grid(padding=(0, 1), expand=True)
    rows.add_column(justify="right", style=_DIM_STYLE, no_wrap=True)
    rows.add_column(no_wrap=True)
    rows.add_column(justify="right", no_wrap=True)
    rows.add_column(ratio=1)
    rows.add_column(justify="right", no_wrap=True)
    parents = {step.parent for step in verdict.steps}
    for kind, group in groupby(order_by_time(verdict), key=type):
        if kind is Extra:
            _add_extras(rows, [e for e in group if isinstance(e, Extra)], show)
        else:
            for step in group:
                assert isinstance(step, StepFinding)
                _add_step(rows, step, show, counted=step.number not in parents)
    return rows


def _add_step(rows: Table, step: StepFinding, show: TextSanitizer, *, counted: bool) -> None:
    glyph, style = GLYPHS[step.status]
    word = STATUS_LABELS[step.status]
    if step.waived:
        glyph, style, word = "○", _DIM_STYLE, "left out"
    elif not counted:
        glyph, style, word = " ", _DIM_STYLE, ""
    rows.add_row(
        "",
        Text(glyph, style),
        Text(show(step.number), "bold"),
        _truncate_text(show(step.text)),
        Text(word, style),
    )
    note = show(step.note)
    if counted and step.confidence < _LOW_CONFIDENCE:
        note = f"{note}{'; ' if note else ''}confidence {step.confidence:.0%}"
    if note:
        rows.add_row("", "", "", Text(note, "italic"), "")
    for evidence in step.evidence[:_MAX_QUOTES]:
        rows.add_row(show(evidence.event), "", "", _format_quote(evidence.quote, show), "")
    if rest := step.evidence[_MAX_QUOTES:]:
        rows.add_row("…", "", "", Text(f"and {len(rest)} more", _DIM_STYLE), "")


def _add_extras(rows: Table, extras: list[Extra], show: TextSanitizer) -> None:
    for extra in extras[:_MAX_CONSECUTIVE_EXTRAS]:
        style = SEVERITY_STYLES[extra.severity]
        rows.add_row(
            show(extra.event),
            Text("+", style),
            "",
            _truncate_text(show(extra.what)),
            Text(f"{extra.severity} extra", style),
        )
        rows.add_row("", "", "", _format_quote(extra.quote, show), "")
    if rest := extras[_MAX_CONSECUTIVE_EXTRAS:]:
        span = f"and {len(rest)} more extras, up to {show(rest[-1].event)}"
        rows.add_row("…", "", "", Text(span, _DIM_STYLE), "")


def _render_footer(verdict: Verdict, show: TextSanitizer) -> Iterator[RenderableType]:
    if better := verdict.nearest_better:
        yield Text.assemble(
            ("→ ", "green"), (format_score(better.score), "bold"), f" {show(better.change)}"
        )
    if verdict.plan and (plan_origin := format_plan_origin(verdict.plan)):
        yield Text(show(f"plan: {plan_origin}"), _DIM_STYLE)
    if coverage := verdict.coverage:
        judge = f", judged by {show(verdict.judge.name)}" if verdict.judge else ""
        yield Text(f"{show(format_coverage(coverage))}{judge}", _DIM_STYLE)
        for note in (*coverage.notes, *format_model_notes(verdict)):
            yield Text(f"· {show(note)}", _DIM_STYLE)


def _format_quote(quote: str, show: TextSanitizer) -> Text:
    return _truncate_no_wrap(show(quote), _DIM_STYLE)


def _truncate_no_wrap(text: str, style: str) -> Text:
    return Text(text[:_MAX_TEXT_LENGTH], style, no_wrap=True, overflow="ellipsis")


def _truncate_text(text: str) -> Text:
    return Text(text if len(text) <= _MAX_TEXT_LENGTH else f"{text[: _MAX_TEXT_LENGTH - 1]}…")


_DIGITS = {
    "0": ("┏━┓", "┃ ┃", "┗━┛"),
    "1": ("╺┓ ", " ┃ ", "╺┻╸"),
    "2": ("╺━┓", "┏━┛", "┗━╸"),
    "3": ("╺━┓", " ━┫", "╺━┛"),
    "4": ("╻ ╻", "┗━┫", "  ╹"),
    "5": ("┏━╸", "┗━┓", "╺━┛"),
    "6": ("┏━╸", "┣━┓", "┗━┛"),
    "7": ("╺━┓", "  ┃", "  ╹"),
    "8": ("┏━┓", "┣━┫", "┗━┛"),
    "9": ("┏━┓", "┗━┫", "╺━┛"),
    ".": (" ", " ", "▖"),
}


def render_big_digits(digits: str) -> tuple[str, str, str]:
    """Return three lines that show a number in large digits."""
    top, middle, bottom = zip(*(_DIGITS[digit] for digit in digits), strict=True)
    return " ".join(top), " ".join(middle), " ".join(bottom)
