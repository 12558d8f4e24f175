"""Judge finished traces in the background, each exactly once, with retries after failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from datetime import UTC, date, datetime
from secrets import randbelow
from time import monotonic

from sqlalchemy.exc import OperationalError

from planproof.core.case import Case
from planproof.core.content import Json
from planproof.core.verdict import JudgeSummary, Outcome, Verdict
from planproof.errors import InvalidInput, StoreFailed
from planproof.evaluation import is_async_judge
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.engines.process_pool import TimedVerdict
from planproof.runs.run_records import (
    Result,
    Run,
    RunState,
    StoredCase,
    deserialize_case,
    serialize_case,
)
from planproof.runs.store.sql_store import SqlStore
from planproof.server.http_problems import ServerBusy
from planproof.server.ingestion.batching import Batcher
from planproof.server.ingestion.finished_traces import (
    SERVER_TIMEOUT_SECONDS,
    ClaimedTrace,
    FinishedTrace,
    TraceQueue,
)
from planproof.server.ingestion.otlp_requests import parse_spans
from planproof.server.ingestion.received_spans import build_document, find_service_name
from planproof.server.ingestion.span_inbox import Inbox
from planproof.server.judge_queue import JudgeQueue
from planproof.server.observability import log_error
from planproof.server.server_settings import ServerSettings

SOURCE_TAG = "opentelemetry"
"""The `source` tag of runs that consist of received traces."""
_CHECK_SECONDS = 1.0
"""Seconds for which a successful check of the store counts."""
_POLL_SECONDS = 0.1
"""Seconds between queries for due traces."""
_TRACES_PER_PROCESS = 16
"""Traces in progress at once per process: some are being read or stored, others judged."""
_RETRY_DELAYS = (1.0, 5.0, 25.0, 125.0, 600.0)
"""Seconds to wait after the first, second, ... failure."""
_MAX_ATTEMPTS = 3
"""Attempts to judge a trace before its verdict says that it can't be judged."""
_LARGE_TRACE_BYTES = 8 * 1024 * 1024
"""Traces above this size are judged one at a time: several copies of each are in memory."""


