"""Traces that can't be judged: others pass them, and in the end a verdict says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from time import time
from typing import cast

import pytest
from sqlalchemy import func, select, update

from planproof.core.verdict import Outcome, Verdict
from planproof.errors import StoreFailed
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.engines.process_pool import TimedVerdict
from planproof.runs.run_records import Result
from planproof.runs.store.open_store import open_sql_store
from planproof.runs.store.schema import spans, traces
from planproof.runs.store.sql_store import SqlStore
from planproof.server.ingestion.finished_traces import FinishedTrace, TraceQueue
from planproof.server.ingestion.span_inbox import Inbox
from planproof.server.ingestion.trace_judging import TraceJudge
from planproof.server.judge_queue import JudgeQueue
from planproof.server.server_settings import ServerLimits
from tests.ingestion import OLDEST, QUIET, receive_spans, store_spans
from tests.otlp_traces import make_spans
from tests.server_processes import make_settings

PATIENCE = 60.0
"""Seconds; nothing takes nearly as long."""
BAD, GOOD = range(1, 101), 500
"""More that fail than are judged at once, and one that does not."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with closing(open_sql_store(str(tmp_path / "runs.db"))) as opened:
        yield opened


class Clock:
    """A clock that is put forward by hand, or by a step whenever somebody looks at it."""

    def __init__(self) -> None:
        self.now = time() + 10
        self.step = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


class Judge:
    """A desk that judges in no time, and fails on some traces."""

    def __init__(self, *unfit: int) -> None:
        self.unfit = {f"{number:032x}" for number in unfit}
        self.tried: list[str] = []

    def get_evaluator(self) -> CaseEvaluator:
        return make_settings("unused").evaluator

    async def submit(self, line: CaseLine) -> TimedVerdict:
        self.tried.append(line.id or "")
        if line.id in self.unfit:
            raise TypeError("unfit")
        return Verdict(outcome=Outcome.NO_PLAN, reason="judged", id=line.id), 0.0


