"""Local engine: processes on all cores for computing judges, concurrency for model judges.

Cases are taken as they are read, and results are yielded in the same order. The number of cases in
progress is bounded, so memory does not grow with the data set.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Protocol, TypeAlias

from planproof.core.verdict import Verdict
from planproof.errors import RunFailed
from planproof.evaluation import is_async_judge
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.engines.process_pool import ProcessWorker, TimedVerdict, count_cores
from planproof.runs.run_records import Result, StoredCase, is_final

DEFAULT_MODEL_CONCURRENCY = 8
"""Default number of cases about which a model is asked concurrently."""
_CHUNK_LENGTH = 500_000
"""Characters of cases after which a chunk is submitted, even with few cases."""


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """A case to be judged: its position in the run, and its stored form."""

    position: int
    line: CaseLine
    stored_case: StoredCase | None

    @property
    def hash(self) -> str:
        """The content hash of the case; empty if it could not be read."""
        return "" if self.stored_case is None else self.stored_case.hash

    @property
    def where(self) -> str:
        """The location of the case in its data set."""
        return self.line.where


ResultWithCase: TypeAlias = tuple[Result, StoredCase | None]
VerdictLookup: TypeAlias = Callable[[Collection[str]], Mapping[str, Verdict]]
"""Returns verdicts that can be reused, by case hash."""


class Worker(Protocol):
    """Judges chunks of a run.

    At most `max_in_flight` chunks of `chunk_size` cases run at once. Up to `lookahead` times as
    many results may wait for a slow one.
    """

    max_in_flight: int
    lookahead: int

    @property
    def chunk_size(self) -> int:
        """Number of cases in a chunk."""
        ...

    def submit(self, lines: list[CaseLine]) -> Future[list[TimedVerdict]]:
        """Start judging some cases."""
        ...


def judge_locally(
    tasks: Iterable[JudgeTask | Result],
    evaluator: CaseEvaluator,
    find_known: VerdictLookup,
    concurrency: int | None = None,
) -> Generator[ResultWithCase, None, None]:
    """Yield the results of all tasks in order, with the cases; existing results pass through.

    `concurrency` is the number of processes, or of cases about which a model is asked at once. A
    repeated case is judged once. If the caller stops, running work is cancelled.
    """
    if is_async_judge(evaluator.judge):
        yield from judge_with_worker(
            _ModelWorker(evaluator, concurrency or DEFAULT_MODEL_CONCURRENCY),
            tasks,
            evaluator,
            find_known,
        )
        return
    with ProcessWorker(evaluator, concurrency or count_cores()) as worker:
        try:
            yield from judge_with_worker(worker, tasks, evaluator, find_known)
        except BrokenProcessPool as error:
            raise RunFailed(
                "a worker process was killed, possibly out of memory.",
                advice="Results so far are stored. Continue with --resume; if it happens again, "
                "add --concurrency 1.",
            ) from error


def judge_with_worker(
    worker: Worker,
    tasks: Iterable[JudgeTask | Result],
    evaluator: CaseEvaluator,
    find_known: VerdictLookup,
) -> Generator[ResultWithCase, None, None]:
    """Judge tasks like `judge_locally`, with a worker given by the caller."""
    yield from _Engine(worker, evaluator, find_known).iter_results(tasks)


@dataclass(frozen=True, slots=True)
class _PendingVerdict:
    """A verdict to come: the chunk's future, the index in it, and the first task's position."""

    verdicts: Future[list[TimedVerdict]]
    index: int
    position: int


@dataclass(frozen=True, slots=True)
class _QueuedTask:
    """A task waiting for its verdict."""

    task: JudgeTask
    pending: _PendingVerdict


class _Engine:
    """Keeps results in order and bounds the work in progress."""

    def __init__(self, worker: Worker, evaluator: CaseEvaluator, find_known: VerdictLookup) -> None:
        self._worker = worker
        self._evaluator = evaluator
        self._find_known = find_known
        self._queue: deque[ResultWithCase | _QueuedTask] = deque()
        self._running: set[Future[list[TimedVerdict]]] = set()
        self._pending: dict[str, _PendingVerdict] = {}

    def iter_results(self, tasks: Iterable[JudgeTask | Result]) -> Iterator[ResultWithCase]:
        """Yield all results in order."""
        worker = self._worker
        try:
            for chunk in _split_into_chunks(tasks, worker):
                self._enqueue(chunk)
                while len(self._running) >= worker.max_in_flight:
                    self._running = set(wait(self._running, return_when=FIRST_COMPLETED).not_done)
                most = worker.max_in_flight * worker.lookahead * worker.chunk_size
                while self._queue and (len(self._queue) > most or self._is_ready()):
                    yield self._pop_first()
            while self._queue:
                yield self._pop_first()
        finally:
            for future in self._running:
                future.cancel()

    def _enqueue(self, chunk: list[JudgeTask | Result]) -> None:
        tasks = [task for task in chunk if isinstance(task, JudgeTask)]
        unseen = {
            task.hash: task for task in tasks if task.stored_case and task.hash not in self._pending
        }
        known = self._find_known(unseen.keys())
        new = [task for task in unseen.values() if task.hash not in known]
        if new:
            future = self._worker.submit([task.line for task in new])
            self._running.add(future)
            for index, task in enumerate(new):
                self._pending[task.hash] = _PendingVerdict(future, index, task.position)
        for task in chunk:
            if isinstance(task, Result):
                self._queue.append((task, None))
            elif task.stored_case is None:
                self._queue.append(_build_result(task, self._evaluator.evaluate(task.line), 0.0))
            elif (verdict := known.get(task.hash)) is not None:
                self._queue.append(_build_result(task, verdict, 0.0))
            else:
                self._queue.append(_QueuedTask(task, self._pending[task.hash]))

    def _is_ready(self) -> bool:
        first = self._queue[0]
        return not isinstance(first, _QueuedTask) or first.pending.verdicts.done()

    def _pop_first(self) -> ResultWithCase:
        first = self._queue.popleft()
        if not isinstance(first, _QueuedTask):
            return first
        task, pending = first.task, first.pending
        verdict, seconds = pending.verdicts.result()[pending.index]
        if pending.position == task.position:
            self._pending.pop(task.hash)
            return _build_result(task, verdict, seconds)
        if is_final(verdict):
            return _build_result(task, replace(verdict, cost=None), 0.0)
        # The failure names the location of the other case, or may not occur again.
        (rejudged,) = self._worker.submit([task.line]).result()
        return _build_result(task, *rejudged)


def _split_into_chunks(
    tasks: Iterable[JudgeTask | Result], worker: Worker
) -> Iterator[list[JudgeTask | Result]]:
    chunk: list[JudgeTask | Result] = []
    length = 0
    for task in tasks:
        chunk.append(task)
        if isinstance(task, JudgeTask) and task.stored_case is not None:
            length += len(task.stored_case.text)
        if len(chunk) >= worker.chunk_size or length >= _CHUNK_LENGTH:
            yield chunk
            chunk, length = [], 0
    if chunk:
        yield chunk


def _build_result(task: JudgeTask, verdict: Verdict, seconds: float) -> ResultWithCase:
    """Build the result of a task with its own id and metadata, also for a reused verdict."""
    case = task.line.case
    case_verdict = replace(
        verdict,
        id=task.line.id if case is None else case.id,
        metadata={} if case is None else case.metadata,
    )
    return Result(
        task.position, task.hash, case_verdict.id, case_verdict, seconds
    ), task.stored_case


class _ModelWorker:
    """Asks a model about many cases concurrently, on the background event loop."""

    chunk_size = 1
    lookahead = 8

    def __init__(self, evaluator: CaseEvaluator, concurrency: int) -> None:
        self.max_in_flight = concurrency
        self._evaluator = evaluator

    def submit(self, lines: list[CaseLine]) -> Future[list[TimedVerdict]]:
        """Start asking."""
        from planproof.core.async_bridge import submit  # noqa: PLC0415 - loads asyncio

        return submit(self._ask(lines))

    async def _ask(self, lines: list[CaseLine]) -> list[TimedVerdict]:
        verdicts: list[TimedVerdict] = []
        for line in lines:
            began = perf_counter()
            verdict = await self._evaluator.aevaluate(line)
            verdicts.append((verdict, perf_counter() - began))
        return verdicts
