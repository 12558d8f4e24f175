"""Worker pools for judging: processes for CPU-bound judges, async slots for model-based ones."""

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
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.engines.process_pool import CHUNK_SIZE, JudgeProcess, ProcessEnded, TimedVerdict

_POLL_SECONDS = 0.05


class WorkerPool(Protocol):
    """Judges the cases for one judge. Runs use at most as many workers as `run_slots` allows."""

    max_in_flight: int
    chunk_size: int
    run_slots: asyncio.Semaphore

    async def open(self) -> None:
        """Start the workers."""
        ...

    async def judge_batch(self, lines: list[CaseLine]) -> list[TimedVerdict]:
        """Judge a batch of cases once a worker is free."""
        ...

    async def close(self) -> None:
        """Stop judging."""
        ...


class AsyncPool:
    """Await a judge that calls a model, for several cases at once."""

    chunk_size = 1

    def __init__(self, evaluator: CaseEvaluator, concurrency: int) -> None:
        self.max_in_flight = concurrency
        # Leave some slots for single cases while runs are busy.
        self.run_slots = asyncio.Semaphore(max(1, concurrency - 2))
        self._evaluator = evaluator
        self._slots = asyncio.Semaphore(concurrency)

    async def open(self) -> None:
        """Do nothing: there are no workers to start."""

    async def judge_batch(self, lines: list[CaseLine]) -> list[TimedVerdict]:
        """Judge one case after the other."""
        return [await self._judge_line(line) for line in lines]

    async def _judge_line(self, line: CaseLine) -> TimedVerdict:
        async with self._slots:
            began = perf_counter()
            verdict = await self._evaluator.aevaluate(line)
            return verdict, perf_counter() - began

    async def close(self) -> None:
        """Do nothing: there are no workers to stop."""


class ProcessPool:
    """Judge in separate processes. One that crashes or takes too long is replaced."""

    chunk_size = CHUNK_SIZE

    def __init__(self, evaluator: CaseEvaluator, processes: int, deadline: float) -> None:
        self.max_in_flight = 2 * processes
        self.run_slots = asyncio.Semaphore(processes)
        self._evaluator = evaluator
        self._deadline = deadline
        self._processes: list[JudgeProcess | None] = [None] * processes
        self._threads = ThreadPoolExecutor(processes, "judging")
        self._free_workers: asyncio.LifoQueue[int] = asyncio.LifoQueue()
        for worker in range(processes):
            self._free_workers.put_nowait(worker)

    async def open(self) -> None:
        """Start the processes, and wait until they are ready."""
        await asyncio.gather(*(self.judge_batch([]) for _ in self._processes))

    async def judge_batch(self, lines: list[CaseLine]) -> list[TimedVerdict]:
        """Judge a batch of cases in a free process."""
        worker = await self._free_workers.get()
        try:
            return await self._judge_in_process(worker, lines)
        finally:
            self._free_workers.put_nowait(worker)

    async def _judge_in_process(self, worker: int, lines: list[CaseLine]) -> list[TimedVerdict]:
        """Judge cases in one process; it is killed on timeout or cancellation."""
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._threads, self._run_process, worker, lines)
        cause: Cause | None = None
        try:
            async with asyncio.timeout(self._deadline):
                return await asyncio.shield(future)
        except TimeoutError:
            why = f"it took longer than {self._deadline:g} seconds."
            cause = Cause.TIMEOUT
        except ProcessEnded:
            why = "its process was killed, possibly out of memory."
        finally:
            if not future.done():
                await self._kill_process(worker, future)
        if not lines:
            raise RunFailed("the judge processes could not be started.")
        if len(lines) == 1:
            return [
                (
                    self._make_failed_verdict(lines[0], cause, why),
                    0.0 if cause is None else self._deadline,
                )
            ]
        # One case was the cause: judge each alone, so that the others get a verdict.
        return [timed for line in lines for timed in await self._judge_in_process(worker, [line])]

    def _run_process(self, worker: int, lines: list[CaseLine]) -> list[TimedVerdict]:
        process = self._processes[worker]
        if process is None:
            process = self._processes[worker] = JudgeProcess(self._evaluator)
        try:
            return process.judge(lines)
        except ProcessEnded:
            self._processes[worker] = None
            process.kill()
            process.close()
            raise

    async def _kill_process(self, worker: int, future: asyncio.Future[list[TimedVerdict]]) -> None:
        """Kill a busy process, and wait until the thread that waits for it has returned."""
        while not future.done():
            # The process may not have started yet.
            if (process := self._processes[worker]) is not None:
                await asyncio.to_thread(process.kill)
            await asyncio.wait((future,), timeout=_POLL_SECONDS)
        future.exception()

    def _make_failed_verdict(self, line: CaseLine, cause: Cause | None, why: str) -> Verdict:
        judge = self._evaluator.judge
        verdict = Verdict(
            outcome=Outcome.JUDGE_FAILED,
            reason=f"The judge `{judge.name}` failed: {why}",
            judge=JudgeSummary(name=judge.name, fingerprint=judge.fingerprint),
            cause=None if cause is None else cause.value,
            id=line.id,
        )
        return verdict if line.case is None else replace(verdict, metadata=line.case.metadata)

    async def close(self) -> None:
        """Kill all processes; cases in progress fail."""
        processes = [
            running_process for running_process in self._processes if running_process is not None
        ]
        await asyncio.gather(*(asyncio.to_thread(process.kill) for process in processes))
        await asyncio.to_thread(self._threads.shutdown)
        for process in processes:
            process.close()
