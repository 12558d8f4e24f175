"""The page with two runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import HTMLResponse

from planproof.reports.html.summary_view import broken, stretches
from planproof.reports.terminal.comparison_lines import (
    altered_told,
    cautions,
    chance_told,
    change_told,
    left_out,
    passing_told,
    why_told,
)
from planproof.reports.terminal.run_lines import source_name
from planproof.runs.compare import Change, Comparison
from planproof.runs.run_names import previous_run
from planproof.runs.run_records import Run
from planproof.server.pages.page_queries import Records
from planproof.server.pages.rendering import COMPARE, SHOW, page, query

_MOST_STEPS = 8


@dataclass(frozen=True, slots=True)
class Choice:
    """A run that can be chosen, as a line of text."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A case whose score is another one now, and the ways to its two verdicts."""

    name: str
    scores: str
    why: str
    now: str
    before: str | None


@dataclass(frozen=True, slots=True)
class Spread:
    """The change of the mean and its interval on a scale of so much to either side of no change.

    Places are in hundredths of the width.
    """

    reach: str
    at: float
    low: float
    width: float


def compare_page(records: Records, base: str, new: str) -> HTMLResponse:
    """Two runs side by side; without names, the latest and the one before it."""
    runs = records.recent()
    new_run = records.store.find(new) if new else _latest(runs)
    old_run = records.store.find(base) if base else new_run and previous_run(runs, new_run)
    values: dict[str, Any] = {
        "title": "Compare",
        "choices": [_choice(run) for run in _with(runs, old_run, new_run)],
        "base": old_run,
        "new": new_run,
        "comparison": None,
    }
    if old_run is None or new_run is None:
        return page("compare", COMPARE, **values)
    comparison = records.comparison(old_run, new_run)
    values |= {
        "comparison": comparison,
        "spread": _spread(comparison),
        "sides": stretches(
            {"worse": comparison.worse, "same": comparison.same, "better": comparison.better}
        ),
        "told": _told(comparison),
        "cautions": [SHOW(each) for each in cautions(old_run, new_run)],
        "broke": broken(comparison.broken[:_MOST_STEPS], SHOW),
        "lists": [
            (title, [_changed(each, old_run, new_run) for each in changes], count)
            for title, changes, count in (
                ("Worse", comparison.worst, comparison.worse),
                ("Better", comparison.best, comparison.better),
                ("No longer scored", comparison.lost, comparison.no_longer_scored),
            )
        ],
        "only": [
            (title, [SHOW(name) for name in names], count)
            for title, names, count in (
                ("Only in the base", comparison.only_base_names, comparison.only_base),
                ("Only in the new run", comparison.only_new_names, comparison.only_new),
            )
        ],
        "swapped": query(base=new_run.id, new=old_run.id),
    }
    return page("compare", COMPARE, **values)


def _latest(runs: Sequence[Run]) -> Run | None:
    """The latest run that has one to be compared with; any, if none has."""
    paired = (run for run in runs if previous_run(runs, run) is not None)
    return next(paired, runs[0] if runs else None)


def _with(runs: Sequence[Run], *others: Run | None) -> list[Run]:
    known = {run.id for run in runs}
    return [*runs, *(run for run in others if run is not None and run.id not in known)]


def _choice(run: Run) -> Choice:
    tags = "".join(f"  {name}={value}" for name, value in sorted(run.tags.items()))
    cases = f"{run.cases:,}"
    return Choice(
        run.id,
        SHOW(f"{run.created:%Y-%m-%d %H:%M}  {source_name(run.source)}  ({cases}){tags}")[:120],
    )


def _told(comparison: Comparison) -> list[str]:
    if comparison.mean_change is None:
        told = ["No case has a score in both runs."]
    else:
        told = [passing_told(comparison), chance_told(comparison)]
    if left := left_out(comparison):
        told.append(f"not compared: {left}")
    if comparison.altered:
        told.append(altered_told(comparison))
    return told


def _changed(change: Change, base: Run, new: Run) -> Changed:
    return Changed(
        name=SHOW(change.new.name)[:200],
        scores=change_told(change),
        why=why_told(change, SHOW),
        now=f"runs/{new.id}/cases/{change.new.position}",
        # A case without an id was paired by its content, and may stand anywhere in the base.
        before=None if change.new.id is None else f"runs/{base.id}/case{query(id=change.new.id)}",
    )


def _spread(comparison: Comparison) -> Spread | None:
    change, interval = comparison.mean_change, comparison.interval
    if change is None or interval is None:
        return None
    furthest = max(abs(interval.low), abs(interval.high), abs(change), 0.001)
    reach = next(each for each in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if furthest <= each)

    def place(value: float) -> float:
        return round(50 + 50 * value / reach, 2)

    low, high = place(interval.low), place(interval.high)
    return Spread(f"{reach:g}", place(change), low, round(high - low, 2))
