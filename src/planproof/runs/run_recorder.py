"""A run while it goes on: what is judged goes into the store, a few results at a time."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from time import monotonic
from types import TracebackType
from typing import Protocol, Self, TypeVar

from planproof.core.verdict import Verdict
from planproof.errors import InvalidInput, StoreFailed
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.case_json import kept
from planproof.runs.engines.local import Judged, Task
from planproof.runs.run_records import KeptCase, Result, Run, RunState, is_lasting
from planproof.runs.store.store_protocol import Store

_MOST_WAITING = 64
_LONGEST_WAIT = 1.0
"""Results, and seconds, after which those that wait are kept: what a kill costs at the most."""


class _PlacedCase(Protocol):
    """A case of the data set: its position in the run, its content hash, and where it stands."""

    @property
    def position(self) -> int: ...

    @property
    def hash(self) -> str: ...

    @property
    def where(self) -> str: ...


_Placed = TypeVar("_Placed", bound=_PlacedCase)


class Keeping:
    """Enters a run, keeps its results, and says in the end how it ended.

    What the run has already is not judged again. Nor is what another run has judged in the same
    way, unless `anew`.
    """

    def __init__(self, store: Store, run: Run, *, anew: bool = False) -> None:
        self._store = store
        self._run = run
        self._anew = anew
        self._waiting: list[Judged] = []
        self._kept_at = monotonic()

    def __enter__(self) -> Self:
        self._store.begin(self._run)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._flush()
            self._store.close_run(self._run.id, RunState.FINISHED)
            return
        # When it is the store itself that failed, that is told, and not that it failed again.
        with suppress(StoreFailed):
            self._flush()
            self._store.close_run(self._run.id, RunState.INTERRUPTED)

    def tasks(self, lines: Iterable[tuple[int, CaseLine]]) -> Generator[Task | Result, None, None]:
        """What is to be judged, and the results that are there already, in order of position."""
        return self.merged(
            Task(position, line, None if line.case is None else kept(line.case))
            for position, line in lines
        )

    def merged(
        self, found: Generator[_Placed, None, None]
    ) -> Generator[_Placed | Result, None, None]:
        """What was found, or the result on the same case that is there already."""
        there = self._store.results(self._run.id) if self._run.cases else iter(())
        result = next(there, None)
        with closing(found):
            for each in found:
                if result is None or result.position > each.position:
                    yield each
                    continue
                if (result.position, result.case) != (each.position, each.hash):
                    raise _changed(each.where)
                yield result
                result = next(there, None)
        if result is not None:
            raise _changed(self._run.source)

    def known(self, cases: Collection[str]) -> dict[str, Verdict]:
        """Verdicts that need not be found again, by the hash of the case."""
        if self._anew or not cases:
            return {}
        known = self._store.judged(cases, self._run.fingerprint)
        for result, _ in self._waiting:
            if result.case in cases and is_lasting(result.verdict):
                known[result.case] = replace(result.verdict, cost=None)
        return known

    def keep(self, judged: Iterable[Judged]) -> Iterator[Result]:
        """The results, which are kept on their way."""
        for result, case in judged:
            if case is None and result.case:
                # It was there already.
                yield result
                continue
            self._waiting.append((result, case))
            if len(self._waiting) >= _MOST_WAITING or monotonic() - self._kept_at > _LONGEST_WAIT:
                self._flush()
            yield result

    def _flush(self) -> None:
        if self._waiting:
            cases: dict[str, KeptCase] = {
                case.hash: case for _, case in self._waiting if case is not None
            }
            results = [result for result, _ in self._waiting]
            self._store.add(self._run.id, results, list(cases.values()))
            self._waiting = []
        self._kept_at = monotonic()


def _changed(where: str) -> InvalidInput:
    return InvalidInput(
        "the cases are not those that the run began with.",
        where=where,
        advice="Start a new run, without --resume: a case that is judged is not judged again.",
    )
