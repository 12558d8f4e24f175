"""What the page of a run shows: boards for a template, rows that `assets/overview.js` draws."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nsmallest

from planproof.core.content import Json
from planproof.reports.html.case_rows import LETTERS, CaseRow
from planproof.reports.html.size_budget import Room
from planproof.reports.html.summary_view import Boards, boards, facts
from planproof.reports.wording import STATUSES, shows
from planproof.runs.run_records import Result, Run
from planproof.runs.summary import RunningSummary

# So many cases get a page of their own; where there are more, the lowest scores do.
_MOST_PAGES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunData:
    """The head of the page, its rows, the positions that have a page, and the room on those."""

    title: str
    facts: list[str]
    boards: Boards
    table: dict[str, Json]
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
        row = CaseRow.of(result, show)
        rank = -1.0 if result.verdict.score is None else result.verdict.score
        rows.append(_Row((rank, result.position), row.events, [*row.cells(), None]))
    paged = sorted(
        nsmallest(_MOST_PAGES, rows, key=lambda row: row.rank), key=lambda row: row.rank[1]
    )
    for place, row in enumerate(paged):
        row.cells[-1] = place
    summary = running.summary()
    return RunData(
        title=show(run.id),
        facts=[show(fact) for fact in facts(run, summary)],
        boards=boards(summary, show),
        table={
            "statuses": [
                [letter, status.value, STATUSES[status]] for status, letter in LETTERS.items()
            ],
            "rows": [row.cells for row in rows],
            "paged": len(paged),
        },
        pages=frozenset(row.rank[1] for row in paged),
        room=Room.among(sum(row.events for row in paged)),
    )
