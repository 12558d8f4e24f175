"""The pages of a run and of its cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.responses import HTMLResponse

from planproof.preparation import Reading
from planproof.reports.html.case_page import case_data
from planproof.reports.html.case_rows import CaseRow
from planproof.reports.html.size_budget import Room
from planproof.reports.html.summary_view import UNSCORED, boards, facts, step_key
from planproof.reports.terminal.run_lines import source_name
from planproof.runs.run_names import previous_run
from planproof.runs.run_records import Run
from planproof.runs.store.queries import Order, Wanted
from planproof.runs.summary import Summary
from planproof.scoring import LEVELS
from planproof.server.pages.page_queries import Records
from planproof.server.pages.rendering import CASE, RUN, SHOW, page, query

_ON_A_PAGE = 100
_KEYS: dict[str, float | None] = {f"{level:g}": level for level in LEVELS} | {UNSCORED: None}
_COLUMNS = (
    ("position", "#", Order.POSITION),
    ("name", "case", Order.NAME),
    ("score", "score", Order.SCORE),
    ("steps", "steps", None),
    ("extras", "extras", None),
    ("events", "events", None),
    ("seconds", "seconds", Order.SECONDS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which cases of a run the address of a page asks for."""

    scores: frozenset[str] = frozenset()
    find: str = ""
    step: str = ""
    by: Order = Order.SCORE
    down: bool = False
    first: int = 0

    @staticmethod
    def of(
        scores: Sequence[str], find: str, step: str, by: str, *, down: bool, first: int
    ) -> Asked:
        """What was asked for, as far as it is understood."""
        return Asked(
            scores=frozenset(scores) & _KEYS.keys(),
            find=find,
            step=step,
            by=Order(by) if by in set(Order) else Order.SCORE,
            down=down,
            first=max(first, 0),
        )

    def wanted(self, records: Records, run: Run) -> Wanted:
        """The same for the store."""
        return Wanted(
            levels=frozenset(_KEYS[key] for key in self.scores),
            words=self.find,
            lapsed=self._lapsed(records.summary(run)) if self.step else "",
            order=self.by,
            descending=self.down,
        )

    def _lapsed(self, summary: Summary) -> str:
        """The text of the step, if it is one of those that broke most."""
        texts = (step.text for step in summary.missed)
        return next((text for text in texts if step_key(text) == self.step), "")

    def link(self, **changed: Any) -> str:
        """The query that asks for this, with changes."""
        other = replace(self, **changed)
        return query(
            score=sorted(other.scores),
            find=other.find,
            step=other.step,
            by="" if other.by is Order.SCORE else other.by.value,
            down="1" if other.down else "",
            first=other.first,
        )

    def toggled(self, key: str) -> str:
        """The query with cases of this score asked for, or no longer."""
        return self.link(scores=self.scores ^ {key}, first=0)

    def lapsing(self, key: str) -> str:
        """The query with cases asked for in which this step lapsed, or no longer."""
        return self.link(step="" if self.step == key else key, first=0)


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column: what it is called, how it is sorted now, and the way to sort by it."""

    key: str
    label: str
    sorted: str | None
    link: str | None


def run_page(records: Records, run: Run, asked: Asked) -> HTMLResponse:
    """What the run comes to, and a page of its cases."""
    summary = records.summary(run)
    wanted = asked.wanted(records, run)
    found = records.results(run, wanted, first=asked.first, most=_ON_A_PAGE)
    count = records.count(run, wanted)
    before = previous_run(records.recent(), run)
    return page(
        "run",
        RUN,
        title=SHOW(source_name(run.source)),
        run=run,
        facts=[SHOW(fact) for fact in facts(run, summary)],
        boards=boards(summary, SHOW),
        asked=asked,
        columns=[_column(asked, *each) for each in _COLUMNS],
        rows=[
            (CaseRow.of(result, SHOW), f"cases/{result.position}{asked.link(first=place)}")
            for place, result in enumerate(found, asked.first)
        ],
        count=count,
        cases=summary.cases,
        before=before and query(base=before.id, new=run.id),
        newer=asked.link(first=max(asked.first - _ON_A_PAGE, 0)) if asked.first else None,
        older=asked.link(first=asked.first + _ON_A_PAGE)
        if count > asked.first + _ON_A_PAGE
        else None,
    )


def case_page(
    records: Records, run: Run, position: int, asked: Asked, reading: Reading
) -> HTMLResponse:
    """A case of the run; `asked.first` is its place among those that were asked for."""
    result = records.store.result(run.id, position)
    judged = records.judged(result, reading)
    room = Room.among(len(judged.trace.events) if judged.trace else 0)
    data = case_data(judged, room=room, secrets=False)
    beside = _beside(records, run, result.position, asked)
    return page(
        "one_case",
        CASE,
        title=data["id"] or data["headline"],
        run=run,
        source=SHOW(source_name(run.source)),
        position=result.position,
        data=data,
        up=asked.link(first=asked.first - asked.first % _ON_A_PAGE),
        previous=beside[0],
        next=beside[1],
    )


def _column(asked: Asked, key: str, label: str, order: Order | None) -> Column:
    if order is None:
        return Column(key, label, None, None)
    on = asked.by is order
    link = asked.link(by=order, down=on and not asked.down, first=0)
    way = ("descending" if asked.down else "ascending") if on else None
    return Column(key, label, way, link)


def _beside(
    records: Records, run: Run, position: int, asked: Asked
) -> tuple[str | None, str | None]:
    """The ways to the cases before and after this one, in the order that was asked for."""
    first = max(asked.first - 1, 0)
    around = records.results(run, asked.wanted(records, run), first=first, most=3)
    places = {result.position: place for place, result in enumerate(around, first)}
    if position not in places:
        # Whoever came by another way gets its neighbours in the data set.
        near = {position - 1, position + 1}
        plain = records.results(run, Wanted(), first=max(position - 1, 0), most=3)
        known = {each.position: str(each.position) for each in plain if each.position in near}
        return known.get(position - 1), known.get(position + 1)
    at = places[position]
    ways = {place: f"{other}{asked.link(first=place)}" for other, place in places.items()}
    return ways.get(at - 1), ways.get(at + 1)
