"""What the pages read from the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from planproof.preparation import Reading
from planproof.reports.html.case_data import JudgedCase
from planproof.reports.html.page import judged_in_store
from planproof.runs.comparison import Comparison, compare
from planproof.runs.nouns import Result, Run
from planproof.runs.store.looking import Tally, Wanted, count_of, results_of, tallies
from planproof.runs.store.sql import SqlStore
from planproof.runs.summary import Summary, summarize
from planproof.server.pages.remembering import Remembered

_MOST_SUMMARIES = 64
_MOST_COMPARISONS = 16


@dataclass(frozen=True, slots=True)
class Records:
    """Runs, cases and what they come to. Everything here may take a while: call it in a thread."""

    store: SqlStore
    min_score: float
    _summaries: Remembered[Summary] = field(default_factory=lambda: Remembered(_MOST_SUMMARIES))
    _comparisons: Remembered[Comparison] = field(
        default_factory=lambda: Remembered(_MOST_COMPARISONS)
    )

    def tallies(self, runs: Sequence[Run]) -> dict[str, Tally]:
        """The scores of these runs, by their ids."""
        return tallies(self.store.database, [run.id for run in runs], min_score=self.min_score)

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
        tally = self.tallies([run])[run.id]
        return (run.id, *tally.levels.values(), *sorted(tally.unscored.items()), tally.total)
