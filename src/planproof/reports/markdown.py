"""A verdict as Markdown, for a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planproof.finding import Extra, Severity, Status, StepFinding
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
from planproof.verdict import Verdict

_GLYPHS = {
    Status.EXECUTED: "✅",
    Status.PARTIAL: "🟡",
    Status.MISSING: "❌",
    Status.AMBIGUOUS: "❔",
    Status.OUT_OF_ORDER: "🔀",
}
_SEVERITY_GLYPHS = {Severity.MAJOR: "➕", Severity.MINOR: "▫️"}
_LONGEST_TEXT = 240
_MOST_QUOTES = 3
# A comment has a length limit; what is left out here stands in the full verdict.
_MOST_ROWS = 200

# As character references these are text and nothing else: no emphasis, link, HTML, table or math.
_STRUCTURAL = re.compile(r"[\\`*_{}\[\]<>#|~&@$^!]|:(?=\S)|^[^\w\s(]|(?<=www)\.", re.IGNORECASE)
# Even as text, `@name` notifies somebody and `#12` links an issue.
_CALLING = re.compile(r"([@#])(?=\w)")


def markdown(verdict: Verdict, *, secrets: bool = False) -> str:
    """A heading, the reason, a table of what happened in time, and how it was read."""
    show = shows(secrets=secrets)
    return "\n\n".join(_blocks(verdict, show)) + "\n"


def _blocks(verdict: Verdict, show: Show) -> Iterator[str]:
    score = "" if verdict.score is None else f"{score_digits(verdict.score)}, "
    yield f"### planproof: {score}{headline(verdict)}"
    if verdict.id is not None:
        yield f"Case {_code(verdict.id, show)}"
    yield _escape(show(verdict.reason))
    if verdict.steps or verdict.extras:
        yield tally(verdict) + "."
        yield "\n".join(_table(verdict, show))
    if better := verdict.nearest_better:
        yield f"**{score_digits(better.score)}** {_escape(show(better.change))}"
    if coverage := verdict.coverage:
        judge = f", judged by {_escape(show(verdict.judge.name))}" if verdict.judge else ""
        lines = [f"{_escape(show(coverage_line(coverage)))}{judge}"]
        if verdict.plan and (found := plan_line(verdict.plan)):
            lines.insert(0, _escape(show(f"plan: {found}")))
        lines += [_escape(show(note)) for note in (*coverage.notes, *asking_lines(verdict))]
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
    note = f"<br>{_escape(show(step.note))}" if step.note else ""
    quotes = [f"{_code(e.event, show)} {_code(e.quote, show)}" for e in step.evidence]
    if len(quotes) > _MOST_QUOTES:
        quotes[_MOST_QUOTES:] = [f"and {len(quotes) - _MOST_QUOTES} more"]
    text = f"**{_escape(show(step.number))}** {_escape(_short(show(step.text)))}{note}"
    return f"| {glyph} | {text} | {status} | {'<br>'.join(quotes)} |"


def _extra_row(extra: Extra, show: Show) -> str:
    glyph = _SEVERITY_GLYPHS[extra.severity]
    quote = f"{_code(extra.event, show)} {_code(extra.quote, show)}"
    return f"| {glyph} | {_escape(_short(show(extra.what)))} | {extra.severity} extra | {quote} |"


def _escape(text: str) -> str:
    separated = _CALLING.sub("\\1\u200b", text)
    return _STRUCTURAL.sub(lambda match: f"&#{ord(match.group())};", separated)


def _code(text: str, show: Show) -> str:
    return f"<code>{_escape(_short(show(text)))}</code>"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"
