"""The desk: where cases are handed in, wait for their turn, and are judged.

A judge that computes does so in processes, each by itself, so that a case that takes for ever or
breaks its process takes nobody else's with it. A judge that asks a model is awaited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Protocol

from planproof.case_file import CaseLine
from planproof.errors import UnknownName
from planproof.evaluation import awaits
from planproof.judges.asking import Cause
from planproof.runs.judging import Judging
from planproof.runs.local import MODEL_CASES
from planproof.runs.processes import CHUNK, JudgingPool, Timed
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
        self._pools = [JudgingPool(judging, 1) for _ in range(processes)]
        self._free: asyncio.LifoQueue[int] = asyncio.LifoQueue()
        for seat in range(processes):
            self._free.put_nowait(seat)

    async def open(self) -> None:
        await asyncio.gather(*(asyncio.wrap_future(pool.begin([])) for pool in self._pools))

    async def judged(self, lines: list[CaseLine]) -> list[Timed]:
        seat = await self._free.get()
        try:
            return await self._judged_at(seat, lines)
        finally:
            self._free.put_nowait(seat)

    async def _judged_at(self, seat: int, lines: list[CaseLine]) -> list[Timed]:
        """Verdicts by one process; it is not left at work that nobody waits for."""
        cause: Cause | None = None
        try:
            async with asyncio.timeout(self._deadline):
                return await asyncio.wrap_future(self._pools[seat].begin(lines))
        except TimeoutError:
            why = f"it took longer than {self._deadline:g} seconds."
            cause = Cause.TIMEOUT
        except BrokenProcessPool:
            why = "its process was killed, perhaps for want of memory."
        except asyncio.CancelledError:
            await self._replace(seat)
            raise
        await self._replace(seat)
        if len(lines) == 1:
            return [(self._failed(lines[0], cause, why), 0.0 if cause is None else self._deadline)]
        # One of them was too much; the others need not suffer for it.
        return [timed for line in lines for timed in await self._judged_at(seat, [line])]

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
