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
from planproof.evaluation import awaits
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.case_judging import Judging
from planproof.runs.engines.process_pool import Processes, Timed, cores
from planproof.runs.run_records import KeptCase, Result, is_lasting

MODEL_CASES = 8
"""Cases about which a model is asked at once, unless somebody says otherwise."""
_CHUNK_LENGTH = 500_000
"""Characters of cases that make a piece of work, however few they are."""


@dataclass(frozen=True, slots=True)
class Task:
    """A case to be judged: its place in the run, and what is kept of it."""

    position: int
    line: CaseLine
    kept: KeptCase | None

    @property
    def hash(self) -> str:
        """The content hash of the case; empty where none could be read."""
        return "" if self.kept is None else self.kept.hash

    @property
    def where(self) -> str:
        """The place of the case in its data set."""
        return self.line.where


Judged: TypeAlias = tuple[Result, KeptCase | None]
Known: TypeAlias = Callable[[Collection[str]], Mapping[str, Verdict]]
"""Verdicts that need not be found again, by the hash of the case."""


class Worker(Protocol):
    """Judges pieces of a run: so many `at_once`, of so many `cases` each, so far `ahead`.

    `ahead` is how many times as many results may wait for one that is slow.
    """

    at_once: int
    ahead: int

    @property
    def cases(self) -> int:
        """How many cases make a piece of work."""
        ...

    def begin(self, lines: list[CaseLine]) -> Future[list[Timed]]:
        """Begin to judge some cases."""
        ...


def judged_locally(
    tasks: Iterable[Task | Result], judging: Judging, known: Known, at_once: int | None = None
) -> Generator[Judged, None, None]:
    """The results of all tasks, in their order, with the cases; what is a result already passes.

    `at_once` is the number of processes, or of cases about which a model is asked. A case that
    comes twice is judged once. When the caller goes away, what is under way is called off.
    """
    if awaits(judging.judge):
        yield from judged_by(_Asking(judging, at_once or MODEL_CASES), tasks, judging, known)
        return
    with Processes(judging, at_once or cores()) as worker:
        try:
            yield from judged_by(worker, tasks, judging, known)
        except BrokenProcessPool as error:
            raise RunFailed(
                "a process that judged cases was killed, perhaps for want of memory.",
                advice="What was judged before is kept: go on with --resume, and with "
                "--concurrency 1 if it happens again.",
            ) from error


def judged_by(
    worker: Worker, tasks: Iterable[Task | Result], judging: Judging, known: Known
) -> Generator[Judged, None, None]:
    """The same by a worker of the caller's own."""
    yield from _Engine(worker, judging, known).results(tasks)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the verdict on a case will be: in which piece of work, and for whom it was begun."""

    verdicts: Future[list[Timed]]
    index: int
    position: int


@dataclass(frozen=True, slots=True)
class _Awaited:
    """A task whose result is to come."""

    task: Task
    place: _Place


class _Engine:
    """Keeps order, and keeps what is under way within bounds."""

    def __init__(self, worker: Worker, judging: Judging, known: Known) -> None:
        self._worker = worker
        self._judging = judging
        self._known = known
        self._queue: deque[Judged | _Awaited] = deque()
        self._running: set[Future[list[Timed]]] = set()
        self._pending: dict[str, _Place] = {}

    def results(self, tasks: Iterable[Task | Result]) -> Iterator[Judged]:
        """All results in order."""
        worker = self._worker
        try:
            for chunk in _chunks(tasks, worker):
                self._take(chunk)
                while len(self._running) >= worker.at_once:
                    self._running = set(wait(self._running, return_when=FIRST_COMPLETED).not_done)
                most = worker.at_once * worker.ahead * worker.cases
                while self._queue and (len(self._queue) > most or self._is_ready()):
                    yield self._first()
            while self._queue:
                yield self._first()
        finally:
            for future in self._running:
                future.cancel()

    def _take(self, chunk: list[Task | Result]) -> None:
        tasks = [task for task in chunk if isinstance(task, Task)]
        fresh = {task.hash: task for task in tasks if task.kept and task.hash not in self._pending}
        known = self._known(fresh.keys())
        new = [task for task in fresh.values() if task.hash not in known]
        if new:
            begun = self._worker.begin([task.line for task in new])
            self._running.add(begun)
            for index, task in enumerate(new):
                self._pending[task.hash] = _Place(begun, index, task.position)
        for task in chunk:
            if isinstance(task, Result):
                self._queue.append((task, None))
            elif task.kept is None:
                self._queue.append(_judged(task, self._judging.verdict(task.line), 0.0))
            elif (verdict := known.get(task.hash)) is not None:
                self._queue.append(_judged(task, verdict, 0.0))
            else:
                self._queue.append(_Awaited(task, self._pending[task.hash]))

    def _is_ready(self) -> bool:
        first = self._queue[0]
        return not isinstance(first, _Awaited) or first.place.verdicts.done()

    def _first(self) -> Judged:
        first = self._queue.popleft()
        if not isinstance(first, _Awaited):
            return first
        task, place = first.task, first.place
        verdict, seconds = place.verdicts.result()[place.index]
        if place.position == task.position:
            self._pending.pop(task.hash)
            return _judged(task, verdict, seconds)
        if is_lasting(verdict):
            return _judged(task, replace(verdict, cost=None), 0.0)
        # What went wrong names the place of the other case, or may not go wrong again.
        (again,) = self._worker.begin([task.line]).result()
        return _judged(task, *again)


def _chunks(tasks: Iterable[Task | Result], worker: Worker) -> Iterator[list[Task | Result]]:
    chunk: list[Task | Result] = []
    length = 0
    for task in tasks:
        chunk.append(task)
        if isinstance(task, Task) and task.kept is not None:
            length += len(task.kept.text)
        if len(chunk) >= worker.cases or length >= _CHUNK_LENGTH:
            yield chunk
            chunk, length = [], 0
    if chunk:
        yield chunk


def _judged(task: Task, verdict: Verdict, seconds: float) -> Judged:
    """The result of a task. Id and metadata are this case's, whoever the verdict was found for."""
    case = task.line.case
    own = replace(
        verdict,
        id=task.line.id if case is None else case.id,
        metadata={} if case is None else case.metadata,
    )
    return Result(task.position, task.hash, own.id, own, seconds), task.kept


class _Asking:
    """Asks a model about many cases at once, on the loop in the background."""

    cases = 1
    ahead = 8

    def __init__(self, judging: Judging, at_once: int) -> None:
        self.at_once = at_once
        self._judging = judging

    def begin(self, lines: list[CaseLine]) -> Future[list[Timed]]:
        """Begin to ask."""
        from planproof.core.async_bridge import start  # noqa: PLC0415 - loads asyncio

        return start(self._ask(lines))

    async def _ask(self, lines: list[CaseLine]) -> list[Timed]:
        verdicts: list[Timed] = []
        for line in lines:
            began = perf_counter()
            verdict = await self._judging.awaited_verdict(line)
            verdicts.append((verdict, perf_counter() - began))
        return verdicts
