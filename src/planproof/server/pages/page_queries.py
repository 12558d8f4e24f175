"""What the pages read from the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from planproof.preparation import Reading
from planproof.reports.html.case_page import JudgedCase
from planproof.reports.html.report_page import judged_in_store
from planproof.runs.compare import Comparison, compare
from planproof.runs.run_records import Result, Run, RunState
from planproof.runs.store.queries import Tally, Wanted, count_of, results_of, tallies
from planproof.runs.store.sql_store import SqlStore
from planproof.runs.summary import Summary, summarize
from planproof.server.pages.timed_cache import Remembered

_MOST_RUNS = 200
_MOST_TALLIES = 2_000
_MOST_SUMMARIES = 64
_MOST_COMPARISONS = 16


@dataclass(frozen=True, slots=True)
class Records:
    """Runs, cases and what they come to. Everything here may take a while: call it in a thread."""

    store: SqlStore
    min_score: float
    _tallies: Remembered[Tally] = field(default_factory=lambda: Remembered(_MOST_TALLIES))
    _summaries: Remembered[Summary] = field(default_factory=lambda: Remembered(_MOST_SUMMARIES))
    _comparisons: Remembered[Comparison] = field(
        default_factory=lambda: Remembered(_MOST_COMPARISONS)
    )

    def recent(self, most: int = _MOST_RUNS, tags: Mapping[str, str] | None = None) -> list[Run]:
        """The last so many runs with these tags, the newest first."""
        return self.store.runs(limit=most, tags=tags)

    def tally(self, run: Run) -> Tally:
        """The scores of a run; of a finished one they are counted once."""

        def counted() -> Tally:
            return tallies(self.store.database, [run.id], min_score=self.min_score)[run.id]

        if run.state is not RunState.FINISHED:
            return counted()
        return self._tallies.get((run.id, run.cases), counted)

    def summary(self, run: Run) -> Summary:
        """What a run comes to; worked out anew when its scores are others."""
        return self._summaries.get(
            self._state(run),
            lambda: summarize(self.store.results(run.id), min_score=self.min_score),
        )

    def comparison(self, base: Run, new: Run) -> Comparison:
        """What changed from one run to another."""
        return self._comparisons.get(
            (self._state(base), self._state(new)),
            lambda: compare(
                self.store.results(base.id), self.store.results(new.id), min_score=self.min_score
            ),
        )

    def results(self, run: Run, wanted: Wanted, *, first: int, most: int) -> list[Result]:
        """Some of the cases of a run."""
        return results_of(self.store.database, run.id, wanted, first=first, most=most)

    def count(self, run: Run, wanted: Wanted) -> int:
        """How many cases of a run are wanted."""
        return count_of(self.store.database, run.id, wanted)

    def judged(self, result: Result, reading: Reading) -> JudgedCase:
        """A case with its verdict, its trace read again."""
        return judged_in_store(result, self.store, reading)

    def _state(self, run: Run) -> tuple[object, ...]:
        tally = self.tally(run)
        return (run.id, *tally.levels.values(), *sorted(tally.unscored.items()), tally.total)
