"""The store that keeps nothing, for runs whose results are only written out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NoReturn

from planproof.core.verdict import Verdict
from planproof.errors import InvalidInput
from planproof.runs.run_records import Result, Run, RunState, StoredCase


class NullStore:
    """Takes everything and keeps none of it."""

    url = "none"
    is_persistent = False

    def begin(self, run: Run) -> None:
        """Nothing is entered."""

    def add(self, run_id: str, results: Sequence[Result], cases: Sequence[StoredCase]) -> None:
        """Nothing is kept."""

    def close_run(self, run_id: str, state: RunState) -> None:
        """There is nothing to close."""

    def list_runs(
        self, limit: int | None = None, tags: Mapping[str, str] | None = None
    ) -> list[Run]:
        """There are none."""
        del limit, tags
        return []

    def find_run(self, name: str) -> NoReturn:
        """There is none."""
        raise _make_not_stored_error(f"run `{name}`")

    def iter_results(self, run_id: str) -> Iterator[Result]:
        """There are none."""
        del run_id
        return iter(())

    def get_result(self, run_id: str, case: str | int) -> NoReturn:
        """There is none."""
        raise _make_not_stored_error(f"result {run_id} `{case}`")

    def find_verdicts(self, cases: Collection[str], fingerprint: str) -> dict[str, Verdict]:
        """Nothing is known."""
        del cases, fingerprint
        return {}

    def get_case(self, case_hash: str) -> NoReturn:
        """There is none."""
        raise _make_not_stored_error(f"case {case_hash}")

    def close(self) -> None:
        """There is nothing to let go of."""


def _make_not_stored_error(what: str) -> InvalidInput:
    return InvalidInput(
        f"there is no {what}: the store `none` keeps nothing.", advice="Name another with --store."
    )
