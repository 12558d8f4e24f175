"""The pages of a run and of its cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.responses import HTMLResponse

from planproof.evaluation import ReadOptions
from planproof.reports.html.case_page import build_case_data
from planproof.reports.html.size_budget import SizeBudget
from planproof.reports.html.summary_view import (
    UNSCORED,
    CaseRow,
    build_summary_view,
    describe_run,
    hash_step,
)
from planproof.reports.terminal.run_lines import shorten_source
from planproof.runs.run_names import find_previous_run
from planproof.runs.run_records import Run
from planproof.runs.store.queries import ResultFilter, ResultOrder
from planproof.runs.summary import Summary
from planproof.scoring import LEVELS
from planproof.server.pages.page_queries import RunQueries
from planproof.server.pages.rendering import CASE, RUN, build_query_string, mask_text, render_page

_CASES_PER_PAGE = 100
_LEVEL_BY_KEY: dict[str, float | None] = {f"{level:g}": level for level in LEVELS} | {
    UNSCORED: None
}
_COLUMNS = (
    ("position", "#", ResultOrder.POSITION),
    ("name", "case", ResultOrder.NAME),
    ("score", "score", ResultOrder.SCORE),
    ("steps", "steps", None),
    ("extras", "extras", None),
    ("events", "events", None),
    ("seconds", "seconds", ResultOrder.SECONDS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFilter:
    """The cases of a run that the page's URL asks for."""

    scores: frozenset[str] = frozenset()
    find: str = ""
    step: str = ""
    by: ResultOrder = ResultOrder.SCORE
    down: bool = False
    first: int = 0

    @staticmethod
    def parse(
        scores: Sequence[str], find: str, step: str, by: str, *, down: bool, first: int
    ) -> CaseFilter:
        """Return the filter from query parameters; ignore unknown values."""
        return CaseFilter(
            scores=frozenset(scores) & _LEVEL_BY_KEY.keys(),
            find=find,
            step=step,
            by=ResultOrder(by) if by in set(ResultOrder) else ResultOrder.SCORE,
            down=down,
            first=max(first, 0),
        )

    def to_result_filter(self, queries: RunQueries, run: Run) -> ResultFilter:
        """Return the filter for the store."""
        return ResultFilter(
            levels=frozenset(_LEVEL_BY_KEY[key] for key in self.scores),
            words=self.find,
            failed_step=self._find_step_text(queries.get_summary(run)) if self.step else "",
            order=self.by,
            descending=self.down,
        )

    def _find_step_text(self, summary: Summary) -> str:
        """Return the text of the step, if it is one of those that failed most often."""
        texts = (step.text for step in summary.missed)
        return next((text for text in texts if hash_step(text) == self.step), "")

    def to_query(self, **changes: Any) -> str:
        """Return the query string for this filter, with changes."""
        other = replace(self, **changes)
        return build_query_string(
            score=sorted(other.scores),
            find=other.find,
            step=other.step,
            by="" if other.by is ResultOrder.SCORE else other.by.value,
            down="1" if other.down else "",
            first=other.first,
        )

    def toggle_score(self, key: str) -> str:
        """Return the query string with cases of this score added or removed."""
        return self.to_query(scores=self.scores ^ {key}, first=0)

    def toggle_step(self, key: str) -> str:
        """Return the query string with the filter for cases that failed this step toggled."""
        return self.to_query(step="" if self.step == key else key, first=0)


@dataclass(frozen=True, slots=True)
class ColumnHead:
    """A column head: its label, current sort direction, and the link that sorts by it."""

    key: str
    label: str
    sorted: str | None
    link: str | None


def render_run_response(queries: RunQueries, run: Run, case_filter: CaseFilter) -> HTMLResponse:
    """Render the summary of the run, and a page of its cases."""
    summary = queries.get_summary(run)
    result_filter = case_filter.to_result_filter(queries, run)
    results = queries.list_results(
        run, result_filter, first=case_filter.first, limit=_CASES_PER_PAGE
    )
    count = queries.count_results(run, result_filter)
    before = find_previous_run(queries.list_recent_runs(), run)
    return render_page(
        "run",
        RUN,
        title=mask_text(shorten_source(run.source)),
        run=run,
        facts=[mask_text(fact) for fact in describe_run(run, summary)],
        boards=build_summary_view(summary, mask_text),
        case_filter=case_filter,
        columns=[_build_column_head(case_filter, *column) for column in _COLUMNS],
        rows=[
            (
                CaseRow.from_result(result, mask_text),
                f"cases/{result.position}{case_filter.to_query(first=index)}",
            )
            for index, result in enumerate(results, case_filter.first)
        ],
        count=count,
        cases=summary.cases,
        before=before and build_query_string(base=before.id, new=run.id),
        newer=case_filter.to_query(first=max(case_filter.first - _CASES_PER_PAGE, 0))
        if case_filter.first
        else None,
        older=case_filter.to_query(first=case_filter.first + _CASES_PER_PAGE)
        if count > case_filter.first + _CASES_PER_PAGE
        else None,
    )


def render_case_response(
    queries: RunQueries, run: Run, position: int, case_filter: CaseFilter, reading: ReadOptions
) -> HTMLResponse:
    """Render a case of the run; `case_filter.first` is its index among the filtered cases."""
    result = queries.store.get_result(run.id, position)
    judged = queries.load_judged_case(result, reading)
    size_budget = SizeBudget.for_event_count(len(judged.trace.events) if judged.trace else 0)
    data = build_case_data(judged, budget=size_budget, secrets=False)
    neighbours = _find_neighbours(queries, run, result.position, case_filter)
    return render_page(
        "one_case",
        CASE,
        title=data["id"] or data["headline"],
        run=run,
        source=mask_text(shorten_source(run.source)),
        position=result.position,
        data=data,
        up=case_filter.to_query(first=case_filter.first - case_filter.first % _CASES_PER_PAGE),
        previous=neighbours[0],
        next=neighbours[1],
    )


def _build_column_head(
    case_filter: CaseFilter, key: str, label: str, order: ResultOrder | None
) -> ColumnHead:
    if order is None:
        return ColumnHead(key, label, None, None)
    on = case_filter.by is order
    link = case_filter.to_query(by=order, down=on and not case_filter.down, first=0)
    direction = ("descending" if case_filter.down else "ascending") if on else None
    return ColumnHead(key, label, direction, link)


def _find_neighbours(
    queries: RunQueries, run: Run, position: int, case_filter: CaseFilter
) -> tuple[str | None, str | None]:
    """Return the links to the previous and next case, in the order of the filter."""
    first = max(case_filter.first - 1, 0)
    nearby = queries.list_results(
        run, case_filter.to_result_filter(queries, run), first=first, limit=3
    )
    index_by_position = {result.position: index for index, result in enumerate(nearby, first)}
    if position not in index_by_position:
        # Opened from elsewhere: use its neighbours in the data set.
        adjacent = {position - 1, position + 1}
        plain = queries.list_results(run, ResultFilter(), first=max(position - 1, 0), limit=3)
        known = {
            result_row.position: str(result_row.position)
            for result_row in plain
            if result_row.position in adjacent
        }
        return known.get(position - 1), known.get(position + 1)
    at = index_by_position[position]
    links = {
        index: f"{other}{case_filter.to_query(first=index)}"
        for other, index in index_by_position.items()
    }
    return links.get(at - 1), links.get(at + 1)
