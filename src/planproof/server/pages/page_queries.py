"""Cached store queries for the pages."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

from planproof.evaluation import ReadOptions
from planproof.reports.html.case_page import JudgedCase
from planproof.reports.html.report_page import load_judged_case
from planproof.runs.compare import Comparison, compare
from planproof.runs.run_records import Result, Run, RunState
from planproof.runs.store.queries import (
    ResultFilter,
    RunTally,
    count_results,
    query_results,
    query_tallies,
)
from planproof.runs.store.sql_store import SqlStore
from planproof.runs.summary import Summary, summarize

_MAX_RUNS = 200
_MAX_TALLIES = 2_000
_MAX_SUMMARIES = 64
_MAX_COMPARISONS = 16


@dataclass(frozen=True, slots=True)
class RunQueries:
    """Query runs, cases, summaries and comparisons. All methods block: call them in a thread."""

    store: SqlStore
    min_score: float
    _tallies: ThreadSafeCache[RunTally] = field(
        default_factory=lambda: ThreadSafeCache(_MAX_TALLIES)
    )
    _summaries: ThreadSafeCache[Summary] = field(
        default_factory=lambda: ThreadSafeCache(_MAX_SUMMARIES)
    )
    _comparisons: ThreadSafeCache[Comparison] = field(
        default_factory=lambda: ThreadSafeCache(_MAX_COMPARISONS)
    )

    def list_recent_runs(
        self, limit: int = _MAX_RUNS, tags: Mapping[str, str] | None = None
    ) -> list[Run]:
        """Return the last `limit` runs with these tags, newest first."""
        return self.store.list_runs(limit=limit, tags=tags)

    def get_tally(self, run: Run) -> RunTally:
        """Return the score counts of a run; cached for finished runs."""

        def count_scores() -> RunTally:
            return query_tallies(self.store.database, [run.id], min_score=self.min_score)[run.id]

        if run.state is not RunState.FINISHED:
            return count_scores()
        return self._tallies.get_or_compute((run.id, run.cases), count_scores)

    def get_summary(self, run: Run) -> Summary:
        """Return the summary of a run; computed again when its scores change."""
        return self._summaries.get_or_compute(
            self._cache_key(run),
            lambda: summarize(self.store.iter_results(run.id), min_score=self.min_score),
        )

    def get_comparison(self, base: Run, new: Run) -> Comparison:
        """Return the comparison of two runs."""
        return self._comparisons.get_or_compute(
            (self._cache_key(base), self._cache_key(new)),
            lambda: compare(
                self.store.iter_results(base.id),
                self.store.iter_results(new.id),
                min_score=self.min_score,
            ),
        )

    def list_results(
        self, run: Run, result_filter: ResultFilter, *, first: int, limit: int
    ) -> list[Result]:
        """Return a page of the results of a run."""
        return query_results(self.store.database, run.id, result_filter, offset=first, limit=limit)

    def count_results(self, run: Run, result_filter: ResultFilter) -> int:
        """Return the number of results of a run that match the filter."""
        return count_results(self.store.database, run.id, result_filter)

    def load_judged_case(self, result: Result, reading: ReadOptions) -> JudgedCase:
        """Read the trace of a result again, and return the case with its verdict."""
        return load_judged_case(result, self.store, reading)

    def _cache_key(self, run: Run) -> tuple[object, ...]:
        tally = self.get_tally(run)
        return (run.id, *tally.levels.values(), *sorted(tally.unscored.items()), tally.total)


Value = TypeVar("Value")


class ThreadSafeCache(Generic[Value]):
    """A least-recently-used cache of computed values.

    When several threads ask for a value, the first one computes it and the others wait.
    """

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._futures: OrderedDict[Hashable, Future[Value]] = OrderedDict()
        self._lock = Lock()

    def get_or_compute(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return the value of the key; compute it if it is not cached."""
        new_future: Future[Value] = Future()
        with self._lock:
            known = self._futures.get(key)
            self._futures[key] = known or new_future
            self._futures.move_to_end(key)
            if len(self._futures) > self._max_size:
                self._futures.popitem(last=False)
        if known is not None:
            return known.result()
        try:
            new_future.set_result(compute())
        except BaseException as error:
            new_future.set_exception(error)
            with self._lock:
                self._futures.pop(key, None)
            raise
        return new_future.result()