class TraceJudge:
    """Submit finished traces to the judge queue, and store their verdicts."""

    def __init__(
        self,
        settings: ServerSettings,
        store: SqlStore,
        judge_queue: JudgeQueue,
        inbox: Inbox,
        *,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._store = store
        self._judge_queue = judge_queue
        self._inbox = inbox
        self._concurrency = _TRACES_PER_PROCESS * settings.processes
        send_verdicts = settings.otlp_endpoint is not None
        self._trace_queue = TraceQueue(store.database, send_verdicts=send_verdicts, clock=clock)
        self._finish_batcher = Batcher(
            self._finish_each, "planproof-verdicts", delay=_POLL_SECONDS / 5
        )
        self._evaluator = judge_queue.get_evaluator()
        self._models = settings.models if is_async_judge(self._evaluator.judge) else ()
        self._run: Run | None = None
        self._day: date | None = None
        self._running: dict[str, asyncio.Task[None]] = {}
        self._large_trace_lock = asyncio.Lock()
        self._check_lock = asyncio.Lock()
        self._checked_at = float("-inf")
        self.verdict_saved = asyncio.Event()
        """Set whenever a verdict has been stored; the waiting task clears it."""
        self.verdict_count = 0
        """Verdicts stored since the server started."""

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None, None]:
        """Judge traces as they become due, until the context is left."""
        await asyncio.to_thread(self._trace_queue.send_heartbeat)
        tasks = [
            asyncio.create_task(self._send_heartbeats()),
            asyncio.create_task(self._run_loop()),
        ]
        try:
            yield
        finally:
            tasks += self._running.values()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._finish_batcher.close()
            with suppress(StoreFailed):
                await asyncio.to_thread(self._trace_queue.release_all)

    async def check_store(self) -> None:
        """Write a heartbeat, at most one per second; raises `StoreFailed` if that fails."""
        async with self._check_lock:
            if monotonic() - self._checked_at > _CHECK_SECONDS:
                await asyncio.to_thread(self._store.database.check_free_space)
                await asyncio.to_thread(self._trace_queue.send_heartbeat)
                self._checked_at = monotonic()

    async def _send_heartbeats(self) -> None:
        while True:
            await asyncio.sleep(SERVER_TIMEOUT_SECONDS / 5)
            await _try_store(self._trace_queue.send_heartbeat)
            await _try_store(self._inbox.count_backlog)

    async def _run_loop(self) -> None:
        while True:
            free_slots = self._concurrency - len(self._running)
            # Claim several at a time: one claim costs as much as many.
            if free_slots < self._concurrency / 2:
                await asyncio.sleep(_POLL_SECONDS / 10)
                continue
            claims = await self._claim_or_wait(free_slots)
            for claim in claims:
                self._running[claim.trace] = asyncio.create_task(self._judge_and_save(claim))
            if len(claims) < free_slots:
                await asyncio.sleep(_POLL_SECONDS)

    async def _claim_or_wait(self, limit: int) -> list[ClaimedTrace]:
        try:
            return await asyncio.to_thread(self._claim_traces, limit)
        except Exception as error:
            log_error("claiming traces failed", error)
            await asyncio.sleep(_RETRY_DELAYS[0])
            return []

    def _claim_traces(self, limit: int) -> list[ClaimedTrace]:
        running = tuple(self._running)
        if not self._trace_queue.has_due_traces(running):
            return []
        run = self._get_run_id(datetime.now(UTC).date())
        return self._trace_queue.claim(run, limit, running)

    async def _judge_and_save(self, claim: ClaimedTrace) -> None:
        try:
            async with self._large_trace_lock if claim.size > _LARGE_TRACE_BYTES else nullcontext():
                finished = await self._judge_trace(claim)
            await self._save(finished)
        except Exception as error:
            log_error("judging a trace failed", error, trace=claim.trace)
            await self._handle_failure(claim, error)
        finally:
            del self._running[claim.trace]

    async def _save(self, finished: FinishedTrace) -> None:
        if await self._finish_batcher(finished) and finished.results is not None:
            self.verdict_count += 1
            self.verdict_saved.set()

    async def _handle_failure(self, claim: ClaimedTrace, error: Exception) -> None:
        """Postpone a trace, so that others go first; give up after the last attempt."""
        is_store = isinstance(error, StoreFailed) and isinstance(error.__cause__, OperationalError)
        if claim.failures + 1 >= _MAX_ATTEMPTS and not is_store:
            try:
                await self._save(await asyncio.to_thread(self._make_failed_trace, claim, error))
            except Exception as second_error:
                log_error("storing a failed verdict failed", second_error, trace=claim.trace)
            else:
                return
        pause = _RETRY_DELAYS[min(claim.failures, len(_RETRY_DELAYS) - 1)]
        await _try_store(lambda: self._trace_queue.postpone(claim, pause, failed=not is_store))

    def _make_failed_trace(self, claim: ClaimedTrace, error: Exception) -> FinishedTrace:
        """Return a failed verdict for a trace, with its spans if they can be stored."""
        case, count = self._make_empty_case(claim), 0
        # Storing the spans may be what fails: the next attempt is made without them.
        with suppress(Exception):
            if claim.failures < _MAX_ATTEMPTS:
                line, _, count = self._load_case(claim)
                case = line.case or case
        judge = self._evaluator.judge
        verdict = Verdict(
            outcome=Outcome.JUDGE_FAILED,
            reason=f"The trace could not be judged in {_MAX_ATTEMPTS} attempts "
            f"({type(error).__name__}). See the server log.",
            judge=JudgeSummary(name=judge.name, fingerprint=judge.fingerprint),
            id=claim.trace,
            metadata=case.metadata,
        )
        return self._build_finished_trace(claim, serialize_case(case), count, (verdict, 0.0))

    def _finish_each(self, finished: list[FinishedTrace]) -> list[bool | Exception]:
        """Finish traces together; if that fails, one by one, so that failures stay separate."""
        try:
            return [*self._trace_queue.finish(finished)]
        except Exception:
            if len(finished) == 1:
                raise
        return [self._finish_alone(trace) for trace in finished]

    def _finish_alone(self, finished: FinishedTrace) -> bool | Exception:
        try:
            return self._trace_queue.finish([finished])[0]
        except Exception as error:
            return error

    async def _judge_trace(self, claim: ClaimedTrace) -> FinishedTrace:
        line, case, spans = await asyncio.to_thread(self._load_case, claim)
        timed = None if case.hash == claim.case else await self._judge_when_free(line)
        return await asyncio.to_thread(self._build_finished_trace, claim, case, spans, timed)

    def _build_finished_trace(
        self, claim: ClaimedTrace, case: StoredCase, spans: int, timed: TimedVerdict | None
    ) -> FinishedTrace:
        """Return the rows to store for a trace; without `timed`, its stored verdict stays."""
        results = None
        if timed is not None:
            verdict, seconds = timed
            result = Result(claim.position, case.hash, claim.trace, verdict, seconds)
            results = self._store.build_rows(claim.run, [result], [case])
        size = len(case.text)
        return FinishedTrace(claim=claim, spans=spans, size=size, case=case.hash, results=results)

    def _load_case(self, claim: ClaimedTrace) -> tuple[CaseLine, StoredCase, int]:
        spans = self._trace_queue.load_spans(claim.trace)
        if claim.case is not None:
            # If the stored case was deleted, the late spans are judged alone.
            with suppress(InvalidInput):
                spans += parse_spans(str(deserialize_case(self._store.get_case(claim.case)).trace))
        service = find_service_name(spans)
        metadata: dict[str, Json] = {} if service is None else {"service": service}
        trace = build_document(spans)
        case = Case(task=None, plan=None, trace=trace, id=claim.trace, metadata=metadata)
        count = len({span.id for span in spans})
        return CaseLine(f"trace {claim.trace}", case, id=case.id), serialize_case(case), count

    @staticmethod
    def _make_empty_case(claim: ClaimedTrace) -> Case:
        return Case(task=None, plan=None, trace=build_document([]), id=claim.trace)

    async def _judge_when_free(self, line: CaseLine) -> TimedVerdict:
        while True:
            try:
                return await self._judge_queue.submit(line)
            except ServerBusy:
                # The trace was accepted, so it waits as long as necessary.
                await asyncio.sleep(_POLL_SECONDS * (1 + randbelow(10)))

    def _get_run_id(self, day: date) -> str:
        """Return the id of the run for a day's traces; on a new day, close the earlier ones."""
        if self._run is None or self._day != day:
            run = _make_daily_run(self._evaluator, self._models, day)
            for other in self._store.list_runs(tags={"source": SOURCE_TAG}):
                if other.state is RunState.RUNNING and other.id < f"{day:%Y%m%d}":
                    self._store.close_run(other.id, RunState.FINISHED)
            self._store.begin(run)
            self._run, self._day = run, day
        return self._run.id


def _make_daily_run(evaluator: CaseEvaluator, models: tuple[str, ...], day: date) -> Run:
    judge, fingerprint = evaluator.judge, evaluator.fingerprint
    return Run(
        id=f"{day:%Y%m%d}-traces-{fingerprint[:6]}",
        created=datetime.now(UTC),
        source="OpenTelemetry",
        judge=JudgeSummary(name=judge.name, fingerprint=judge.fingerprint, models=models),
        fingerprint=fingerprint,
        tags={"source": SOURCE_TAG},
    )


async def _try_store(work: Callable[[], None]) -> None:
    """Do work that a temporary database failure may prevent; it is repeated later."""
    try:
        await asyncio.to_thread(work)
    except StoreFailed as error:
        log_error("store failed", error)
