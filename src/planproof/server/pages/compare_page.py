"""The page that compares two runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import HTMLResponse

from planproof.reports.html.summary_view import build_failed_steps, build_segments
from planproof.reports.terminal.comparison_lines import (
    format_altered_count,
    format_change_reason,
    format_measure_changes,
    format_not_compared,
    format_pass_counts,
    format_score_change,
    format_significance,
    list_cautions,
)
from planproof.reports.terminal.run_lines import shorten_source
from planproof.runs.compare import Comparison, ScoreChange
from planproof.runs.run_names import find_previous_run
from planproof.runs.run_records import Run
from planproof.server.pages.page_queries import RunQueries
from planproof.server.pages.rendering import COMPARE, build_query_string, mask_text, render_page

_MAX_STEPS = 8


@dataclass(frozen=True, slots=True)
class RunChoice:
    """A run to choose from, with its label."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class ChangedCase:
    """A case whose score changed, with links to its two verdicts."""

    name: str
    scores: str
    why: str
    new_link: str
    base_link: str | None


@dataclass(frozen=True, slots=True)
class ChangeInterval:
    """The change of the mean and its interval, on a scale from `-scale` to `+scale`.

    Positions are in percent of the width.
    """

    scale: str
    center: float
    low: float
    width: float


def render_comparison_response(queries: RunQueries, base: str, new: str) -> HTMLResponse:
    """Render the comparison of two runs; by default the latest run and the one before it."""
    runs = queries.list_recent_runs()
    new_run = queries.store.find_run(new) if new else _find_latest_comparable(runs)
    old_run = queries.store.find_run(base) if base else new_run and find_previous_run(runs, new_run)
    values: dict[str, Any] = {
        "title": "Compare",
        "choices": [_build_choice(run) for run in _add_missing_runs(runs, old_run, new_run)],
        "base": old_run,
        "new": new_run,
        "comparison": None,
    }
    if old_run is None or new_run is None:
        return render_page("compare", COMPARE, **values)
    comparison = queries.get_comparison(old_run, new_run)
    values |= {
        "comparison": comparison,
        "interval": _build_change_interval(comparison),
        "change_segments": build_segments(
            {"worse": comparison.worse, "same": comparison.same, "better": comparison.better}
        ),
        "lines": _build_comparison_lines(comparison),
        "cautions": [mask_text(item) for item in list_cautions(old_run, new_run, comparison)],
        "newly_failed": build_failed_steps(comparison.broken[:_MAX_STEPS], mask_text),
        "lists": [
            (title, [_build_changed_case(item, old_run, new_run) for item in changes], count)
            for title, changes, count in (
                ("Worse", comparison.worst, comparison.worse),
                ("Better", comparison.best, comparison.better),
                ("No longer scored", comparison.lost, comparison.no_longer_scored),
            )
        ],
        "only": [
            (title, [mask_text(name) for name in names], count)
            for title, names, count in (
                ("Only in the base", comparison.only_base_names, comparison.only_base),
                ("Only in the new run", comparison.only_new_names, comparison.only_new),
            )
        ],
        "swapped": build_query_string(base=new_run.id, new=old_run.id),
    }
    return render_page("compare", COMPARE, **values)


def _find_latest_comparable(runs: Sequence[Run]) -> Run | None:
    """Return the latest run that has an earlier one to compare with, or else the latest."""
    paired = (run for run in runs if find_previous_run(runs, run) is not None)
    return next(paired, runs[0] if runs else None)


def _add_missing_runs(runs: Sequence[Run], *others: Run | None) -> list[Run]:
    known = {run.id for run in runs}
    return [*runs, *(run for run in others if run is not None and run.id not in known)]


def _build_choice(run: Run) -> RunChoice:
    tags = "".join(f"  {name}={value}" for name, value in sorted(run.tags.items()))
    cases = f"{run.cases:,}"
    return RunChoice(
        run.id,
        mask_text(f"{run.created:%Y-%m-%d %H:%M}  {shorten_source(run.source)}  ({cases}){tags}")[
            :120
        ],
    )


def _build_comparison_lines(comparison: Comparison) -> list[str]:
    if comparison.mean_change is None:
        lines = ["No case has a score in both runs."]
    else:
        lines = [
            *format_measure_changes(comparison),
            format_pass_counts(comparison),
            format_significance(comparison),
        ]
    if left := format_not_compared(comparison):
        lines.append(f"not compared: {left}")
    if comparison.altered:
        lines.append(format_altered_count(comparison))
    return lines


def _build_changed_case(change: ScoreChange, base: Run, new: Run) -> ChangedCase:
    return ChangedCase(
        name=mask_text(change.new.name)[:200],
        scores=format_score_change(change),
        why=format_change_reason(change, mask_text),
        new_link=f"runs/{new.id}/cases/{change.new.position}",
        # A case without an id was paired by content; its position in the base is unknown.
        base_link=None
        if change.new.id is None
        else f"runs/{base.id}/case{build_query_string(id=change.new.id)}",
    )


def _build_change_interval(comparison: Comparison) -> ChangeInterval | None:
    change, interval = comparison.mean_change, comparison.interval
    if change is None or interval is None:
        return None
    furthest = max(abs(interval.low), abs(interval.high), abs(change), 0.001)
    reach = next(scale for scale in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if furthest <= scale)

    def to_percent(value: float) -> float:
        return round(50 + 50 * value / reach, 2)

    low, high = to_percent(interval.low), to_percent(interval.high)
    return ChangeInterval(f"{reach:g}", to_percent(change), low, round(high - low, 2))
