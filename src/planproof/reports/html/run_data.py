"""What the page of a run shows, as JSON values; `assets/overview.js` draws it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import nsmallest

from planproof.content import Json
from planproof.finding import Severity, Status
from planproof.reports.html.room import Room
from planproof.reports.wording import (
    LEVELS,
    OUTCOMES,
    STATUSES,
    Show,
    cost_line,
    many,
    score_digits,
    shows,
)
from planproof.runs.nouns import Result, Run
from planproof.runs.summary import RunningSummary, Summary

# So many cases get a page of their own; where there are more, the lowest scores do.
_MOST_PAGES = 1_000
_MOST_MARKS = 40
_MOST_STEPS = 6
_LONGEST_NAME = 200
_LETTERS = {
    Status.EXECUTED: "e",
    Status.PARTIAL: "p",
    Status.MISSING: "m",
    Status.AMBIGUOUS: "a",
    Status.OUT_OF_ORDER: "o",
}


@dataclass(frozen=True, slots=True)
class RunData:
    """The data of the overview, the positions that have a page, and the room on those pages."""

    overview: dict[str, Json]
    pages: frozenset[int]
    room: Room


@dataclass(frozen=True, slots=True)
class _Row:
    """One case in the table: how low it ranks, how many events it has, and its cells."""

    rank: tuple[float, int]
    events: int
    cells: list[Json]


def run_data(run: Run, results: Iterable[Result], *, min_score: float, secrets: bool) -> RunData:
    """The scores and what broke most, and a row for every case."""
    show = shows(secrets=secrets)
    running = RunningSummary(min_score)
    rows: list[_Row] = []
    for result in results:
        running.add(result)
        rows.append(_row(result, show))
    paged = sorted(
        nsmallest(_MOST_PAGES, rows, key=lambda row: row.rank), key=lambda row: row.rank[1]
    )
    for place, row in enumerate(paged):
        row.cells[-1] = place
    summary = running.summary()
    overview: dict[str, Json] = {
        "title": show(run.id),
        "facts": [show(fact) for fact in _facts(run, summary)],
        "levels": [[level, name, summary.levels[level]] for level, name in LEVELS.items()],
        "unscored": [[show(cause), count] for cause, count in summary.unscored.items()],
        "broke": [
            [show(step.text), step.total, *(getattr(step, status) for status in Status)]
            for step in summary.missed[:_MOST_STEPS]
        ],
        "steps": [summary.statuses[status] for status in Status],
        "extras": [summary.extras[severity] for severity in Severity],
        "statuses": [
            [letter, status.value, STATUSES[status]] for status, letter in _LETTERS.items()
        ],
        "rows": [row.cells for row in rows],
        "paged": len(paged),
    }
    return RunData(
        overview,
        frozenset(row.rank[1] for row in paged),
        Room.among(sum(row.events for row in paged)),
    )


def _facts(run: Run, summary: Summary) -> Iterator[str]:
    """What is to be known of the run before its cases."""
    if summary.mean is not None:
        yield f"mean {summary.mean:.3f}"
        cases = many(summary.cases, "case")
        yield f"{summary.passed:,} of {cases} at {summary.min_score:g} or above"
    else:
        yield f"{many(summary.cases, 'case')}, none with a score"
    yield f"{run.source}, judged by {run.judge.name}"
    yield f"{run.created:%Y-%m-%d %H:%M} UTC, {run.state.value}"
    yield from (f"{name}={value}" for name, value in sorted(run.tags.items()))
    if summary.cost is not None:
        yield cost_line(summary.cost)


def _row(result: Result, show: Show) -> _Row:
    """Position, name, score, level, what the score is called or why there is none, the statuses
    of the steps, major and minor extras, events, seconds, and the place of its page."""
    verdict = result.verdict
    severities = [extra.severity for extra in verdict.extras]
    events = verdict.coverage.events if verdict.coverage else 0
    if verdict.level is not None:
        called = LEVELS[verdict.level]
    else:
        cause = f" ({verdict.cause})" if verdict.cause else ""
        called = f"{OUTCOMES[verdict.outcome]}{cause}"
    marks = "".join(_LETTERS[step.status] for step in verdict.findings.counted)
    cells: list[Json] = [
        result.position,
        show(result.name)[:_LONGEST_NAME],
        None if verdict.score is None else score_digits(verdict.score),
        verdict.level,
        show(called),
        marks[:_MOST_MARKS],
        len(marks),
        severities.count(Severity.MAJOR),
        severities.count(Severity.MINOR),
        events,
        round(result.seconds, 3),
        None,
    ]
    rank = -1.0 if verdict.score is None else verdict.score
    return _Row((rank, result.position), events, cells)
