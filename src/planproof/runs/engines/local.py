"""The engine on this machine: all cores for judges that compute, many questions for those that ask.

Cases come in as they are read, and results go out in the same order; what is under way is bounded,
so that memory does not grow with the data set.
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
"""Cases about which a model is asked at once, unless somebody says otherwise."""
_CHUNK_LENGTH = 500_000
"""Characters of cases that make a piece of work, however few they are."""


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """A case to be judged: its place in the run, and what is kept of it."""

    position: int
    line: CaseLine
    stored_case: StoredCase | None

    @property
    def hash(self) -> str:
        """The content hash of the case; empty where none could be read."""
        return "" if self.stored_case is None else self.stored_case.hash

    @property
    def where(self) -> str:
        """The place of the case in its data set."""
        return self.line.where


ResultWithCase: TypeAlias = tuple[Result, StoredCase | None]
VerdictLookup: TypeAlias = Callable[[Collection[str]], Mapping[str, Verdict]]
"""Verdicts that need not be found again, by the hash of the case."""


class Worker(Protocol):
    """Judges pieces of a run: so many `at_once`, of so many `cases` each, so far `ahead`.

    `ahead` is how many times as many results may wait for one that is slow.
    """

    max_in_flight: int
    lookahead: int

    @property
    def chunk_size(self) -> int:
        """How many cases make a piece of work."""
        ...

    def submit(self, lines: list[CaseLine]) -> Future[list[TimedVerdict]]:
        """Begin to judge some cases."""
        ...


def judge_locally(
    tasks: Iterable[JudgeTask | Result],
    evaluator: CaseEvaluator,
    find_known: VerdictLookup,
    concurrency: int | None = None,
) -> Generator[ResultWithCase, None, None]:
    """The results of all tasks, in their order, with the cases; what is a result already passes.

    `at_once` is the number of processes, or of cases about which a model is asked. A case that
    comes twice is judged once. When the caller goes away, what is under way is called off.
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
                "a process that judged cases was killed, perhaps for want of memory.",
                advice="What was judged before is kept: go on with --resume, and with "
                "--concurrency 1 if it happens again.",
            ) from error


def judge_with_worker(
    worker: Worker,
    tasks: Iterable[JudgeTask | Result],
    evaluator: CaseEvaluator,
    find_known: VerdictLookup,
) -> Generator[ResultWithCase, None, None]:
    """The same by a worker of the caller's own."""
    yield from _Engine(worker, evaluator, find_known).iter_results(tasks)


@dataclass(frozen=True, slots=True)
class _PendingVerdict:
    """Where the verdict on a case will be: in which piece of work, and for whom it was begun."""

    verdicts: Future[list[TimedVerdict]]
    index: int
    position: int


@dataclass(frozen=True, slots=True)
class _QueuedTask:
    """A task whose result is to come."""

    task: JudgeTask
    pending: _PendingVerdict


class _Engine:
    """Keeps order, and keeps what is under way within bounds."""

    def __init__(self, worker: Worker, evaluator: CaseEvaluator, find_known: VerdictLookup) -> None:
        self._worker = worker
        self._evaluator = evaluator
        self._find_known = find_known
        self._queue: deque[ResultWithCase | _QueuedTask] = deque()
        self._running: set[Future[list[TimedVerdict]]] = set()
        self._pending: dict[str, _PendingVerdict] = {}

    def iter_results(self, tasks: Iterable[JudgeTask | Result]) -> Iterator[ResultWithCase]:
        """All results in order."""
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
        # What went wrong names the place of the other case, or may not go wrong again.
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
    """The result of a task. Id and metadata are this case's, whoever the verdict was found for."""
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
    """Asks a model about many cases at once, on the loop in the background."""

    chunk_size = 1
    lookahead = 8

    def __init__(self, evaluator: CaseEvaluator, concurrency: int) -> None:
        self.max_in_flight = concurrency
        self._evaluator = evaluator

    def submit(self, lines: list[CaseLine]) -> Future[list[TimedVerdict]]:
        """Begin to ask."""
        from planproof.core.async_bridge import submit  # noqa: PLC0415 - loads asyncio

        return submit(self._ask(lines))

    async def _ask(self, lines: list[CaseLine]) -> list[TimedVerdict]:
        verdicts: list[TimedVerdict] = []
        for line in lines:
            began = perf_counter()
            verdict = await self._evaluator.aevaluate(line)
            verdicts.append((verdict, perf_counter() - began))
        return verdicts
