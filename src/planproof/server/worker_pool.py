"""The places at the desk: processes for a judge that computes, turns for one that asks a model."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import perf_counter
from typing import Protocol

from planproof.core.model import Cause
from planproof.core.verdict import JudgeSummary, Outcome, Verdict
from planproof.errors import RunFailed
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.case_judging import Judging
from planproof.runs.engines.process_pool import CHUNK, JudgingProcess, ProcessEnded, Timed

_SOON = 0.05


class Place(Protocol):
    """Where the cases for one judge are judged. No more than `for_runs` lets by are of runs."""

    at_once: int
    cases: int
    for_runs: asyncio.Semaphore

    async def open(self) -> None:
        """Get ready."""
        ...

    async def judged(self, lines: list[CaseLine]) -> list[Timed]:
        """Judge some cases, when it is their turn."""
        ...

    async def close(self) -> None:
        """Stop judging."""
        ...


class Asking:
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
        """Ask about one after the other."""
        return [await self._one(line) for line in lines]

    async def _one(self, line: CaseLine) -> Timed:
        async with self._turns:
            began = perf_counter()
            verdict = await self._judging.awaited_verdict(line)
            return verdict, perf_counter() - began

    async def close(self) -> None:
        """There is nothing to let go of."""


class Seats:
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
        """Judge some cases in a process that is free."""
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
