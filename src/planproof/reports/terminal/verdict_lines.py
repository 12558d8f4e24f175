"""A verdict as a picture in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from planproof.core.finding import Extra, Severity, Status, StepFinding
from planproof.core.verdict import Verdict
from planproof.reports.terminal.big_digits import big_digits
from planproof.reports.timeline import in_time
from planproof.reports.wording import (
    MARKS,
    STATUSES,
    Show,
    asking_lines,
    coverage_line,
    headline,
    plan_line,
    score_digits,
    shows,
    tally,
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
GLYPHS = {status: (MARKS[status], style) for status, style in _STYLES.items()}
SEVERITY_STYLES = {Severity.MAJOR: "red", Severity.MINOR: "yellow"}
_QUIET = "dim"
_LONGEST_TEXT = 240
_MOST_QUOTES = 3
_MOST_EXTRAS_IN_A_ROW = 5
_UNSURE = 0.6


def picture(verdict: Verdict, *, secrets: bool = False) -> RenderableType:
    """The score, the reason, what happened in time, and what would have been better."""
    show = shows(secrets=secrets)
    parts: list[RenderableType] = [_head(verdict, show), Text(), Text(show(verdict.reason))]
    if verdict.steps or verdict.extras:
        parts += [Text(), _timeline(verdict, show)]
    foot = list(_foot(verdict, show))
    if foot:
        parts += [Text(), *foot]
    return Padding(Group(*parts), (1, 2))


def _head(verdict: Verdict, show: Show) -> RenderableType:
    style = "bold magenta" if verdict.level is None else _LEVEL_STYLES[verdict.level]
    lines = [Text(headline(verdict), style)]
    if verdict.steps:
        lines.append(Text(tally(verdict)))
    if verdict.id is not None:
        lines.append(_cut(show(verdict.id), _QUIET))
    if verdict.score is None:
        return Group(*lines)
    head = Table.grid(padding=(0, 4, 0, 0))
    digits = big_digits(score_digits(verdict.score))
    head.add_row(Text("\n".join(digits), style, no_wrap=True), Group(*lines))
    return head


def _timeline(verdict: Verdict, show: Show) -> RenderableType:
    rows = Table.grid(padding=(0, 1), expand=True)
    rows.add_column(justify="right", style=_QUIET, no_wrap=True)
    rows.add_column(no_wrap=True)
    rows.add_column(justify="right", no_wrap=True)
    rows.add_column(ratio=1)
    rows.add_column(justify="right", no_wrap=True)
    parents = {step.parent for step in verdict.steps}
    for kind, group in groupby(in_time(verdict), key=type):
        if kind is Extra:
            _add_extras(rows, [e for e in group if isinstance(e, Extra)], show)
        else:
            for step in group:
                assert isinstance(step, StepFinding)
                _add_step(rows, step, show, counted=step.number not in parents)
    return rows


def _add_step(rows: Table, step: StepFinding, show: Show, *, counted: bool) -> None:
    glyph, style = GLYPHS[step.status]
    word = STATUSES[step.status]
    if step.waived:
        glyph, style, word = "○", _QUIET, "left out"
    elif not counted:
        glyph, style, word = " ", _QUIET, ""
    rows.add_row(
        "",
        Text(glyph, style),
        Text(show(step.number), "bold"),
        _shortened(show(step.text)),
        Text(word, style),
    )
    note = show(step.note)
    if counted and step.sureness < _UNSURE:
        note = f"{note}{'; ' if note else ''}{step.sureness:.0%} sure"
    if note:
        rows.add_row("", "", "", Text(note, "italic"), "")
    for evidence in step.evidence[:_MOST_QUOTES]:
        rows.add_row(show(evidence.event), "", "", _quote(evidence.quote, show), "")
    if rest := step.evidence[_MOST_QUOTES:]:
        rows.add_row("…", "", "", Text(f"and {len(rest)} more", _QUIET), "")


def _add_extras(rows: Table, extras: list[Extra], show: Show) -> None:
    for extra in extras[:_MOST_EXTRAS_IN_A_ROW]:
        style = SEVERITY_STYLES[extra.severity]
        rows.add_row(
            show(extra.event),
            Text("+", style),
            "",
            _shortened(show(extra.what)),
            Text(f"{extra.severity} extra", style),
        )
        rows.add_row("", "", "", _quote(extra.quote, show), "")
    if rest := extras[_MOST_EXTRAS_IN_A_ROW:]:
        span = f"and {len(rest)} more extras, up to {show(rest[-1].event)}"
        rows.add_row("…", "", "", Text(span, _QUIET), "")


def _foot(verdict: Verdict, show: Show) -> Iterator[RenderableType]:
    if better := verdict.nearest_better:
        yield Text.assemble(
            ("→ ", "green"), (score_digits(better.score), "bold"), f" {show(better.change)}"
        )
    if verdict.plan and (found := plan_line(verdict.plan)):
        yield Text(show(f"plan: {found}"), _QUIET)
    if coverage := verdict.coverage:
        judge = f", judged by {show(verdict.judge.name)}" if verdict.judge else ""
        yield Text(f"{show(coverage_line(coverage))}{judge}", _QUIET)
        for note in (*coverage.notes, *asking_lines(verdict)):
            yield Text(f"· {show(note)}", _QUIET)


def _quote(quote: str, show: Show) -> Text:
    return _cut(show(quote), _QUIET)


def _cut(text: str, style: str) -> Text:
    return Text(text[:_LONGEST_TEXT], style, no_wrap=True, overflow="ellipsis")


def _shortened(text: str) -> Text:
    return Text(text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…")