@asynccontextmanager
async def _at_work(
    store: SqlStore, judge: Judge, clock: Clock
) -> AsyncGenerator[Callable[[Callable[[], bool]], Awaitable[None]], None]:
    """A server that judges; what is given waits until something is so."""
    inbox = Inbox(store.database, quiet_seconds=QUIET, oldest_seconds=OLDEST, limits=ServerLimits())
    verdicts = TraceJudge(
        make_settings("unused"), store, cast("JudgeQueue", judge), inbox, clock=clock
    )

    async def until(is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not await asyncio.to_thread(is_so):
                await asyncio.sleep(0.01)

    async with verdicts.run():
        yield until
    await inbox.close()


def _make_due(store: SqlStore, *numbers: int) -> None:
    """Let these traces be due, and no others."""
    store_spans(store, *(receive_spans(*make_spans(number)) for number in numbers))
    new = update(traces).where(traces.c.trace.in_([f"{number:032x}" for number in numbers]))
    with store.database.begin_write() as connection:
        connection.execute(new.values(due=1.0))


def _results(store: SqlStore) -> dict[int, Result]:
    return {
        int(result.id or "", 16): result
        for run in store.list_runs()
        for result in store.iter_results(run.id)
    }


def _count(store: SqlStore, failures: int) -> int:
    query = select(func.count()).where(traces.c.failures == failures)
    with store.database.begin_read() as connection:
        return connection.scalar(query) or 0


def _spoil_rows(store: SqlStore, content: bytes) -> None:
    with store.database.begin_write() as connection:
        connection.execute(update(spans).values(content=content))


def test_new_traces_pass_those_that_fail(store: SqlStore) -> None:
    judge = Judge(*BAD)
    _make_due(store, *BAD)

    async def work() -> None:
        # Its clock stands still: what has failed does not get due again.
        async with _at_work(store, judge, Clock()) as until:
            await until(lambda: _count(store, 1) == len(BAD))
            await asyncio.to_thread(_make_due, store, GOOD)
            await until(lambda: GOOD in _results(store))

    asyncio.run(work())
    assert len(judge.tried) == len(BAD) + 1


def test_after_three_tries_the_verdict_says_that_a_trace_can_not_be_judged(
    store: SqlStore,
) -> None:
    judge, clock = Judge(1), Clock()
    _make_due(store, 1)

    async def work() -> None:
        async with _at_work(store, judge, clock) as until:
            for failures, pause in ((1, 1.0), (2, 5.0)):
                await until(lambda failures=failures: _count(store, failures) == 1)
                with store.database.begin_read() as connection:
                    due = connection.scalar(select(traces.c.due))
                assert due == pytest.approx(clock.now + pause)
                clock.now += pause
            await until(lambda: 1 in _results(store))

    asyncio.run(work())
    assert len(judge.tried) == 3
    result = _results(store)[1]
    assert result.verdict.outcome is Outcome.JUDGE_FAILED
    assert "could not be judged in 3 attempts (TypeError)" in result.verdict.reason
    assert result.verdict.metadata == {"service": "desk"}
    assert "look_up" in store.get_case(result.case).text
    assert _count(store, 0) == 1, "should spans come late, it begins again"


@pytest.mark.parametrize("content", [b"\xff", b"\x91\x92\xc4\x03{{{\x91\x93\xa1a\xa1b\xc4\x01{"])
def test_rows_that_can_not_be_read_get_a_verdict_after_a_restart(
    store: SqlStore, content: bytes
) -> None:
    _make_due(store, *BAD)
    _spoil_rows(store, content)

    async def work() -> None:
        judge, clock = Judge(), Clock()
        async with _at_work(store, judge, clock) as until:
            await until(lambda: _count(store, 1) == len(BAD))
        async with _at_work(store, judge, clock) as until:
            await asyncio.to_thread(_make_due, store, GOOD)
            await until(lambda: GOOD in _results(store))
            clock.step = 5.0
            await until(lambda: len(_results(store)) > len(BAD))

    asyncio.run(work())
    outcomes = {number: result.verdict.outcome for number, result in _results(store).items()}
    assert outcomes.pop(GOOD) is Outcome.NO_PLAN
    assert outcomes == dict.fromkeys(BAD, Outcome.JUDGE_FAILED)


@pytest.mark.parametrize("attributes", [b"null", b"5", b'[null,5,{"key":5}]'])
def test_a_row_that_an_older_version_kept_is_judged(store: SqlStore, attributes: bytes) -> None:
    _make_due(store, 1)
    with store.database.begin_read() as connection:
        held = connection.scalar(select(spans.c.content)) or b""
    around = b'{"resource":{"attributes":' + attributes + b'},"scopeSpans":[{"scope":{},"spans":['
    start, end = held.index(b'{"resource"'), held.index(b'"spans":[') + len(b'"spans":[')
    # The length of the bytes stands before them.
    _spoil_rows(store, held[: start - 2] + b"\xc4" + bytes([len(around)]) + around + held[end:])

    async def work() -> None:
        async with _at_work(store, Judge(), Clock()) as until:
            await until(lambda: 1 in _results(store))

    asyncio.run(work())
    assert _results(store)[1].verdict.outcome is Outcome.NO_PLAN


def test_one_whose_verdict_can_not_be_kept_costs_no_other(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = TraceQueue.finish

    def refuses(self: TraceQueue, judged: list[FinishedTrace]) -> list[bool]:
        if any(one.claim.trace == f"{1:032x}" and one.size > 200 for one in judged):
            raise StoreFailed("too much")
        return finish(self, judged)

    monkeypatch.setattr(TraceQueue, "finish", refuses)

    async def work() -> None:
        clock = Clock()
        async with _at_work(store, Judge(), clock) as until:
            await until(lambda: {2, 3} <= _results(store).keys())
            clock.step = 25.0
            await until(lambda: 1 in _results(store))

    _make_due(store, 1, 2, 3)
    asyncio.run(work())
    # It is kept without its spans, after that failed with them.
    assert _results(store)[1].verdict.outcome is Outcome.JUDGE_FAILED
    assert "look_up" not in store.get_case(_results(store)[1].case).text
