"""A page of a run, and counts of many, are the same in every database, and what plain loops say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from planproof.core.verdict import Measures, Outcome
from planproof.runs.store.open_store import open_store
from planproof.runs.store.queries import (
    ResultFilter,
    ResultOrder,
    RunTally,
    count_results,
    query_results,
    query_tallies,
)
from planproof.runs.store.sql_store import SqlStore
from planproof.runs.summary import summarize
from tests.run_builders import RUN, failed_verdict, result, scored_verdict

WHOLE = Measures(step_share=1.0)
HALF = Measures(step_share=0.5, action_share=0.5)
RESULTS = [
    result(0, replace(scored_verdict(1.0, "EE"), measures=WHOLE), id="refund-1", seconds=0.5),
    result(1, scored_verdict(0.25, "EL"), id="Refund-2", seconds=0.1),
    result(2, failed_verdict(cause="timeout"), id="late"),
    result(3, scored_verdict(0.25, "LL"), id="100% sure", seconds=0.7),
    result(4, failed_verdict(Outcome.NO_PLAN), id=None),
    result(5, replace(scored_verdict(0.8, "EE"), measures=HALF), id="100x", seconds=0.2),
]


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    opened = open_store(store_url)
    assert isinstance(opened, SqlStore)
    opened.begin(RUN)
    opened.add(RUN.id, RESULTS, [])
    yield opened
    opened.close()


def positions(store: SqlStore, wanted: ResultFilter, first: int = 0, most: int = 100) -> list[int]:
    found = query_results(store.database, RUN.id, wanted, offset=first, limit=most)
    return [result.position for result in found]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (ResultFilter(), [0, 1, 2, 3, 4, 5]),
        (ResultFilter(descending=True), [5, 4, 3, 2, 1, 0]),
        (ResultFilter(order=ResultOrder.SCORE), [2, 4, 1, 3, 5, 0]),
        (ResultFilter(order=ResultOrder.SCORE, descending=True), [0, 5, 1, 3, 2, 4]),
        (ResultFilter(order=ResultOrder.SECONDS, descending=True), [3, 0, 5, 1, 2, 4]),
        (ResultFilter(levels=frozenset({0.25})), [1, 3]),
        (ResultFilter(levels=frozenset({None, 1.0})), [0, 2, 4]),
        (ResultFilter(levels=frozenset({None})), [2, 4]),
        (ResultFilter(words="REFUND"), [0, 1]),
        (ResultFilter(words="100%"), [3]),
        (ResultFilter(words="it scores 0.8"), [5]),
        (ResultFilter(words="refund", levels=frozenset({0.25})), [1]),
        (ResultFilter(words="nowhere"), []),
        (ResultFilter(failed_step="Do thing 1"), [3]),
        (ResultFilter(failed_step="Do thing 2"), [1, 3]),
        (ResultFilter(failed_step="Do thing 2", levels=frozenset({1.0})), []),
        (ResultFilter(failed_step="Do thing 9"), []),
    ],
)
def test_wanted_cases_are_found_counted_and_paged(
    store: SqlStore, wanted: ResultFilter, found: list[int]
) -> None:
    assert positions(store, wanted) == found
    assert count_results(store.database, RUN.id, wanted) == len(found)
    assert positions(store, wanted, first=1, most=2) == found[1:3]


def test_names_are_in_order_and_what_has_none_comes_first(store: SqlStore) -> None:
    # How a database sorts capital letters is its own affair.
    assert positions(store, ResultFilter(order=ResultOrder.NAME))[0] == 4


def test_a_page_has_the_results_as_stored(store: SqlStore) -> None:
    page = query_results(store.database, RUN.id, ResultFilter(), offset=0, limit=10)
    assert page == list(store.iter_results(RUN.id))


def test_a_tally_counts_what_a_summary_counts(store: SqlStore) -> None:
    found = query_tallies(store.database, [RUN.id, "another"], min_score=0.75)
    summary = summarize(RESULTS, min_score=0.75)
    tally = found[RUN.id]
    assert tally.levels == summary.levels
    assert tally.unscored == {"judge_failed": 1, "no_plan": 1}
    assert (tally.cases, tally.scored, tally.passed) == (6, 4, summary.passed)
    assert tally.mean == pytest.approx(summary.mean)
    assert tally.measures == summary.measures == Measures(step_share=0.75, action_share=0.5)
    assert found["another"] == RunTally()
    assert found["another"].mean is None
    assert query_tallies(store.database, [], min_score=0.75) == {}
