"""Markdown reports of verdicts, runs, comparisons and gates, for pull request comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from planproof.core.finding import Extra, Severity, Status, StepFinding
from planproof.core.verdict import Verdict
from planproof.reports.terminal.comparison_lines import (
    format_altered_count,
    format_change_reason,
    format_means,
    format_measure_changes,
    format_not_compared,
    format_pass_counts,
    format_score_change,
    format_significance,
    list_cautions,
)
from planproof.reports.terminal.lines import draw_bar, truncate
from planproof.reports.terminal.run_lines import (
    format_deviation_counts,
    format_run,
    format_run_confidence,
)
from planproof.reports.timeline import order_by_time
from planproof.reports.wording import (
    LEVEL_LABELS,
    STATUS_LABELS,
    TextSanitizer,
    format_cost,
    format_coverage,
    format_headline,
    format_low_confidence,
    format_measures,
    format_model_notes,
    format_plan_origin,
    format_score,
    format_tally,
    make_sanitizer,
    pluralize,
)
from planproof.runs.compare import Comparison, ScoreChange
from planproof.runs.gate import GateCheck
from planproof.runs.run_records import Run
from planproof.runs.summary import StepCount, Summary

_GLYPHS = {
    Status.EXECUTED: "✅",
    Status.PARTIAL: "🟡",
    Status.MISSING: "❌",
    Status.AMBIGUOUS: "❔",
    Status.OUT_OF_ORDER: "🔀",
}
_SEVERITY_GLYPHS = {Severity.MAJOR: "➕", Severity.MINOR: "▫️"}
_MAX_QUOTES = 3
# Comments have a length limit; the full verdict has all rows.
_MAX_ROWS = 200


def verdict_to_markdown(verdict: Verdict, *, secrets: bool = False) -> str:
    """Format a verdict: heading, reason, table of findings in time order, and coverage."""
    show = make_sanitizer(secrets=secrets)
    return "\n\n".join(_format_blocks(verdict, show)) + "\n"


def _format_blocks(verdict: Verdict, show: TextSanitizer) -> Iterator[str]:
    score = "" if verdict.score is None else f"{format_score(verdict.score)}, "
    yield f"### planproof: {score}{format_headline(verdict)}"
    if verdict.id is not None:
        yield f"Case {format_code(verdict.id, show)}"
    yield escape(show(verdict.reason))
    if low_confidence := format_low_confidence(verdict):
        yield f"⚠️ {low_confidence}"
    if verdict.steps or verdict.extras:
        yield format_tally(verdict) + "."
        yield "\n".join(_format_steps_table(verdict, show))
    if better := verdict.nearest_better:
        yield f"**{format_score(better.score)}** {escape(show(better.change))}"
    if coverage := verdict.coverage:
        judge = f", judged by {escape(show(verdict.judge.name))}" if verdict.judge else ""
        lines = [f"{escape(show(format_coverage(coverage)))}{judge}"]
        if verdict.plan and (plan_origin := format_plan_origin(verdict.plan)):
            lines.insert(0, escape(show(f"plan: {plan_origin}")))
        lines += [escape(show(note)) for note in (*coverage.notes, *format_model_notes(verdict))]
        yield f"<sub>{'<br>'.join(lines)}</sub>"


def _format_steps_table(verdict: Verdict, show: TextSanitizer) -> Iterator[str]:
    yield "| | step | | evidence |"
    yield "|---|---|---|---|"
    findings = order_by_time(verdict)
    parents = {step.parent for step in verdict.steps}
    for finding in findings[:_MAX_ROWS]:
        if isinstance(finding, Extra):
            yield _format_extra_row(finding, show)
        else:
            yield _format_step_row(finding, show, counted=finding.number not in parents)
    if rest := findings[_MAX_ROWS:]:
        yield f"| | and {len(rest)} more | | |"


def _format_step_row(step: StepFinding, show: TextSanitizer, *, counted: bool) -> str:
    glyph, status = _GLYPHS[step.status], STATUS_LABELS[step.status]
    if step.waived:
        glyph, status = "", "left out"
    elif not counted:
        glyph, status = "", ""
    note = f"<br>{escape(show(step.note))}" if step.note else ""
    quotes = [f"{format_code(e.event, show)} {format_code(e.quote, show)}" for e in step.evidence]
    if len(quotes) > _MAX_QUOTES:
        quotes[_MAX_QUOTES:] = [f"and {len(quotes) - _MAX_QUOTES} more"]
    text = f"**{escape(show(step.number))}** {escape_truncated(show(step.text))}{note}"
    return f"| {glyph} | {text} | {status} | {'<br>'.join(quotes)} |"


def _format_extra_row(extra: Extra, show: TextSanitizer) -> str:
    glyph = _SEVERITY_GLYPHS[extra.severity]
    quote = f"{format_code(extra.event, show)} {format_code(extra.quote, show)}"
    return f"| {glyph} | {escape_truncated(show(extra.what))} | {extra.severity} extra | {quote} |"


_MAX_TEXT_LENGTH = 240

# As character references, these can't form emphasis, links, HTML, tables or math.
_STRUCTURAL = re.compile(r"[\\`*_{}\[\]<>#|~&@$^!]|:(?=\S)|^[^\w\s(]|(?<=www)\.", re.IGNORECASE)
# Even as text, `@name` notifies a person and `#12` links an issue.
_MENTION = re.compile(r"([@#])(?=\w)")


def escape(text: str) -> str:
    """Replace every character that Markdown or HTML could interpret by a character reference."""
    separated = _MENTION.sub("\\1\u200b", text)
    return _STRUCTURAL.sub(lambda match: f"&#{ord(match.group())};", separated)


def escape_truncated(text: str) -> str:
    """Truncate the text to the length of a table cell, and escape it."""
    return escape(truncate(text, _MAX_TEXT_LENGTH))


def format_code(text: str, show: TextSanitizer) -> str:
    """Format a name or a quote as code."""
    return f"<code>{escape_truncated(show(text))}</code>"


# Comments have a length limit; the store has all changes.
_MAX_CHANGES = 20
_BAR_PART = 2


def summary_to_markdown(run: Run, summary: Summary, *, secrets: bool = False) -> str:
    """Format a run: mean, the five levels, missed steps, lowest scores, cases not judged."""
    return _join_blocks(_format_summary(run, summary, make_sanitizer(secrets=secrets)))


def comparison_to_markdown(
    base: Run, new: Run, comparison: Comparison, *, secrets: bool = False
) -> str:
    """Format a comparison: better and worse, means, significance, broken steps, changed cases."""
    return _join_blocks(_format_comparison(base, new, comparison, make_sanitizer(secrets=secrets)))


def gate_to_markdown(
    run: Run, summary: Summary, checks: Sequence[GateCheck], *, secrets: bool = False
) -> str:
    """Format the result of a gate, and every condition with its figures."""
    show = make_sanitizer(secrets=secrets)
    passed = all(check.held for check in checks)
    rows = [("✅" if c.held else "❌", escape(c.condition), escape(show(c.told))) for c in checks]
    return _join_blocks(
        (
            f"### planproof: gate {'passed' if passed else 'failed'}",
            _format_table(("", "condition", "found"), rows),
            *_format_confidence(run, summary),
            f"<sub>{escape(format_run(run, show))}</sub>",
        )
    )


def _format_confidence(run: Run, summary: Summary) -> Iterator[str]:
    if notice := format_run_confidence(run, summary):
        yield f"⚠️ {notice}"


def _format_summary(run: Run, summary: Summary, show: TextSanitizer) -> Iterator[str]:
    if summary.mean is None:
        yield f"### planproof: {pluralize(summary.cases, 'case')}, none with a score"
    else:
        yield (
            f"### planproof: mean {summary.mean:.3f} over "
            f"{pluralize(summary.scored, 'scored case')}"
        )
        yield f"{summary.passed:,} of {summary.scored:,} at {summary.min_score:g} or above."
        largest = max(summary.levels.values())
        rows = [
            (f"{level}", LEVEL_LABELS[level], f"{count:,}", draw_bar(count, largest)[::_BAR_PART])
            for level, count in summary.levels.items()
        ]
        yield _format_table(("score", "", "cases", ""), rows)
        if measures := format_measures(summary.measures):
            yield f"Mean shares: {measures}."
        yield from _format_confidence(run, summary)
    if summary.unscored:
        rows = [(escape(show(cause)), f"{count:,}") for cause, count in summary.unscored.items()]
        yield _format_table(("not scored", "cases"), rows)
    yield from _format_step_counts("steps most often missed", summary.missed, show)
    low = [
        (
            format_score(case.score or 0.0),
            format_code(case.name, show),
            escape_truncated(show(case.reason)),
        )
        for case in summary.lowest
    ]
    if low:
        yield _format_table(("lowest", "case", "reason"), low)
    unjudged = [
        (format_code(case.name, show), escape_truncated(show(case.reason)))
        for case in summary.unjudged
    ]
    if unjudged:
        yield _format_table(("not judged", "reason"), unjudged)
    cost = "" if summary.cost is None else f"<br>model usage: {format_cost(summary.cost)}"
    yield f"<sub>{escape(format_run(run, show))}{cost}</sub>"


def _format_comparison(
    base: Run, new: Run, comparison: Comparison, show: TextSanitizer
) -> Iterator[str]:
    counts = (
        f"{comparison.better:,} better, {comparison.worse:,} worse, {comparison.same:,} the same"
    )
    yield f"### planproof: {counts}"
    if comparison.mean_change is None:
        yield "No case has a score in both runs."
    else:
        figures = (
            format_means(comparison),
            *format_measure_changes(comparison),
            format_pass_counts(comparison),
            format_significance(comparison),
        )
        yield "<br>".join(map(_to_sentence, figures))
    if not_compared := format_not_compared(comparison):
        yield f"Not compared: {not_compared}."
    if comparison.altered:
        yield _to_sentence(format_altered_count(comparison))
    for caution in list_cautions(base, new, comparison):
        yield f"⚠️ {caution}"
    yield from _format_step_counts("steps that broke", comparison.broken, show)
    yield from _format_changes("worse", comparison.worst, comparison.worse, show)
    yield from _format_changes(
        "no longer scored", comparison.lost, comparison.no_longer_scored, show
    )
    yield from _format_changes("better", comparison.best, comparison.better, show)
    runs = (f"base: {format_run(base, show)}", f"new: {format_run(new, show)}")
    yield f"<sub>{'<br>'.join(map(escape, runs))}</sub>"


def _to_sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _format_step_counts(
    title: str, steps: Sequence[StepCount], show: TextSanitizer
) -> Iterator[str]:
    rows = [
        (
            escape_truncated(show(step.text)),
            f"{step.deviations:,} of {step.total:,}",
            format_deviation_counts(step),
        )
        for step in steps
    ]
    if rows:
        yield _format_table((title, "cases", ""), rows)


def _format_changes(
    title: str, changes: Sequence[ScoreChange], count: int, show: TextSanitizer
) -> Iterator[str]:
    rows = [
        (
            format_score_change(change),
            format_code(change.new.name, show),
            escape_truncated(format_change_reason(change, show)),
        )
        for change in changes[:_MAX_CHANGES]
    ]
    if not rows:
        return
    if count > len(rows):
        rows.append(("", f"and {count - len(rows):,} more", ""))
    yield _format_table((title, "case", ""), rows)


def _format_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [_format_row(head), f"|{'---|' * len(head)}", *map(_format_row, rows)]
    return "\n".join(lines)


def _format_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _join_blocks(blocks: Iterable[str]) -> str:
    return "\n\n".join(blocks) + "\n"
