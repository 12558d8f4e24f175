"""Runs on a terminal: the list of them, and what one comes to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from planproof.core.finding import Status
from planproof.reports.terminal.lines import (
    WIDTH,
    Line,
    Part,
    bar,
    columns,
    cut,
    titled,
    wrapped,
)
from planproof.reports.wording import STATUSES, Show, cost_line, many, score_digits
from planproof.runs.run_records import Run, RunState
from planproof.runs.step_counts import StepCount
from planproof.runs.summary import Glance, Summary

LEVEL_STYLES = {1.0: "bright_green", 0.75: "green", 0.5: "yellow", 0.25: "dark_orange", 0.0: "red"}
STATE_STYLES = {RunState.RUNNING: "cyan", RunState.FINISHED: "green", RunState.INTERRUPTED: "red"}
# Linear, for a name can't hold what ends it.
_FOLDERS = re.compile(r"(?<!\S)/(?:[^\s/]+/)*(?=[^\s/])")
_WIDEST_NAME = 30
_WIDEST_STEP = 40
_WIDEST_JUDGE = 12
_MOST_SLOW = 5


def runs_lines(runs: Iterable[Run], show: Show) -> Iterator[Line]:
    """One line a run: id, how far, by which judge, over what, and its tags."""
    return columns(
        (
            run.id,
            (run.state.value, STATE_STYLES[run.state]),
            f"{run.cases:,}",
            cut(show(run.judge.name), _WIDEST_JUDGE),
            show("  ".join((source_name(run.source), *_tags(run)))),
        )
        for run in runs
    )


def run_line(run: Run, show: Show) -> str:
    """A run in a line: its id, state, judge, source and tags."""
    parts = (run.id, run.state.value, run.judge.name, source_name(run.source), *_tags(run))
    return "  ".join(map(show, parts))


def source_name(source: str) -> str:
    """What a data set is called, without the folders that it stands in."""
    return _FOLDERS.sub("", source)


def run_summary_lines(run: Run, summary: Summary, show: Show) -> Iterator[Line]:
    """A run and what it comes to."""
    yield ((cut(run_line(run, show), WIDTH), "bold"),)
    yield ()
    yield from summary_lines(summary, show)


def summary_lines(summary: Summary, show: Show) -> Iterator[Line]:
    """What a run comes to: scores, statuses, what was missed, low, slow and not judged."""
    yield from score_lines(summary, show)
    yield from step_lines("steps most often missed", summary.missed, show)
    low = [(_score(case), *_case(case, show)) for case in summary.lowest]
    yield from titled("lowest scores", low)
    rows = [(case.outcome.value, *_case(case, show)) for case in summary.unjudged]
    yield from titled("not judged", rows)
    slow = [(f"{case.seconds:.2f} s", show(case.name)) for case in summary.slowest if case.seconds]
    yield from titled("slowest", slow[:_MOST_SLOW])


def score_lines(summary: Summary, show: Show) -> Iterator[Line]:
    """The mean, the histogram of the five levels, statuses, what has no score, and the cost."""
    without = summary.cases - summary.scored
    if summary.mean is None:
        yield (f"{many(summary.cases, 'case')}, none with a score",)
    else:
        yield (
            ("mean ", ""),
            (f"{summary.mean:.3f}", "bold"),
            f" over {many(summary.scored, 'scored case')}; ",
            f"{summary.passed:,} of them at {summary.min_score:g} or above",
        )
        most = max(summary.levels.values())
        for level, count in summary.levels.items():
            yield (f"  {level:<5}{count:>9,}  ", (bar(count, most), LEVEL_STYLES[level]))
    if told := _counted({STATUSES[Status(k)]: n for k, n in summary.statuses.items()}):
        yield from wrapped(f"steps: {told}")
    if told := _counted(summary.extras):
        yield (f"extras: {told}",)
    if without:
        yield from wrapped(f"not scored: {show(_counted(summary.unscored))}", "magenta")
    if summary.known:
        yield (f"{summary.known:,} judged before",)
    if summary.cost is not None:
        yield from wrapped(f"asked: {cost_line(summary.cost)}")


def step_lines(title: str, steps: Iterable[StepCount], show: Show) -> Iterator[Line]:
    """Steps with how often they lapsed, of how many, and in which way."""
    rows = [
        (
            f"{step.lapses:,} of {step.total:,}",
            cut(show(step.text), _WIDEST_STEP),
            (lapses_of(step), "dim"),
        )
        for step in steps
    ]
    return titled(title, rows)


def lapses_of(step: StepCount) -> str:
    """How often a step ended in each status but the planned one."""
    lapsed = (status for status in Status if status is not Status.EXECUTED)
    return _counted({STATUSES[status]: getattr(step, status.value) for status in lapsed})


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def _case(case: Glance, show: Show) -> tuple[Part, Part]:
    return cut(show(case.name), _WIDEST_NAME), (show(case.reason), "dim")


def _score(case: Glance) -> Part:
    return "" if case.score is None else score_digits(case.score)


def _tags(run: Run) -> Iterator[str]:
    return (f"{name}={value}" for name, value in sorted(run.tags.items()))
