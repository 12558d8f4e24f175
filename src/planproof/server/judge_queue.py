"""The desk: where cases are handed in, wait for their turn, and are judged.

A judge that computes does so in processes, each by itself, so that a case that takes for ever or
breaks its process takes nobody else's with it. A judge that asks a model is awaited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field

from planproof.core.suggestions import did_you_mean
from planproof.errors import UnknownName
from planproof.evaluation import awaits
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.case_judging import Judging
from planproof.runs.engines.local import MODEL_CASES
from planproof.runs.engines.process_pool import Timed
from planproof.server.http_problems import Busy
from planproof.server.prometheus_metrics import Metrics
from planproof.server.worker_pool import Asking, Place, Seats


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
        self._places: dict[str, Place] = {
            name: Asking(judging, questions)
            if awaits(judging.judge)
            else Seats(judging, processes, deadline)
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
    place: Place
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
