"""Judging traces as they get done: each once, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from datetime import UTC, date, datetime
from secrets import randbelow

from sqlalchemy.exc import OperationalError

from planproof.core.case import Case
from planproof.core.content import Json
from planproof.core.verdict import JudgeSummary, Outcome, Verdict
from planproof.errors import InvalidInput, StoreFailed
from planproof.evaluation import awaits
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.case_json import case_in, kept
from planproof.runs.engines.case_judging import Judging
from planproof.runs.engines.process_pool import Timed
from planproof.runs.run_records import KeptCase, Result, Run, RunState
from planproof.runs.store.sql_store import SqlStore
from planproof.server.http_problems import Busy
from planproof.server.ingestion.batching import Together
from planproof.server.ingestion.finished_traces import GONE_AFTER, Finishing, Judged, Taken
from planproof.server.ingestion.otlp_requests import spans_in
from planproof.server.ingestion.received_spans import document_of, service_of
from planproof.server.ingestion.span_inbox import Inbox
from planproof.server.json_logs import tell_fault
from planproof.server.judge_queue import Desk
from planproof.server.server_settings import ServerSettings

SOURCE = "opentelemetry"
"""What runs of such traces are tagged with, as their source."""
_GLANCE = 0.1
"""Seconds between looks at what is due."""
_AHEAD = 16
"""Traces for each process that are under way at once: some are read or kept, others judged."""
_PAUSES = (1.0, 5.0, 25.0, 125.0, 600.0)
"""Seconds to wait after something failed once, twice, and so on."""
_TRIES = 3
"""How often a trace is tried before its verdict says that it can't be judged."""
_LARGE = 8 * 1024 * 1024
"""Bytes of a trace beyond which one is judged at a time: it is held several times over."""


