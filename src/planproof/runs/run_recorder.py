"""Record a run: write results to the store in small batches while cases are judged."""

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
from planproof.runs.engines.local import JudgeTask, ResultWithCase
from planproof.runs.run_records import Result, Run, RunState, StoredCase, is_final, serialize_case
from planproof.runs.store.store_protocol import Store

_MAX_BUFFERED = 64
_MAX_BUFFER_SECONDS = 1.0
"""Results, and seconds, after which buffered results are stored: the most a kill can lose."""


class _PositionedCase(Protocol):
    """A case of the data set: its position in the run, content hash, and location."""

    @property
    def position(self) -> int: ...

    @property
    def hash(self) -> str: ...

    @property
    def where(self) -> str: ...


_PositionedCaseT = TypeVar("_PositionedCaseT", bound=_PositionedCase)


class RunRecorder:
    """Registers a run, stores its results and its final state.

    Cases that already have a result in the run are not judged again, nor are cases that another run
    has judged in the same way, unless `no_cache` is set.
    """

    def __init__(self, store: Store, run: Run, *, no_cache: bool = False) -> None:
        self._store = store
        self._run = run
        self._no_cache = no_cache
        self._buffer: list[ResultWithCase] = []
        self._flushed_at = monotonic()

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
        # If the store itself failed, report that error and not the next one.
        with suppress(StoreFailed):
            self._flush()
            self._store.close_run(self._run.id, RunState.INTERRUPTED)

    def iter_tasks(
        self, lines: Iterable[tuple[int, CaseLine]]
    ) -> Generator[JudgeTask | Result, None, None]:
        """Yield the tasks to judge and the results already stored, in order of position."""
        return self.merge_stored_results(
            JudgeTask(position, line, None if line.case is None else serialize_case(line.case))
            for position, line in lines
        )

    def merge_stored_results(
        self, cases: Generator[_PositionedCaseT, None, None]
    ) -> Generator[_PositionedCaseT | Result, None, None]:
        """Yield each case, or the stored result for it if there is one."""
        stored_results = self._store.iter_results(self._run.id) if self._run.cases else iter(())
        result = next(stored_results, None)
        with closing(cases):
            for case in cases:
                if result is None or result.position > case.position:
                    yield case
                    continue
                if (result.position, result.case) != (case.position, case.hash):
                    raise _make_cases_changed_error(case.where)
                yield result
                result = next(stored_results, None)
        if result is not None:
            raise _make_cases_changed_error(self._run.source)

    def find_known_verdicts(self, cases: Collection[str]) -> dict[str, Verdict]:
        """Return verdicts that can be reused, by case hash."""
        if self._no_cache or not cases:
            return {}
        verdicts = self._store.find_verdicts(cases, self._run.fingerprint)
        for result, _ in self._buffer:
            if result.case in cases and is_final(result.verdict):
                verdicts[result.case] = replace(result.verdict, cost=None)
        return verdicts

    def record(self, judged: Iterable[ResultWithCase]) -> Iterator[Result]:
        """Yield the results, and store them on the way."""
        for result, case in judged:
            if case is None and result.case:
                # Already stored.
                yield result
                continue
            self._buffer.append((result, case))
            if (
                len(self._buffer) >= _MAX_BUFFERED
                or monotonic() - self._flushed_at > _MAX_BUFFER_SECONDS
            ):
                self._flush()
            yield result

    def _flush(self) -> None:
        if self._buffer:
            cases: dict[str, StoredCase] = {
                case.hash: case for _, case in self._buffer if case is not None
            }
            results = [result for result, _ in self._buffer]
            self._store.add(self._run.id, results, list(cases.values()))
            self._buffer = []
        self._flushed_at = monotonic()


def _make_cases_changed_error(where: str) -> InvalidInput:
    return InvalidInput(
        "the cases have changed since the run started.",
        where=where,
        advice="Start a new run without --resume; cases already judged are reused.",
    )
