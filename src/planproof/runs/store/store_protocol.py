"""What a store is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from planproof.core.verdict import Verdict
from planproof.runs.run_records import Result, Run, RunState, StoredCase


class Store(Protocol):
    """Keeps runs, their results and cases. Several processes may use one at once.

    Every method raises `StoreFailed` when the store can't be reached or has no room; what was
    added before stays.
    """

    @property
    def url(self) -> str:
        """Its address, without a password."""
        ...

    @property
    def is_persistent(self) -> bool:
        """Whether anything is kept at all."""
        ...

    def begin(self, run: Run) -> None:
        """Enter a run; one that is entered already is going on."""
        ...

    def add(self, run_id: str, results: Sequence[Result], cases: Sequence[StoredCase]) -> None:
        """Keep results, and the cases they are about: all of them, or none.

        What is kept already, a result by its position and a case by its hash, stays as it is.
        """
        ...

    def close_run(self, run_id: str, state: RunState) -> None:
        """Say how a run ended."""
        ...

    def list_runs(
        self, limit: int | None = None, tags: Mapping[str, str] | None = None
    ) -> list[Run]:
        """Runs with these tags, the newest first."""
        ...

    def find_run(self, name: str) -> Run:
        """The run with this id, the only one whose id begins so, or the `latest`."""
        ...

    def iter_results(self, run_id: str) -> Iterator[Result]:
        """The results of a run in order of position, read piece by piece."""
        ...

    def get_result(self, run_id: str, case: str | int) -> Result:
        """The result on the case with this id, or at this position."""
        ...

    def find_verdicts(self, cases: Collection[str], fingerprint: str) -> dict[str, Verdict]:
        """Verdicts on cases that a run of this fingerprint has judged, by the hash of the case.

        They lack id and metadata, which belong to the data set. A failure is no verdict.
        """
        ...

    def get_case(self, case_hash: str) -> StoredCase:
        """The case with this content hash."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class StoreFactory(Protocol):
    """What the entry points in the group `planproof.stores` name; they are found by URL scheme."""

    def __call__(self, url: str) -> Store:
        """The store at this address, made if need be, with everything that it needs in it."""
        ...
