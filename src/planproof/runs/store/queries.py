"""Looking into runs that are too long to be read whole: a page of cases, counts of many runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, exists, func, or_, select

from planproof.core.finding import Status
from planproof.core.verdict import Outcome
from planproof.runs.run_records import Result
from planproof.runs.step_counts import LONGEST_TEXT
from planproof.runs.store import row_mapping, schema
from planproof.runs.store.database import Database
from planproof.scoring import LEVELS

_BELOW_ALL = -1.0
_JOINED = schema.results.join(schema.verdicts, schema.verdicts.c.hash == schema.results.c.verdict)


class Order(StrEnum):
    """What cases are put in order by; equal ones stand by position."""

    POSITION = "position"
    NAME = "name"
    SCORE = "score"
    SECONDS = "seconds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which cases of a run, and in which order.

    `levels` leaves those whose score is of one of these levels, None standing for no score, and
    `outcomes` those with one of these outcomes; nothing leaves all. `words` have to stand in the
    id or in the reason. `lapsed` is the text of a step, as summaries count it, that was not
    executed as planned. A case without a score comes before those that have one.
    """

    levels: frozenset[float | None] = frozenset()
    outcomes: frozenset[Outcome] = frozenset()
    words: str = ""
    lapsed: str = ""
    order: Order = Order.POSITION
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Tally:
    """How many cases of a run have which level, or which outcome without a score."""

    levels: dict[float, int] = field(default_factory=lambda: dict.fromkeys(LEVELS, 0))
    unscored: dict[str, int] = field(default_factory=dict[str, int])
    total: float = 0.0
    passed: int = 0

    @property
    def scored(self) -> int:
        """How many have a score."""
        return sum(self.levels.values())

    @property
    def cases(self) -> int:
        """How many there are."""
        return self.scored + sum(self.unscored.values())

    @property
    def mean(self) -> float | None:
        """The mean of those that have a score."""
        return self.total / self.scored if self.scored else None

    def __add__(self, other: Tally) -> Tally:
        outcomes = (*self.unscored, *other.unscored)
        return Tally(
            {level: count + other.levels[level] for level, count in self.levels.items()},
            {each: self.unscored.get(each, 0) + other.unscored.get(each, 0) for each in outcomes},
            self.total + other.total,
            self.passed + other.passed,
        )


def results_of(
    database: Database, run_id: str, wanted: Wanted, *, first: int, most: int
) -> list[Result]:
    """Some of the cases that are wanted, from the first-th of them on."""
    chosen = select(schema.results, schema.verdicts.c.content).select_from(_JOINED)
    page = _filtered(chosen, run_id, wanted).order_by(*_order(wanted)).offset(first).limit(most)
    with database.reading() as connection:
        return [row_mapping.result_of(row) for row in connection.execute(page)]


def count_of(database: Database, run_id: str, wanted: Wanted) -> int:
    """How many cases are wanted."""
    counted = _filtered(select(func.count()).select_from(_JOINED), run_id, wanted)
    with database.reading() as connection:
        return connection.execute(counted).scalar_one()


def tallies(database: Database, run_ids: Sequence[str], *, min_score: float) -> dict[str, Tally]:
    """What each of these runs comes to, counted in the database."""
    verdicts, run = schema.verdicts.c, schema.results.c.run
    passed = func.sum(case((verdicts.score >= min_score, 1), else_=0))
    grouped = (
        select(
            run, verdicts.level, verdicts.outcome, func.count(), func.sum(verdicts.score), passed
        )
        .select_from(_JOINED)
        .where(run.in_(run_ids))
        .group_by(run, verdicts.level, verdicts.outcome)
    )
    found = {run_id: Tally() for run_id in run_ids}
    with database.reading() as connection:
        for run_id, level, outcome, count, total, passing in connection.execute(grouped):
            levels = {} if level is None else {level: count}
            unscored = {outcome: count} if level is None else {}
            one = Tally(dict.fromkeys(LEVELS, 0) | levels, unscored, total or 0.0, passing)
            found[run_id] += one
    return found


def _filtered(query: Select[Any], run_id: str, wanted: Wanted) -> Select[Any]:
    conditions: list[ColumnElement[bool]] = [schema.results.c.run == run_id]
    if wanted.levels:
        level = schema.verdicts.c.level
        scored = [each for each in wanted.levels if each is not None]
        unscored = [level.is_(None)] if None in wanted.levels else []
        conditions.append(or_(level.in_(scored), *unscored))
    if wanted.outcomes:
        conditions.append(schema.verdicts.c.outcome.in_(sorted(wanted.outcomes)))
    if words := row_mapping.plain(wanted.words).strip().lower():
        texts = (schema.results.c.id, schema.verdicts.c.reason)
        conditions.append(
            or_(*(func.lower(text).contains(words, autoescape=True) for text in texts))
        )
    if wanted.lapsed:
        conditions.append(_lapsed(row_mapping.plain(wanted.lapsed)))
    return query.where(and_(*conditions))


def _lapsed(text: str) -> ColumnElement[bool]:
    """Whether a step with this text, or with one that begins so if it was cut, lapsed."""
    findings = schema.findings.c
    written = func.replace(func.replace(findings.text, "\n", " "), "  ", " ")
    same = written == text
    if len(text) >= LONGEST_TEXT:
        same = written.startswith(text, autoescape=True)
    return exists(
        select(findings.place).where(
            findings.verdict == schema.results.c.verdict,
            findings.sort == "step",
            findings.status != Status.EXECUTED.value,
            same,
        )
    )


def _order(wanted: Wanted) -> list[ColumnElement[Any]]:
    by: dict[Order, ColumnElement[Any]] = {
        Order.POSITION: schema.results.c.position,
        Order.NAME: func.coalesce(schema.results.c.id, ""),
        Order.SCORE: func.coalesce(schema.verdicts.c.score, _BELOW_ALL),
        Order.SECONDS: schema.results.c.seconds,
    }
    first = by[wanted.order]
    return [first.desc() if wanted.descending else first, schema.results.c.position]
