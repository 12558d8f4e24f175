"""The desk: where cases are handed in, wait for their turn, and are judged.

A judge that computes does so in processes, each by itself, so that a case that takes for ever or
breaks its process takes nobody else's with it. A judge that asks a model is awaited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Protocol

from planproof.case_file import CaseLine
from planproof.errors import RunFailed, UnknownName
from planproof.evaluation import awaits
from planproof.judges.asking import Cause
from planproof.runs.judging import Judging
from planproof.runs.local import MODEL_CASES
from planproof.runs.processes import CHUNK, JudgingProcess, ProcessEnded, Timed
from planproof.server.errors import Busy
from planproof.server.metrics import Metrics
from planproof.suggestions import did_you_mean
from planproof.verdict import JudgeSummary, Outcome, Verdict

_SOON = 0.05


class Desk:
    """Judges cases by one of several judges; no more wait than `waiting`, counted over all."""

    def __init__(
        self,
        judgings: Mapping[str, Judging],
        metrics: Metrics,
        *,
        processes: int,
        questions: int = MODEL_CASES,
        waiting: int = 256,
        deadline: float = 120.0,
    ) -> None:
        self._judgings = dict(judgings)
        self._places: dict[str, _Place] = {
            name: _Asking(judging, questions)
            if awaits(judging.judge)
            else _Seats(judging, processes, deadline)
            for name, judging in judgings.items()
        }
        self._usual = next(iter(judgings))
        self._most = waiting
        self._handed_in = 0
        self._metrics = metrics
        metrics.gauge(
            "cases_handed_in",
            "Cases that are being judged or wait for it, without those of runs.",
            lambda: self._handed_in,
        )

    async def open(self) -> None:
        """Get ready, so that the first case need not wait longer than others."""
        await self._places[self._usual].open()

    async def close(self) -> None:
        """Stop judging."""
        await asyncio.gather(*(place.close() for place in self._places.values()))

    def judging(self, judge: str | None = None) -> Judging:
        """How the judge of this name judges; the usual one without a name."""
        return self._judgings[self._known(judge)]

    async def verdict(self, line: CaseLine, judge: str | None = None) -> Timed:
        """The verdict on a case, and the seconds it took; raises `Busy` when too many wait."""
        name = self._known(judge)
        if self._handed_in >= self._most:
            raise Busy(f"{self._handed_in} cases are waiting to be judged.")
        self._handed_in += 1
        try:
            (timed,) = await self._places[name].judged([line])
        finally:
            self._handed_in -= 1
        self._metrics.judged(name, *timed)
        return timed

    def for_runs(self, judge: str | None = None) -> DeskWorker:
        """What judges the cases of runs, from other threads; single cases go before them."""
        name = self._known(judge)
        place = self._places[name]
        return DeskWorker(
            name, place, self._metrics, asyncio.get_running_loop(), place.at_once, place.cases
        )

    def _known(self, judge: str | None) -> str:
        name = self._usual if judge is None else judge
        if name not in self._judgings:
            raise UnknownName(
                f"no judge `{name}` is configured here.", advice=did_you_mean(name, self._judgings)
            )
        return name


@dataclass(slots=True, eq=False)
class DeskWorker:
    """Hands in pieces of a run: so many `at_once`, of so many `cases` each, so far `ahead`."""

    judge: str
    place: _Place
    metrics: Metrics
    loop: asyncio.AbstractEventLoop
    at_once: int
    cases: int
    ahead: int = 2
    _begun: set[Future[list[Timed]]] = field(default_factory=set[Future[list[Timed]]])
    _stopped: bool = False

    def begin(self, lines: list[CaseLine]) -> Future[list[Timed]]:
        """Begin to judge some cases."""
        begun = asyncio.run_coroutine_threadsafe(self._judged(lines), self.loop)
        self._begun.add(begun)
        begun.add_done_callback(self._begun.discard)
        if self._stopped:
            begun.cancel()
        return begun

    def stop(self) -> None:
        """Call off everything that was begun, and whatever is still to be."""
        self._stopped = True
        for begun in list(self._begun):
            begun.cancel()

    async def _judged(self, lines: list[CaseLine]) -> list[Timed]:
        async with self.place.for_runs:
            found = await self.place.judged(lines)
        for verdict, seconds in found:
            self.metrics.judged(self.judge, verdict, seconds)
        return found


class _Place(Protocol):
    """Where the cases for one judge are judged. No more than `for_runs` lets by are of runs."""

    at_once: int
    cases: int
    for_runs: asyncio.Semaphore

    async def open(self) -> None: ...

    async def judged(self, lines: list[CaseLine]) -> list[Timed]: ...

    async def close(self) -> None: ...


class _Asking:
    """Awaits a judge that asks a model, about some cases at once."""

    cases = 1

    def __init__(self, judging: Judging, questions: int) -> None:
        self.at_once = questions
        # Some are left for single cases, however many there are of a run.
        self.for_runs = asyncio.Semaphore(max(1, questions - 2))
        self._judging = judging
        self._turns = asyncio.Semaphore(questions)

    async def open(self) -> None:
        """There is nothing to get ready."""

    async def judged(self, lines: list[CaseLine]) -> list[Timed]:
        return [await self._one(line) for line in lines]

    async def _one(self, line: CaseLine) -> Timed:
        async with self._turns:
            began = perf_counter()
            verdict = await self._judging.awaited_verdict(line)
            return verdict, perf_counter() - began

    async def close(self) -> None:
        """There is nothing to let go of."""


class _Seats:
    """Processes that judge, each by itself. One that breaks, or takes too long, is replaced."""

    cases = CHUNK

    def __init__(self, judging: Judging, processes: int, deadline: float) -> None:
        self.at_once = 2 * processes
        self.for_runs = asyncio.Semaphore(processes)
        self._judging = judging
        self._deadline = deadline
        self._processes: list[JudgingProcess | None] = [None] * processes
        self._threads = ThreadPoolExecutor(processes, "judging")
        self._free: asyncio.LifoQueue[int] = asyncio.LifoQueue()
        for seat in range(processes):
            self._free.put_nowait(seat)

    async def open(self) -> None:
        """Start the processes, and wait until they can judge."""
        await asyncio.gather(*(self.judged([]) for _ in self._processes))

    async def judged(self, lines: list[CaseLine]) -> list[Timed]:
        seat = await self._free.get()
        try:
            return await self._judged_at(seat, lines)
        finally:
            self._free.put_nowait(seat)

    async def _judged_at(self, seat: int, lines: list[CaseLine]) -> list[Timed]:
        """Verdicts by one process; it is not left at work that nobody waits for."""
        loop = asyncio.get_running_loop()
        begun = loop.run_in_executor(self._threads, self._in_thread, seat, lines)
        cause: Cause | None = None
        try:
            async with asyncio.timeout(self._deadline):
                return await asyncio.shield(begun)
        except TimeoutError:
            why = f"it took longer than {self._deadline:g} seconds."
            cause = Cause.TIMEOUT
        except ProcessEnded:
            why = "its process was killed, perhaps for want of memory."
        finally:
            if not begun.done():
                await self._ended(seat, begun)
        if not lines:
            raise RunFailed("the processes that judge do not start.")
        if len(lines) == 1:
            return [(self._failed(lines[0], cause, why), 0.0 if cause is None else self._deadline)]
        # One of them was too much; the others need not suffer for it.
        return [timed for line in lines for timed in await self._judged_at(seat, [line])]

    def _in_thread(self, seat: int, lines: list[CaseLine]) -> list[Timed]:
        process = self._processes[seat]
        if process is None:
            process = self._processes[seat] = JudgingProcess(self._judging)
        try:
            return process.judged(lines)
        except ProcessEnded:
            self._processes[seat] = None
            process.end()
            process.close()
            raise

    async def _ended(self, seat: int, begun: asyncio.Future[list[Timed]]) -> None:
        """End a process at its work, and wait until whoever waited for it has let go."""
        while not begun.done():
            # It may be just about to start.
            if (process := self._processes[seat]) is not None:
                await asyncio.to_thread(process.end)
            await asyncio.wait((begun,), timeout=_SOON)
        begun.exception()

    def _failed(self, line: CaseLine, cause: Cause | None, why: str) -> Verdict:
        judge = self._judging.judge
        verdict = Verdict(
            outcome=Outcome.JUDGE_FAILED,
            reason=f"The judge `{judge.name}` failed: {why}",
            judge=JudgeSummary(name=judge.name, fingerprint=judge.fingerprint),
            cause=None if cause is None else cause.value,
            id=line.id,
        )
        return verdict if line.case is None else replace(verdict, metadata=line.case.metadata)

    async def close(self) -> None:
        """End all processes; whoever waits for a case is told that it failed."""
        processes = [each for each in self._processes if each is not None]
        await asyncio.gather(*(asyncio.to_thread(process.end) for process in processes))
        await asyncio.to_thread(self._threads.shutdown)
        for process in processes:
            process.close()