class TraceVerdicts:
    """Takes traces that are done to the desk, and keeps what is said of them."""

    def __init__(
        self,
        settings: ServerSettings,
        store: SqlStore,
        desk: Desk,
        inbox: Inbox,
        *,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._store = store
        self._desk = desk
        self._inbox = inbox
        self._at_once = _AHEAD * settings.processes
        tell = settings.otlp_endpoint is not None
        self._finishing = Finishing(store.database, tell=tell, clock=clock)
        self._finish = Together(self._finish_each, "planproof-verdicts", wait=_GLANCE / 5)
        self._judging = desk.judging()
        self._models = settings.models if awaits(self._judging.judge) else ()
        self._run: Run | None = None
        self._day: date | None = None
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._one_large = asyncio.Lock()
        self.judged = asyncio.Event()
        """Set whenever a verdict has been kept; who looks clears it."""
        self.count = 0
        """Verdicts that were kept since the server started."""

    @asynccontextmanager
    async def at_work(self) -> AsyncGenerator[None, None]:
        """Judge what gets done, for as long as this is entered."""
        await asyncio.to_thread(self._finishing.be_seen)
        tasks = [asyncio.create_task(self._be_seen()), asyncio.create_task(self._work())]
        try:
            yield
        finally:
            tasks += self._under_way.values()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._finish.close()
            with suppress(StoreFailed):
                await asyncio.to_thread(self._finishing.leave)

    async def _be_seen(self) -> None:
        while True:
            await asyncio.sleep(GONE_AFTER / 5)
            await _tried(self._finishing.be_seen)
            await _tried(self._inbox.count_backlog)

    async def _work(self) -> None:
        while True:
            room = self._at_once - len(self._under_way)
            # A few at a time: taking one costs as much as taking many.
            if room < self._at_once / 2:
                await asyncio.sleep(_GLANCE / 10)
                continue
            taken = await self._take(room)
            for one in taken:
                self._under_way[one.trace] = asyncio.create_task(self._judge(one))
            if len(taken) < room:
                await asyncio.sleep(_GLANCE)

    async def _take(self, most: int) -> list[Taken]:
        try:
            return await asyncio.to_thread(self._taken, most)
        except Exception as error:
            tell_fault("taking traces failed", error)
            await asyncio.sleep(_PAUSES[0])
            return []

    def _taken(self, most: int) -> list[Taken]:
        under_way = tuple(self._under_way)
        if not self._finishing.is_any_due(under_way):
            return []
        run = self._run_of(datetime.now(UTC).date())
        return self._finishing.take(run, most, under_way)

    async def _judge(self, taken: Taken) -> None:
        try:
            async with self._one_large if taken.size > _LARGE else nullcontext():
                judged = await self._judged(taken)
            await self._keep(judged)
        except Exception as error:
            tell_fault("judging a trace failed", error, trace=taken.trace)
            await self._after_failure(taken, error)
        finally:
            del self._under_way[taken.trace]

    async def _keep(self, judged: Judged) -> None:
        if await self._finish(judged) and judged.results is not None:
            self.count += 1
            self.judged.set()

    async def _after_failure(self, taken: Taken, error: Exception) -> None:
        """Postpone a trace, so that others go first; give up after the last try."""
        is_store = isinstance(error, StoreFailed) and isinstance(error.__cause__, OperationalError)
        if taken.failures + 1 >= _TRIES and not is_store:
            try:
                await self._keep(await asyncio.to_thread(self._given_up, taken, error))
            except Exception as again:
                tell_fault("giving up a trace failed", again, trace=taken.trace)
            else:
                return
        pause = _PAUSES[min(taken.failures, len(_PAUSES) - 1)]
        await _tried(lambda: self._finishing.postpone(taken, pause, failed=not is_store))

    def _given_up(self, taken: Taken, error: Exception) -> Judged:
        """The verdict on a trace that can't be judged, with its spans if they can be kept."""
        case, count = self._bare_case(taken), 0
        # Perhaps it is the spans that can't be kept: the next time it is tried without them.
        with suppress(Exception):
            if taken.failures < _TRIES:
                line, _, count = self._case(taken)
                case = line.case or case
        judge = self._judging.judge
        verdict = Verdict(
            outcome=Outcome.JUDGE_FAILED,
            reason=f"The trace could not be judged in {_TRIES} tries ({type(error).__name__}). "
            "The log of the server says where it failed.",
            judge=JudgeSummary(name=judge.name, fingerprint=judge.fingerprint),
            id=taken.trace,
            metadata=case.metadata,
        )
        return self._prepared(taken, kept(case), count, (verdict, 0.0))

    def _finish_each(self, judged: list[Judged]) -> list[bool | Exception]:
        """Finish traces together; one by one if that fails, so that none fails for another."""
        try:
            return [*self._finishing.finish(judged)]
        except Exception:
            if len(judged) == 1:
                raise
        return [self._finish_alone(one) for one in judged]

    def _finish_alone(self, judged: Judged) -> bool | Exception:
        try:
            return self._finishing.finish([judged])[0]
        except Exception as error:
            return error

    async def _judged(self, taken: Taken) -> Judged:
        line, case, spans = await asyncio.to_thread(self._case, taken)
        timed = None if case.hash == taken.case else await self._verdict(line)
        return await asyncio.to_thread(self._prepared, taken, case, spans, timed)

    def _prepared(self, taken: Taken, case: KeptCase, spans: int, timed: Timed | None) -> Judged:
        """What is to be kept of a trace with so many spans; without a verdict, the one it has."""
        results = None
        if timed is not None:
            verdict, seconds = timed
            result = Result(taken.position, case.hash, taken.trace, verdict, seconds)
            results = self._store.prepared(taken.run, [result], [case])
        size = len(case.text)
        return Judged(taken=taken, spans=spans, size=size, case=case.hash, results=results)

    def _case(self, taken: Taken) -> tuple[CaseLine, KeptCase, int]:
        spans = self._finishing.spans(taken.trace)
        if taken.case is not None:
            # If somebody has removed it, what came late is judged alone.
            with suppress(InvalidInput):
                spans += spans_in(str(case_in(self._store.case(taken.case)).trace))
        service = service_of(spans)
        metadata: dict[str, Json] = {} if service is None else {"service": service}
        trace = document_of(spans)
        case = Case(task=None, plan=None, trace=trace, id=taken.trace, metadata=metadata)
        count = len({span.id for span in spans})
        return CaseLine(f"trace {taken.trace}", case, id=case.id), kept(case), count

    @staticmethod
    def _bare_case(taken: Taken) -> Case:
        return Case(task=None, plan=None, trace=document_of([]), id=taken.trace)

    async def _verdict(self, line: CaseLine) -> Timed:
        while True:
            try:
                return await self._desk.verdict(line)
            except Busy:
                # The trace has been taken in: it waits for as long as it must.
                await asyncio.sleep(_GLANCE * (1 + randbelow(10)))

    def _run_of(self, day: date) -> str:
        """The run that the traces of a day belong to."""
        if self._run is None or self._day != day:
            run = _run_of(self._judging, self._models, day)
            for other in self._store.runs(tags={"source": SOURCE}):
                if other.state is RunState.RUNNING and other.id < f"{day:%Y%m%d}":
                    self._store.close_run(other.id, RunState.FINISHED)
            self._store.begin(run)
            self._run, self._day = run, day
        return self._run.id


def _run_of(judging: Judging, models: tuple[str, ...], day: date) -> Run:
    judge, fingerprint = judging.judge, judging.fingerprint
    return Run(
        id=f"{day:%Y%m%d}-traces-{fingerprint[:6]}",
        created=datetime.now(UTC),
        source="OpenTelemetry",
        judge=JudgeSummary(name=judge.name, fingerprint=judge.fingerprint, models=models),
        fingerprint=fingerprint,
        tags={"source": SOURCE},
    )


async def _tried(work: Callable[[], None]) -> None:
    """Do what the database may not be able to do just now; it will be done again."""
    try:
        await asyncio.to_thread(work)
    except StoreFailed as error:
        tell_fault("the store failed", error)
