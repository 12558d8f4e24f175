"""A verdict as Markdown, for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from planproof.core.finding import Extra, Severity, Status, StepFinding
from planproof.core.verdict import Verdict
from planproof.reports.markdown_text import code, escape, short
from planproof.reports.timeline import in_time
from planproof.reports.wording import (
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

_GLYPHS = {
    Status.EXECUTED: "✅",
    Status.PARTIAL: "🟡",
    Status.MISSING: "❌",
    Status.AMBIGUOUS: "❔",
    Status.OUT_OF_ORDER: "🔀",
}
_SEVERITY_GLYPHS = {Severity.MAJOR: "➕", Severity.MINOR: "▫️"}
_MOST_QUOTES = 3
# A comment has a length limit; what is left out here stands in the full verdict.
_MOST_ROWS = 200


def markdown(verdict: Verdict, *, secrets: bool = False) -> str:
    """A heading, the reason, a table of what happened in time, and how it was read."""
    show = shows(secrets=secrets)
    return "\n\n".join(_blocks(verdict, show)) + "\n"


def _blocks(verdict: Verdict, show: Show) -> Iterator[str]:
    score = "" if verdict.score is None else f"{score_digits(verdict.score)}, "
    yield f"### planproof: {score}{headline(verdict)}"
    if verdict.id is not None:
        yield f"Case {code(verdict.id, show)}"
    yield escape(show(verdict.reason))
    if verdict.steps or verdict.extras:
        yield tally(verdict) + "."
        yield "\n".join(_table(verdict, show))
    if better := verdict.nearest_better:
        yield f"**{score_digits(better.score)}** {escape(show(better.change))}"
    if coverage := verdict.coverage:
        judge = f", judged by {escape(show(verdict.judge.name))}" if verdict.judge else ""
        lines = [f"{escape(show(coverage_line(coverage)))}{judge}"]
        if verdict.plan and (found := plan_line(verdict.plan)):
            lines.insert(0, escape(show(f"plan: {found}")))
        lines += [escape(show(note)) for note in (*coverage.notes, *asking_lines(verdict))]
        yield f"<sub>{'<br>'.join(lines)}</sub>"


def _table(verdict: Verdict, show: Show) -> Iterator[str]:
    yield "| | step | | evidence |"
    yield "|---|---|---|---|"
    findings = in_time(verdict)
    parents = {step.parent for step in verdict.steps}
    for finding in findings[:_MOST_ROWS]:
        if isinstance(finding, Extra):
            yield _extra_row(finding, show)
        else:
            yield _step_row(finding, show, counted=finding.number not in parents)
    if rest := findings[_MOST_ROWS:]:
        yield f"| | and {len(rest)} more | | |"


def _step_row(step: StepFinding, show: Show, *, counted: bool) -> str:
    glyph, status = _GLYPHS[step.status], STATUSES[step.status]
    if step.waived:
        glyph, status = "", "left out"
    elif not counted:
        glyph, status = "", ""
    note = f"<br>{escape(show(step.note))}" if step.note else ""
    quotes = [f"{code(e.event, show)} {code(e.quote, show)}" for e in step.evidence]
    if len(quotes) > _MOST_QUOTES:
        quotes[_MOST_QUOTES:] = [f"and {len(quotes) - _MOST_QUOTES} more"]
    text = f"**{escape(show(step.number))}** {short(show(step.text))}{note}"
    return f"| {glyph} | {text} | {status} | {'<br>'.join(quotes)} |"


def _extra_row(extra: Extra, show: Show) -> str:
    glyph = _SEVERITY_GLYPHS[extra.severity]
    quote = f"{code(extra.event, show)} {code(extra.quote, show)}"
    return f"| {glyph} | {short(show(extra.what))} | {extra.severity} extra | {quote} |"
