"""Runs that a server has begun: each in a thread of its own, judged at the desk."""

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
from planproof.evaluation import awaits
from planproof.readers.decoding.case_files import CaseLine
from planproof.readers.decoding.trace_files import read_many
from planproof.runs.engines.case_judging import Judging
from planproof.runs.execution import begun, running
from planproof.runs.run_records import Run
from planproof.runs.store.sql_store import SqlStore
from planproof.runs.summary import RunningSummary
from planproof.server.http_problems import Busy
from planproof.server.json_logs import tell, tell_fault
from planproof.server.judge_queue import Desk, DeskWorker
from planproof.server.prometheus_metrics import Metrics
from planproof.server.server_settings import ServerSettings

_REMEMBERED = 100
_NAME = "body"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """A run that somebody wants: a data set in a file, and how it is to be judged and kept."""

    data: BinaryIO
    source: str
    tags: dict[str, str]
    judge: str | None
    resume: bool


@dataclass(slots=True)
class Progress:
    """How far a run has come; `failed` says why it could not go on."""

    run: Run
    tally: RunningSummary
    over: bool = False
    failed: PlanproofError | None = None

    def figures(self) -> dict[str, Json]:
        """The progress in figures."""
        return {
            "run": self.run.id,
            "cases": self.tally.cases,
            "scored": self.tally.scored,
            "passed": self.tally.passed,
            "mean": self.tally.mean,
            "over": self.over,
            "failed": None if self.failed is None else str(self.failed),
        }


@dataclass(slots=True)
class RunsUnderWay:
    """Begins runs, and knows how far they have come."""

    settings: ServerSettings
    store: SqlStore
    desk: Desk
    metrics: Metrics
    _known: dict[str, Progress] = field(default_factory=dict[str, Progress])
    _workers: set[DeskWorker] = field(default_factory=set[DeskWorker])
    _closing: Event = field(default_factory=Event)
    _going: int = 0
    _threads: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self._threads = ThreadPoolExecutor(self.settings.limits.runs, "run")
        self.metrics.gauge("runs_under_way", "Runs that go on.", lambda: self._going)

    def take_place(self) -> None:
        """Make sure that a run can be begun, before its data set is taken in; `Busy` if not."""
        if self._going >= self.settings.limits.runs:
            raise Busy(f"{self._going} runs go on already.", retry_after=10)
        self._going += 1

    def leave_place(self) -> None:
        """Let another run be begun in the place of one that was not."""
        self._going -= 1

    async def begin(self, ordered: Ordered) -> Run:
        """Begin a run, for which a place was taken."""
        judging, worker = self.desk.judging(ordered.judge), self.desk.for_runs(ordered.judge)
        loop = asyncio.get_running_loop()
        run, lines = await loop.run_in_executor(self._threads, self._entered, ordered, judging)
        progress = Progress(run, RunningSummary(self.settings.min_score))
        self._known[run.id] = progress
        while len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]
        tell("run begun", run=run.id, judge=judging.judge.name)
        going = loop.run_in_executor(
            self._threads, self._go_on, progress, lines, (judging, worker), ordered.data
        )
        self._workers.add(worker)
        going.add_done_callback(partial(self._ended, worker))
        return run

    def progress_of(self, run_id: str) -> Progress | None:
        """How far a run has come, if it was begun here and not long ago."""
        return self._known.get(run_id)

    async def close(self) -> None:
        """Interrupt what goes on; its results so far are kept."""
        self._closing.set()
        for worker in self._workers:
            worker.stop()
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)

    def _ended(self, worker: DeskWorker, _: asyncio.Future[None]) -> None:
        self._workers.discard(worker)
        self.leave_place()

    def _entered(
        self, ordered: Ordered, judging: Judging
    ) -> tuple[Run, Iterator[tuple[int, CaseLine]]]:
        """The run in the store, and its cases; what holds no case at all is no run."""
        limits = replace(judging.limits, bytes=self.settings.limits.data_set)
        lines = read_many(ordered.data, name=_NAME, limits=limits)
        opening = list(islice(lines, 2))
        if not opening:
            raise InvalidInput(
                "holds no case.", where=_NAME, advice="Send cases or traces as JSON Lines."
            )
        if len(opening) == 1 and opening[0].error is not None:
            raise opening[0].error
        run = begun(
            self.store,
            judging,
            source=ordered.source,
            models=self.settings.models if awaits(judging.judge) else (),
            tags=ordered.tags,
            resume=ordered.resume,
        )
        self.store.begin(run)
        return run, enumerate(replace(line, record=None) for line in chain(opening, lines))

    def _go_on(
        self,
        progress: Progress,
        lines: Iterator[tuple[int, CaseLine]],
        how: tuple[Judging, DeskWorker],
        data: BinaryIO,
    ) -> None:
        judging, worker = how
        try:
            run, anew = progress.run, self.settings.anew
            with (
                data,
                running(self.store, run, lines, judging, anew=anew, worker=worker) as results,
            ):
                for result in results:
                    progress.tally.add(result)
                    if self._closing.is_set():
                        raise CancelledError
        except CancelledError:
            tell("run interrupted", run=progress.run.id, cases=progress.tally.cases)
        except Exception as error:
            expected = isinstance(error, PlanproofError)
            progress.failed = error if expected else RunFailed("something broke here.")
            tell_fault("run failed", error, run=progress.run.id)
        else:
            tell("run finished", run=progress.run.id, cases=progress.tally.cases)
        finally:
            progress.over = True
