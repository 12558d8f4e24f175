"""Comparison of two runs, and the result of a gate, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planproof.reports.terminal.lines import (
    WIDTH,
    Line,
    format_section,
    truncate,
    wrap_lines,
    wrap_text,
)
from planproof.reports.terminal.run_lines import (
    format_run,
    format_run_confidence,
    format_step_counts,
)
from planproof.reports.wording import (
    STATUS_LABELS,
    TextSanitizer,
    format_low_confidence_count,
    format_score,
    list_measures,
    pluralize,
)
from planproof.runs.compare import Comparison, ScoreChange
from planproof.runs.gate import GateCheck
from planproof.runs.run_records import Run
from planproof.runs.summary import Summary

_MAX_CHANGES = 10
_SIGNIFICANCE_LEVEL = 0.05
_WIDEST_NAME = 30


def format_comparison(
    base: Run, new: Run, comparison: Comparison, show: TextSanitizer
) -> Iterator[Line]:
    """Format the counts of better and worse cases, means and significance, and broken steps."""
    yield (truncate(f"base  {format_run(base, show)}", WIDTH),)
    yield (truncate(f"new   {format_run(new, show)}", WIDTH),)
    for caution in list_cautions(base, new, comparison):
        yield from wrap_lines(caution, "yellow")
    yield ()
    yield (
        f"{pluralize(comparison.pair_count, 'pair')}: ",
        (f"{comparison.better:,} better", "green" if comparison.better else ""),
        ", ",
        (f"{comparison.worse:,} worse", "red" if comparison.worse else ""),
        f", {comparison.same:,} the same",
    )
    if comparison.mean_change is not None:
        for text in (
            format_means(comparison),
            *format_measure_changes(comparison),
            format_pass_counts(comparison),
            format_significance(comparison),
        ):
            yield from wrap_lines(text)
    if not_compared := format_not_compared(comparison):
        yield from wrap_lines(f"not compared: {not_compared}")
    if comparison.altered:
        yield (format_altered_count(comparison),)
    yield from format_step_counts("steps that broke", comparison.broken, show)
    for title, changes, count in (
        ("worse", comparison.worst, comparison.worse),
        ("better", comparison.best, comparison.better),
        ("no longer scored", comparison.lost, comparison.no_longer_scored),
    ):
        yield from _format_changes(title, changes, count, show)
    for title, names, count in (
        ("only in the base", comparison.only_base_names, comparison.only_base),
        ("only in the new run", comparison.only_new_names, comparison.only_new),
    ):
        shown = names[:_MAX_CHANGES]
        yield from format_section(
            _format_title(title, len(shown), count), [(show(name),) for name in shown]
        )


def format_gate(
    run: Run, summary: Summary, checks: Sequence[GateCheck], show: TextSanitizer
) -> Iterator[Line]:
    """Format the result of a gate, and every condition with its figures."""
    failed = [check for check in checks if not check.held]
    yield (
        (f"gate {'failed' if failed else 'passed'}", "bold red" if failed else "bold green"),
        f": {truncate(format_run(run, show), WIDTH - 13)}",
    )
    for check in checks:
        mark = ("✓", "green") if check.held else ("✗", "red")
        first, *rest = wrap_text(f"{check.condition}: {show(check.told)}", WIDTH - 4)
        yield ("  ", mark, f" {first}")
        yield from ((f"    {text}",) for text in rest)
    if notice := format_run_confidence(run, summary):
        yield from wrap_lines(notice, "yellow")


def format_means(comparison: Comparison) -> str:
    """Format the means of the pairs, their change, and its confidence interval."""
    text = f"mean {comparison.base_mean:.3f} → {comparison.new_mean:.3f}"
    text += f", change {comparison.mean_change:+.3f}"
    if spread := comparison.interval:
        text += f", 95 % interval {spread.low:+.3f} to {spread.high:+.3f}"
    return text


def format_measure_changes(comparison: Comparison) -> Iterator[str]:
    """Yield the mean measures of the pairs in both runs, if there are any."""
    new = dict(list_measures(comparison.new_measures))
    changes = [
        f"{label} {value:.3f} → {new[label]:.3f}"
        for label, value in list_measures(comparison.base_measures)
    ]
    if changes:
        yield f"mean shares: {', '.join(changes)}"


def format_pass_counts(comparison: Comparison) -> str:
    """Format the number of pairs that pass in both runs, one, or neither."""
    passing = comparison.passing
    return (
        f"at {comparison.min_score:g} or above: {passing.both:,} in both, {passing.broke:,} no "
        f"longer, {passing.mended:,} newly, {passing.neither:,} in neither"
    )


def format_significance(comparison: Comparison) -> str:
    """Format the result of McNemar's exact test on the pairs that pass in only one run."""
    p = comparison.passing.p
    result = "significant" if p < _SIGNIFICANCE_LEVEL else "not significant"
    return f"change of the pass rate: {result} (McNemar's exact test, p = {p:.3g})"


def format_not_compared(comparison: Comparison) -> str:
    """Format the counts of cases without a pair of scores."""
    counts = {
        "no longer scored": comparison.no_longer_scored,
        "newly scored": comparison.newly_scored,
        "scored in neither": comparison.unscored,
        "only in the base": comparison.only_base,
        "only in the new run": comparison.only_new,
    }
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def format_altered_count(comparison: Comparison) -> str:
    """Format the number of pairs whose task, plan or trace differs."""
    return f"task, plan or trace changed in {pluralize(comparison.altered, 'pair')}"


def list_cautions(base: Run, new: Run, comparison: Comparison) -> Iterator[str]:
    """Yield warnings about the comparability of two runs, and about levels of the new one."""
    if base.fingerprint != new.fingerprint:
        yield "The runs were judged with different settings: changes may come from the judge."
    for name, run in (("base", base), ("new run", new)):
        if run.state.value != "finished":
            yield f"The {name} is {run.state.value}: some of its cases are missing."
    if notice := format_low_confidence_count(
        comparison.low_confidence, comparison.pair_count, new.judge.name
    ):
        yield f"New run: {notice}."


def format_score_change(change: ScoreChange) -> str:
    """Format the scores of a case in both runs."""
    now = change.new.score
    return f"{format_score(change.base)} → {'none' if now is None else format_score(now)}"


def format_change_reason(change: ScoreChange, show: TextSanitizer) -> str:
    """Return the steps that broke in a case, or the reason of its new verdict if none did."""
    if not change.broken:
        return show(change.new.reason)
    return ", ".join(f"step {show(s.number)} {STATUS_LABELS[s.status]}" for s in change.broken)


def _format_changes(
    title: str, changes: Sequence[ScoreChange], count: int, show: TextSanitizer
) -> Iterator[Line]:
    shown = changes[:_MAX_CHANGES]
    rows = [
        (
            format_score_change(change),
            truncate(show(change.new.name), _WIDEST_NAME),
            (format_change_reason(change, show), "dim"),
        )
        for change in shown
    ]
    return format_section(_format_title(title, len(rows), count), rows)


def _format_title(title: str, shown: int, count: int) -> str:
    return title if shown == count else f"{title}, {shown:,} of {count:,}"
