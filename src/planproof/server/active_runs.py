"""Execute runs that were started over the API, each in its own thread, and report progress."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from threading import Event
from typing import BinaryIO

from planproof.core.content import Json
from planproof.errors import InvalidInput, PlanproofError, RunFailed
from planproof.evaluation import is_async_judge
from planproof.readers.decoding.case_files import CaseLine
from planproof.readers.decoding.trace_files import read_cases
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.execution import execute_run, start_or_resume_run
from planproof.runs.run_records import Run
from planproof.runs.store.sql_store import SqlStore
from planproof.runs.summary import SummaryBuilder
from planproof.server.http_problems import ServerBusy
from planproof.server.judge_queue import JudgeQueue, RunWorker
from planproof.server.observability import Metrics, log_error, log_event
from planproof.server.server_settings import ServerSettings

_MAX_REMEMBERED_RUNS = 100
_INPUT_NAME = "body"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A requested run: a file with the data set, and how to judge and record it."""

    data: BinaryIO
    source: str
    tags: dict[str, str]
    judge: str | None
    resume: bool


@dataclass(slots=True)
class RunProgress:
    """Progress of a run; `error` is set if it could not continue."""

    run: Run
    tally: SummaryBuilder
    is_finished: bool = False
    error: PlanproofError | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the progress as JSON."""
        return {
            "run": self.run.id,
            "cases": self.tally.cases,
            "scored": self.tally.scored,
            "passed": self.tally.passed,
            "mean": self.tally.mean,
            "over": self.is_finished,
            "failed": None if self.error is None else str(self.error),
        }


@dataclass(slots=True)
class RunManager:
    """Start runs, and keep track of their progress."""

    settings: ServerSettings
    store: SqlStore
    judge_queue: JudgeQueue
    metrics: Metrics
    _progress_by_run: dict[str, RunProgress] = field(default_factory=dict[str, RunProgress])
    _workers: set[RunWorker] = field(default_factory=set[RunWorker])
    _closing: Event = field(default_factory=Event)
    _running_count: int = 0
    _threads: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self._threads = ThreadPoolExecutor(self.settings.limits.runs, "run")
        self.metrics.add_gauge("runs_active", "Runs in progress.", lambda: self._running_count)

    def reserve_slot(self) -> None:
        """Reserve a slot before receiving a data set; raises `ServerBusy` if none is free."""
        if self._running_count >= self.settings.limits.runs:
            raise ServerBusy(f"{self._running_count} runs are already in progress.", retry_after=10)
        self._running_count += 1

    def release_slot(self) -> None:
        """Release the slot of a run that has ended or was not started."""
        self._running_count -= 1

    async def start(self, request: RunRequest) -> Run:
        """Start a run for which a slot was reserved."""
        evaluator, worker = (
            self.judge_queue.get_evaluator(request.judge),
            self.judge_queue.make_run_worker(request.judge),
        )
        loop = asyncio.get_running_loop()
        run, lines = await loop.run_in_executor(self._threads, self._create_run, request, evaluator)
        progress = RunProgress(run, SummaryBuilder(self.settings.min_score))
        self._progress_by_run[run.id] = progress
        while len(self._progress_by_run) > _MAX_REMEMBERED_RUNS:
            del self._progress_by_run[next(iter(self._progress_by_run))]
        log_event("run started", run=run.id, judge=evaluator.judge.name)
        future = loop.run_in_executor(
            self._threads, self._execute_run, progress, lines, (evaluator, worker), request.data
        )
        self._workers.add(worker)
        future.add_done_callback(partial(self._on_run_done, worker))
        return run

    def find_progress(self, run_id: str) -> RunProgress | None:
        """Return the progress of a run, if it was started recently on this server."""
        return self._progress_by_run.get(run_id)

    async def close(self) -> None:
        """Interrupt running runs; the results so far are kept."""
        self._closing.set()
        for worker in self._workers:
            worker.stop()
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)

    def _on_run_done(self, worker: RunWorker, _: asyncio.Future[None]) -> None:
        self._workers.discard(worker)
        self.release_slot()

    def _create_run(
        self, request: RunRequest, evaluator: CaseEvaluator
    ) -> tuple[Run, Iterator[tuple[int, CaseLine]]]:
        """Create the run in the store, and return it with its cases; raises if there are none."""
        limits = replace(evaluator.limits, bytes=self.settings.limits.data_set_bytes)
        lines = read_cases(
            request.data, name=_INPUT_NAME, limits=limits, profiles=evaluator.profiles
        )
        first_lines = list(islice(lines, 2))
        if not first_lines:
            raise InvalidInput(
                "contains no cases.",
                where=_INPUT_NAME,
                advice="Send cases or traces as JSON Lines.",
            )
        if len(first_lines) == 1 and first_lines[0].error is not None:
            raise first_lines[0].error
        run = start_or_resume_run(
            self.store,
            evaluator,
            source=request.source,
            models=self.settings.models if is_async_judge(evaluator.judge) else (),
            tags=request.tags,
            resume=request.resume,
        )
        self.store.begin(run)
        return run, enumerate(replace(line, record=None) for line in chain(first_lines, lines))

    def _execute_run(
        self,
        progress: RunProgress,
        lines: Iterator[tuple[int, CaseLine]],
        evaluator_and_worker: tuple[CaseEvaluator, RunWorker],
        data: BinaryIO,
    ) -> None:
        evaluator, worker = evaluator_and_worker
        try:
            run, rejudge = progress.run, self.settings.rejudge
            with (
                data,
                execute_run(
                    self.store, run, lines, evaluator, no_cache=rejudge, worker=worker
                ) as results,
            ):
                for result in results:
                    progress.tally.add(result)
                    if self._closing.is_set():
                        raise CancelledError
        except CancelledError:
            log_event("run interrupted", run=progress.run.id, cases=progress.tally.cases)
        except Exception as error:
            expected = isinstance(error, PlanproofError)
            progress.error = error if expected else RunFailed("internal server error.")
            log_error("run failed", error, run=progress.run.id)
        else:
            log_event("run finished", run=progress.run.id, cases=progress.tally.cases)
        finally:
            progress.is_finished = True
