"""Runs on the terminal: the list of runs, and the summary of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from planproof.core.finding import Status
from planproof.reports.terminal.lines import (
    WIDTH,
    Line,
    Part,
    draw_bar,
    format_columns,
    format_section,
    truncate,
    wrap_lines,
)
from planproof.reports.wording import (
    STATUS_LABELS,
    TextSanitizer,
    format_cost,
    format_low_confidence_count,
    format_measures,
    format_score,
    pluralize,
)
from planproof.runs.run_records import Run, RunState
from planproof.runs.summary import CaseSummary, StepCount, Summary

LEVEL_STYLES = {1.0: "bright_green", 0.75: "green", 0.5: "yellow", 0.25: "dark_orange", 0.0: "red"}
STATE_STYLES = {RunState.RUNNING: "cyan", RunState.FINISHED: "green", RunState.INTERRUPTED: "red"}
# Linear time, since a folder name can't contain the slash that ends it.
_FOLDERS = re.compile(r"(?<!\S)/(?:[^\s/]+/)*(?=[^\s/])")
_MAX_WIDTH_NAME = 30
_MAX_WIDTH_STEP = 40
_MAX_WIDTH_JUDGE = 12
_MAX_SLOWEST = 5


def format_run_list(runs: Iterable[Run], show: TextSanitizer) -> Iterator[Line]:
    """Format one line per run: id, state, number of cases, judge, source and tags."""
    return format_columns(
        (
            run.id,
            (run.state.value, STATE_STYLES[run.state]),
            f"{run.cases:,}",
            truncate(show(run.judge.name), _MAX_WIDTH_JUDGE),
            show("  ".join((shorten_source(run.source), *_format_tags(run)))),
        )
        for run in runs
    )


def format_run(run: Run, show: TextSanitizer) -> str:
    """Format a run on one line: id, state, judge, source and tags."""
    parts = (
        run.id,
        run.state.value,
        run.judge.name,
        shorten_source(run.source),
        *_format_tags(run),
    )
    return "  ".join(map(show, parts))


def shorten_source(source: str) -> str:
    """Return the name of a data set without its folders."""
    return _FOLDERS.sub("", source)


def format_run_summary(run: Run, summary: Summary, show: TextSanitizer) -> Iterator[Line]:
    """Format a run and its summary."""
    yield ((truncate(format_run(run, show), WIDTH), "bold"),)
    if notice := format_run_confidence(run, summary):
        yield from wrap_lines(notice, "yellow")
    yield ()
    yield from format_summary(summary, show)


def format_run_confidence(run: Run, summary: Summary) -> str | None:
    """Return the notice for levels of low confidence; None if the run has none."""
    return format_low_confidence_count(summary.low_confidence, summary.scored, run.judge.name)


def format_summary(summary: Summary, show: TextSanitizer) -> Iterator[Line]:
    """Format a summary: scores, statuses, missed steps, lowest, slowest and unjudged cases."""
    yield from format_scores(summary, show)
    yield from format_step_counts("steps most often missed", summary.missed, show)
    low = [(_format_case_score(case), *_format_case(case, show)) for case in summary.lowest]
    yield from format_section("lowest scores", low)
    rows = [(case.outcome.value, *_format_case(case, show)) for case in summary.unjudged]
    yield from format_section("not judged", rows)
    slow = [(f"{case.seconds:.2f} s", show(case.name)) for case in summary.slowest if case.seconds]
    yield from format_section("slowest", slow[:_MAX_SLOWEST])


def format_scores(summary: Summary, show: TextSanitizer) -> Iterator[Line]:
    """Format the mean, the histogram of levels, statuses, causes of missing scores, and cost."""
    unscored = summary.cases - summary.scored
    if summary.mean is None:
        yield (f"{pluralize(summary.cases, 'case')}, none with a score",)
    else:
        yield (
            ("mean ", ""),
            (f"{summary.mean:.3f}", "bold"),
            f" over {pluralize(summary.scored, 'scored case')}; ",
            f"{summary.passed:,} of them at {summary.min_score:g} or above",
        )
        largest = max(summary.levels.values())
        for level, count in summary.levels.items():
            yield (f"  {level:<5}{count:>9,}  ", (draw_bar(count, largest), LEVEL_STYLES[level]))
    if measures := format_measures(summary.measures):
        yield from wrap_lines(f"mean shares: {measures}")
    if counts_text := _format_counts(
        {STATUS_LABELS[Status(k)]: n for k, n in summary.statuses.items()}
    ):
        yield from wrap_lines(f"steps: {counts_text}")
    if counts_text := _format_counts(summary.extras):
        yield (f"extras: {counts_text}",)
    if unscored:
        yield from wrap_lines(f"not scored: {show(_format_counts(summary.unscored))}", "magenta")
    if summary.known:
        yield (f"{summary.known:,} already judged",)
    if summary.cost is not None:
        yield from wrap_lines(f"model usage: {format_cost(summary.cost)}")


def format_step_counts(
    title: str, steps: Iterable[StepCount], show: TextSanitizer
) -> Iterator[Line]:
    """Format steps with their number of deviations, total, and deviations by status."""
    rows = [
        (
            f"{step.deviations:,} of {step.total:,}",
            truncate(show(step.text), _MAX_WIDTH_STEP),
            (format_deviation_counts(step), "dim"),
        )
        for step in steps
    ]
    return format_section(title, rows)


def format_deviation_counts(step: StepCount) -> str:
    """Format how often a step ended in each status other than executed."""
    deviating = (status for status in Status if status is not Status.EXECUTED)
    return _format_counts(
        {STATUS_LABELS[status]: getattr(step, status.value) for status in deviating}
    )


def _format_counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def _format_case(case: CaseSummary, show: TextSanitizer) -> tuple[Part, Part]:
    return truncate(show(case.name), _MAX_WIDTH_NAME), (show(case.reason), "dim")


def _format_case_score(case: CaseSummary) -> Part:
    return "" if case.score is None else format_score(case.score)


def _format_tags(run: Run) -> Iterator[str]:
    return (f"{name}={value}" for name, value in sorted(run.tags.items()))
