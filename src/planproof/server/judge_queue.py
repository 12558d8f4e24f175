"""Queue cases for judging, and run them on the pool of their judge.

A CPU-bound judge runs in separate processes, so that a case that hangs or crashes its process
affects no other case. A judge that calls a model is awaited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field

from planproof.errors import UnknownName, did_you_mean
from planproof.evaluation import is_async_judge
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.engines.local import DEFAULT_MODEL_CONCURRENCY
from planproof.runs.engines.process_pool import TimedVerdict
from planproof.server.http_problems import ServerBusy
from planproof.server.observability import Metrics
from planproof.server.worker_pool import AsyncPool, ProcessPool, WorkerPool


class JudgeQueue:
    """Judge cases by one of several judges; at most `max_waiting` cases in total are pending."""

    def __init__(
        self,
        evaluators: Mapping[str, CaseEvaluator],
        metrics: Metrics,
        *,
        processes: int,
        model_concurrency: int = DEFAULT_MODEL_CONCURRENCY,
        max_waiting: int = 256,
        deadline: float = 120.0,
    ) -> None:
        self._evaluators = dict(evaluators)
        self._pools: dict[str, WorkerPool] = {
            name: AsyncPool(evaluator, model_concurrency)
            if is_async_judge(evaluator.judge)
            else ProcessPool(evaluator, processes, deadline)
            for name, evaluator in evaluators.items()
        }
        self._default_judge = next(iter(evaluators))
        self._max_waiting = max_waiting
        self._pending = 0
        self._metrics = metrics
        metrics.add_gauge(
            "cases_pending",
            "Cases being judged or waiting for a judge, excluding those of runs.",
            lambda: self._pending,
        )

    async def open(self) -> None:
        """Start the pool of the default judge, so that the first case is not slower than others."""
        await self._pools[self._default_judge].open()

    async def close(self) -> None:
        """Stop judging."""
        await asyncio.gather(*(pool.close() for pool in self._pools.values()))

    def get_evaluator(self, judge: str | None = None) -> CaseEvaluator:
        """Return the evaluator of a judge by name; the default one without a name."""
        return self._evaluators[self._resolve_judge_name(judge)]

    async def submit(self, line: CaseLine, judge: str | None = None) -> TimedVerdict:
        """Judge a case; return the verdict and the seconds. Raises `ServerBusy` if full."""
        name = self._resolve_judge_name(judge)
        if self._pending >= self._max_waiting:
            raise ServerBusy(f"{self._pending} cases are waiting to be judged.")
        self._pending += 1
        try:
            (timed,) = await self._pools[name].judge_batch([line])
        finally:
            self._pending -= 1
        self._metrics.record_verdict(name, *timed)
        return timed

    def make_run_worker(self, judge: str | None = None) -> RunWorker:
        """Return a worker that judges a run's cases from other threads; single cases go first."""
        name = self._resolve_judge_name(judge)
        pool = self._pools[name]
        return RunWorker(
            name,
            pool,
            self._metrics,
            asyncio.get_running_loop(),
            pool.max_in_flight,
            pool.chunk_size,
        )

    def _resolve_judge_name(self, judge: str | None) -> str:
        name = self._default_judge if judge is None else judge
        if name not in self._evaluators:
            raise UnknownName(
                f"no judge `{name}` is configured on this server.",
                advice=did_you_mean(name, self._evaluators),
            )
        return name


@dataclass(slots=True, eq=False)
class RunWorker:
    """Submit the cases of a run in chunks of `chunk_size`, at most `max_in_flight` at once.

    At most `lookahead` times as many results may wait for one that is slow.
    """

    judge: str
    pool: WorkerPool
    metrics: Metrics
    loop: asyncio.AbstractEventLoop
    max_in_flight: int
    chunk_size: int
    lookahead: int = 2
    _futures: set[Future[list[TimedVerdict]]] = field(
        default_factory=set[Future[list[TimedVerdict]]]
    )
    _stopped: bool = False

    def submit(self, lines: list[CaseLine]) -> Future[list[TimedVerdict]]:
        """Start to judge a chunk of cases."""
        future = asyncio.run_coroutine_threadsafe(self._judge_batch(lines), self.loop)
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        if self._stopped:
            future.cancel()
        return future

    def stop(self) -> None:
        """Cancel all submitted chunks, and any submitted later."""
        self._stopped = True
        for future in list(self._futures):
            future.cancel()

    async def _judge_batch(self, lines: list[CaseLine]) -> list[TimedVerdict]:
        async with self.pool.run_slots:
            verdicts = await self.pool.judge_batch(lines)
        for verdict, seconds in verdicts:
            self.metrics.record_verdict(self.judge, verdict, seconds)
        return verdicts
