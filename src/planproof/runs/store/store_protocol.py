"""The `Store` protocol: stores runs, their results and cases."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from planproof.core.verdict import Verdict
from planproof.runs.run_records import Result, Run, RunState, StoredCase


class Store(Protocol):
    """Stores runs, their results and cases. Several processes may use one at once.

    Every method raises `StoreFailed` if the store can't be reached or is full; what was added
    before is kept.
    """

    @property
    def url(self) -> str:
        """The address, without a password."""
        ...

    @property
    def is_persistent(self) -> bool:
        """True if anything is stored at all."""
        ...

    def begin(self, run: Run) -> None:
        """Register a run; one that is registered already is resumed."""
        ...

    def add(self, run_id: str, results: Sequence[Result], cases: Sequence[StoredCase]) -> None:
        """Store results and their cases: all of them, or none.

        Existing results (by position) and cases (by hash) are unchanged.
        """
        ...

    def close_run(self, run_id: str, state: RunState) -> None:
        """Set the final state of a run."""
        ...

    def list_runs(
        self, limit: int | None = None, tags: Mapping[str, str] | None = None
    ) -> list[Run]:
        """Return the runs with these tags, newest first."""
        ...

    def find_run(self, name: str) -> Run:
        """Return the run with this id or unique prefix of an id, or the `latest`."""
        ...

    def iter_results(self, run_id: str) -> Iterator[Result]:
        """Yield the results of a run in order of position, page by page."""
        ...

    def get_result(self, run_id: str, case: str | int) -> Result:
        """Return the result on the case with this id or at this position."""
        ...

    def find_verdicts(self, cases: Collection[str], fingerprint: str) -> dict[str, Verdict]:
        """Return verdicts of runs with this fingerprint on these cases, by case hash.

        They lack id and metadata, which belong to the data set. Failures are not included.
        """
        ...

    def get_case(self, case_hash: str) -> StoredCase:
        """Return the case with this content hash."""
        ...

    def close(self) -> None:
        """Close the store."""
        ...


class StoreFactory(Protocol):
    """Type of the entry points in the group `planproof.stores`, found by URL scheme."""

    def __call__(self, url: str) -> Store:
        """Open the store at this address, creating it and its tables if needed."""
        ...
