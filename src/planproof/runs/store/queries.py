"""Query stored runs without reading them whole: pages of results, counts of many runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, and_, case, exists, func, or_, select

from planproof.core.finding import Status
from planproof.core.verdict import Measures, Outcome
from planproof.runs.run_records import Result
from planproof.runs.store import row_mapping, schema
from planproof.runs.store.database import Database
from planproof.runs.summary import LONGEST_TEXT
from planproof.scoring import LEVELS

_UNSCORED_RANK = -1.0
_MEASURES = tuple(measure.name for measure in fields(Measures))
_RESULTS_WITH_VERDICTS = schema.results.join(
    schema.verdicts, schema.verdicts.c.hash == schema.results.c.verdict
)


class ResultOrder(StrEnum):
    """Sort key of results; equal ones are sorted by position."""

    POSITION = "position"
    NAME = "name"
    SCORE = "score"
    SECONDS = "seconds"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFilter:
    """Filter and order of the results of a run.

    `levels` selects scores of these levels (None: no score), and `outcomes` these outcomes; empty
    selects all. `words` must occur in the id or the reason. `failed_step` is the text of a step, as
    summaries count it, that was not executed as planned. Cases without a score sort before the
    others.
    """

    levels: frozenset[float | None] = frozenset()
    outcomes: frozenset[Outcome] = frozenset()
    words: str = ""
    failed_step: str = ""
    order: ResultOrder = ResultOrder.POSITION
    descending: bool = False


@dataclass(frozen=True, slots=True)
class RunTally:
    """Number of cases of a run by level, or by outcome for those without a score.

    `shares` are the sum and the number of the values of each measure.
    """

    levels: dict[float, int] = field(default_factory=lambda: dict.fromkeys(LEVELS, 0))
    unscored: dict[str, int] = field(default_factory=dict[str, int])
    total: float = 0.0
    passed: int = 0
    shares: dict[str, tuple[float, int]] = field(
        default_factory=lambda: dict.fromkeys(_MEASURES, (0.0, 0))
    )

    @property
    def scored(self) -> int:
        """Number of cases with a score."""
        return sum(self.levels.values())

    @property
    def cases(self) -> int:
        """Number of cases."""
        return self.scored + sum(self.unscored.values())

    @property
    def mean(self) -> float | None:
        """The mean of the scored cases."""
        return self.total / self.scored if self.scored else None

    @property
    def measures(self) -> Measures:
        """The means of the measures over the cases that have them."""
        return Measures(
            **{name: total / count for name, (total, count) in self.shares.items() if count}
        )

    def __add__(self, other: RunTally) -> RunTally:
        outcomes = (*self.unscored, *other.unscored)
        return RunTally(
            {level: count + other.levels[level] for level, count in self.levels.items()},
            {
                outcome: self.unscored.get(outcome, 0) + other.unscored.get(outcome, 0)
                for outcome in outcomes
            },
            self.total + other.total,
            self.passed + other.passed,
            {
                name: (total + other.shares[name][0], count + other.shares[name][1])
                for name, (total, count) in self.shares.items()
            },
        )


def query_results(
    database: Database, run_id: str, result_filter: ResultFilter, *, offset: int, limit: int
) -> list[Result]:
    """Return a page of the matching results: `limit` of them from `offset`."""
    query = select(schema.results, schema.verdicts.c.content).select_from(_RESULTS_WITH_VERDICTS)
    page = (
        _apply_filter(query, run_id, result_filter)
        .order_by(*_build_order_by(result_filter))
        .offset(offset)
        .limit(limit)
    )
    with database.begin_read() as connection:
        return [row_mapping.row_to_result(row) for row in connection.execute(page)]


def count_results(database: Database, run_id: str, result_filter: ResultFilter) -> int:
    """Return the number of matching results."""
    query = _apply_filter(
        select(func.count()).select_from(_RESULTS_WITH_VERDICTS), run_id, result_filter
    )
    with database.begin_read() as connection:
        return connection.execute(query).scalar_one()


def query_tallies(
    database: Database, run_ids: Sequence[str], *, min_score: float
) -> dict[str, RunTally]:
    """Return the tally of each of these runs, counted in the database."""
    verdicts, run = schema.verdicts.c, schema.results.c.run
    passed = func.sum(case((verdicts.score >= min_score, 1), else_=0))
    grouped = (
        select(
            run,
            verdicts.level,
            verdicts.outcome,
            func.count(),
            func.sum(verdicts.score),
            passed,
            *(func.sum(verdicts[name]) for name in _MEASURES),
            *(func.count(verdicts[name]) for name in _MEASURES),
        )
        .select_from(_RESULTS_WITH_VERDICTS)
        .where(run.in_(run_ids))
        .group_by(run, verdicts.level, verdicts.outcome)
    )
    tally_by_run = {run_id: RunTally() for run_id in run_ids}
    with database.begin_read() as connection:
        rows = cast("Iterable[tuple[Any, ...]]", connection.execute(grouped))
        for row in rows:
            run_id, level, outcome, count, total, passing, *measures = row
            sums, counts = measures[: len(_MEASURES)], measures[len(_MEASURES) :]
            levels = {} if level is None else {level: count}
            unscored = {outcome: count} if level is None else {}
            shares = {
                name: (summed or 0.0, number)
                for name, summed, number in zip(_MEASURES, sums, counts, strict=True)
            }
            tally = RunTally(
                dict.fromkeys(LEVELS, 0) | levels, unscored, total or 0.0, passing, shares
            )
            tally_by_run[run_id] += tally
    return tally_by_run


def _apply_filter(query: Select[Any], run_id: str, result_filter: ResultFilter) -> Select[Any]:
    conditions: list[ColumnElement[bool]] = [schema.results.c.run == run_id]
    if result_filter.levels:
        level = schema.verdicts.c.level
        scored = [wanted_level for wanted_level in result_filter.levels if wanted_level is not None]
        unscored = [level.is_(None)] if None in result_filter.levels else []
        conditions.append(or_(level.in_(scored), *unscored))
    if result_filter.outcomes:
        conditions.append(schema.verdicts.c.outcome.in_(sorted(result_filter.outcomes)))
    if words := row_mapping.to_database_text(result_filter.words).strip().lower():
        texts = (schema.results.c.id, schema.verdicts.c.reason)
        conditions.append(
            or_(*(func.lower(text).contains(words, autoescape=True) for text in texts))
        )
    if result_filter.failed_step:
        conditions.append(_has_failed_step(row_mapping.to_database_text(result_filter.failed_step)))
    return query.where(and_(*conditions))


def _has_failed_step(text: str) -> ColumnElement[bool]:
    """Match results where a step with this text was not executed; a cut text matches as prefix."""
    findings = schema.findings.c
    normalized = func.replace(func.replace(findings.text, "\n", " "), "  ", " ")
    same = normalized == text
    if len(text) >= LONGEST_TEXT:
        same = normalized.startswith(text, autoescape=True)
    return exists(
        select(findings.place).where(
            findings.verdict == schema.results.c.verdict,
            findings.sort == "step",
            findings.status != Status.EXECUTED.value,
            same,
        )
    )


def _build_order_by(result_filter: ResultFilter) -> list[ColumnElement[Any]]:
    columns: dict[ResultOrder, ColumnElement[Any]] = {
        ResultOrder.POSITION: schema.results.c.position,
        ResultOrder.NAME: func.coalesce(schema.results.c.id, ""),
        ResultOrder.SCORE: func.coalesce(schema.verdicts.c.score, _UNSCORED_RANK),
        ResultOrder.SECONDS: schema.results.c.seconds,
    }
    first = columns[result_filter.order]
    return [first.desc() if result_filter.descending else first, schema.results.c.position]
