"""The desk: where cases are handed in, wait for their turn, and are judged.

A judge that computes does so in processes, one case each, so that a case that takes for ever or
breaks its process takes nobody else's with it. A judge that asks a model is awaited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from time import perf_counter
from typing import Protocol

from planproof.case_file import CaseLine
from planproof.errors import UnknownName
from planproof.evaluation import awaits
from planproof.judges.asking import Cause
from planproof.runs.judging import Judging
from planproof.runs.local import MODEL_CASES
from planproof.runs.processes import JudgingPool, Timed
from planproof.server.errors import Busy
from planproof.server.metrics import Metrics
from planproof.suggestions import did_you_mean
from planproof.verdict import JudgeSummary, Outcome, Verdict


class Desk:
    """Judges cases by one of several judges; no more wait than `waiting`, counted over all."""

    def __init__(
        self,
        judgings: Mapping[str, Judging],
        metrics: Metrics,
        *,
        processes: int,
        waiting: int = 256,
        deadline: float = 120.0,
    ) -> None:
        self._judgings = dict(judgings)
        self._places: dict[str, _Place] = {
            name: _Asking(judging)
            if awaits(judging.judge)
            else _Seats(judging, processes, deadline)
            for name, judging in judgings.items()
        }
        self._default = next(iter(judgings))
        self._most = waiting
        self._handed_in = 0
        self._metrics = metrics
        metrics.gauge(
            "cases_handed_in",
            "Cases that are being judged or wait for it.",
            lambda: self._handed_in,
        )

    async def open(self) -> None:
        """Get ready, so that the first case need not wait longer than others."""
        await self._places[self._default].open()

    async def close(self) -> None:
        """Stop judging: whoever still waits is told that it failed."""
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
            verdict, seconds = await self._places[name].judged(line)
        finally:
            self._handed_in -= 1
        self._metrics.judged(name, verdict, seconds)
        return verdict, seconds

    def _known(self, judge: str | None) -> str:
        name = self._default if judge is None else judge
        if name not in self._judgings:
            raise UnknownName(
                f"no judge `{name}` is configured here.", advice=did_you_mean(name, self._judgings)
            )
        return name


class _Place(Protocol):
    """Where the cases for one judge are judged."""

    async def open(self) -> None: ...

    async def judged(self, line: CaseLine) -> Timed: ...

    async def close(self) -> None: ...


class _Asking:
    """Awaits a judge that asks a model, about some cases at once."""

    def __init__(self, judging: Judging) -> None:
        self._judging = judging
        self._turns = asyncio.Semaphore(MODEL_CASES)

    async def open(self) -> None:
        """There is nothing to get ready."""

    async def judged(self, line: CaseLine) -> Timed:
        async with self._turns:
            began = perf_counter()
            verdict = await self._judging.awaited_verdict(line)
            return verdict, perf_counter() - began

    async def close(self) -> None:
        """There is nothing to let go of."""


class _Seats:
    """Processes with one case each. One that breaks, or takes too long, is replaced."""

    def __init__(self, judging: Judging, processes: int, deadline: float) -> None:
        self._judging = judging
        self._deadline = deadline
        self._pools = [JudgingPool(judging, 1) for _ in range(processes)]
        self._free: asyncio.LifoQueue[int] = asyncio.LifoQueue()
        for seat in range(processes):
            self._free.put_nowait(seat)

    async def open(self) -> None:
        begun = [asyncio.wrap_future(pool.begin([])) for pool in self._pools]
        await asyncio.gather(*begun)

    async def judged(self, line: CaseLine) -> Timed:
        seat = await self._free.get()
        try:
            return await self._judged_at(seat, line)
        finally:
            self._free.put_nowait(seat)

    async def _judged_at(self, seat: int, line: CaseLine) -> Timed:
        """The verdict by one process; it is not left at work that nobody waits for."""
        try:
            async with asyncio.timeout(self._deadline):
                (timed,) = await asyncio.wrap_future(self._pools[seat].begin([line]))
            return timed
        except TimeoutError:
            why = f"it took longer than {self._deadline:g} seconds."
            await self._replace(seat)
            return self._failed(line, Cause.TIMEOUT, why), self._deadline
        except BrokenProcessPool:
            await self._replace(seat)
            why = "its process was killed, perhaps for want of memory."
            return self._failed(line, None, why), 0.0
        except asyncio.CancelledError:
            await self._replace(seat)
            raise

    async def _replace(self, seat: int) -> None:
        broken, self._pools[seat] = self._pools[seat], JudgingPool(self._judging, 1)
        await asyncio.to_thread(broken.close)

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
        await asyncio.gather(*(asyncio.to_thread(pool.close) for pool in self._pools))
