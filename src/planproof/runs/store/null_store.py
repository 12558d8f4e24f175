"""The store that keeps nothing, for runs whose results are only written out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NoReturn

from planproof.core.verdict import Verdict
from planproof.errors import InvalidInput
from planproof.runs.run_records import KeptCase, Result, Run, RunState


class NothingKept:
    """Takes everything and keeps none of it."""

    url = "none"
    keeps = False

    def begin(self, run: Run) -> None:
        """Nothing is entered."""

    def add(self, run_id: str, results: Sequence[Result], cases: Sequence[KeptCase]) -> None:
        """Nothing is kept."""

    def close_run(self, run_id: str, state: RunState) -> None:
        """There is nothing to close."""

    def runs(self, limit: int | None = None, tags: Mapping[str, str] | None = None) -> list[Run]:
        """There are none."""
        del limit, tags
        return []

    def find(self, name: str) -> NoReturn:
        """There is none."""
        raise _nothing(f"run `{name}`")

    def results(self, run_id: str) -> Iterator[Result]:
        """There are none."""
        del run_id
        return iter(())

    def result(self, run_id: str, case: str | int) -> NoReturn:
        """There is none."""
        raise _nothing(f"result {run_id} `{case}`")

    def judged(self, cases: Collection[str], fingerprint: str) -> dict[str, Verdict]:
        """Nothing is known."""
        del cases, fingerprint
        return {}

    def case(self, case_hash: str) -> NoReturn:
        """There is none."""
        raise _nothing(f"case {case_hash}")

    def close(self) -> None:
        """There is nothing to let go of."""


def _nothing(what: str) -> InvalidInput:
    return InvalidInput(
        f"there is no {what}: the store `none` keeps nothing.", advice="Name another with --store."
    )
