"""A verdict as Markdown, for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from planproof.core.finding import Extra, Severity, Status, StepFinding
from planproof.core.verdict import Verdict
from planproof.reports.markdown_text import escape, escape_truncated, format_code
from planproof.reports.timeline import order_by_time
from planproof.reports.wording import (
    STATUS_LABELS,
    TextSanitizer,
    format_coverage,
    format_headline,
    format_model_notes,
    format_plan_origin,
    format_score,
    format_tally,
    make_sanitizer,
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


def verdict_to_markdown(verdict: Verdict, *, secrets: bool = False) -> str:
    """A heading, the reason, a table of what happened in time, and how it was read."""
    show = make_sanitizer(secrets=secrets)
    return "\n\n".join(_format_blocks(verdict, show)) + "\n"


def _format_blocks(verdict: Verdict, show: TextSanitizer) -> Iterator[str]:
    score = "" if verdict.score is None else f"{format_score(verdict.score)}, "
    yield f"### planproof: {score}{format_headline(verdict)}"
    if verdict.id is not None:
        yield f"Case {format_code(verdict.id, show)}"
    yield escape(show(verdict.reason))
    if verdict.steps or verdict.extras:
        yield format_tally(verdict) + "."
        yield "\n".join(_format_table(verdict, show))
    if better := verdict.nearest_better:
        yield f"**{format_score(better.score)}** {escape(show(better.change))}"
    if coverage := verdict.coverage:
        judge = f", judged by {escape(show(verdict.judge.name))}" if verdict.judge else ""
        lines = [f"{escape(show(format_coverage(coverage)))}{judge}"]
        if verdict.plan and (plan_origin := format_plan_origin(verdict.plan)):
            lines.insert(0, escape(show(f"plan: {plan_origin}")))
        lines += [escape(show(note)) for note in (*coverage.notes, *format_model_notes(verdict))]
        yield f"<sub>{'<br>'.join(lines)}</sub>"


def _format_table(verdict: Verdict, show: TextSanitizer) -> Iterator[str]:
    yield "| | step | | evidence |"
    yield "|---|---|---|---|"
    findings = order_by_time(verdict)
    parents = {step.parent for step in verdict.steps}
    for finding in findings[:_MOST_ROWS]:
        if isinstance(finding, Extra):
            yield _format_extra_row(finding, show)
        else:
            yield _format_step_row(finding, show, counted=finding.number not in parents)
    if rest := findings[_MOST_ROWS:]:
        yield f"| | and {len(rest)} more | | |"


def _format_step_row(step: StepFinding, show: TextSanitizer, *, counted: bool) -> str:
    glyph, status = _GLYPHS[step.status], STATUS_LABELS[step.status]
    if step.waived:
        glyph, status = "", "left out"
    elif not counted:
        glyph, status = "", ""
    note = f"<br>{escape(show(step.note))}" if step.note else ""
    quotes = [f"{format_code(e.event, show)} {format_code(e.quote, show)}" for e in step.evidence]
    if len(quotes) > _MOST_QUOTES:
        quotes[_MOST_QUOTES:] = [f"and {len(quotes) - _MOST_QUOTES} more"]
    text = f"**{escape(show(step.number))}** {escape_truncated(show(step.text))}{note}"
    return f"| {glyph} | {text} | {status} | {'<br>'.join(quotes)} |"


def _format_extra_row(extra: Extra, show: TextSanitizer) -> str:
    glyph = _SEVERITY_GLYPHS[extra.severity]
    quote = f"{format_code(extra.event, show)} {format_code(extra.quote, show)}"
    return f"| {glyph} | {escape_truncated(show(extra.what))} | {extra.severity} extra | {quote} |"
