"""What the page of a run shows: boards for a template, rows that `assets/overview.js` draws."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nsmallest

from planproof.core.content import Json
from planproof.reports.html.case_rows import STATUS_LETTERS, CaseRow
from planproof.reports.html.size_budget import SizeBudget
from planproof.reports.html.summary_view import RunSummaryView, build_summary_view, describe_run
from planproof.reports.wording import STATUS_LABELS, make_sanitizer
from planproof.runs.run_records import Result, Run
from planproof.runs.summary import SummaryBuilder

# So many cases get a page of their own; where there are more, the lowest scores do.
_MOST_PAGES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunData:
    """The head of the page, its rows, the positions that have a page, and the room on those."""

    title: str
    facts: list[str]
    summary_view: RunSummaryView
    table: dict[str, Json]
    pages: frozenset[int]
    budget: SizeBudget


@dataclass(frozen=True, slots=True)
class _RankedRow:
    """One case in the table: how low it ranks, how many events it has, and its cells."""

    rank: tuple[float, int]
    events: int
    cells: list[Json]


def build_run_data(
    run: Run, results: Iterable[Result], *, min_score: float, secrets: bool
) -> RunData:
    """The scores and what broke most, and a row for every case."""
    show = make_sanitizer(secrets=secrets)
    builder = SummaryBuilder(min_score)
    rows: list[_RankedRow] = []
    for result in results:
        builder.add(result)
        row = CaseRow.from_result(result, show)
        rank = -1.0 if result.verdict.score is None else result.verdict.score
        rows.append(_RankedRow((rank, result.position), row.events, [*row.to_cells(), None]))
    paged = sorted(
        nsmallest(_MOST_PAGES, rows, key=lambda row: row.rank), key=lambda row: row.rank[1]
    )
    for page, row in enumerate(paged):
        row.cells[-1] = page
    summary = builder.build()
    return RunData(
        title=show(run.id),
        facts=[show(fact) for fact in describe_run(run, summary)],
        summary_view=build_summary_view(summary, show),
        table={
            "statuses": [
                [letter, status.value, STATUS_LABELS[status]]
                for status, letter in STATUS_LETTERS.items()
            ],
            "rows": [row.cells for row in rows],
            "paged": len(paged),
        },
        pages=frozenset(row.rank[1] for row in paged),
        budget=SizeBudget.for_event_count(sum(row.events for row in paged)),
    )
