"""Everything that takes in and judges traces, for as long as a server runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from planproof.runs.store.sql_store import SqlStore
from planproof.server.ingestion.span_inbox import Inbox
from planproof.server.ingestion.trace_judging import TraceJudge
from planproof.server.judge_queue import JudgeQueue
from planproof.server.prometheus_metrics import Metrics
from planproof.server.server_settings import ServerSettings


@dataclass(frozen=True, slots=True)
class Ingestion:
    """What takes spans in, and what judges their traces.

    Whoever takes a large body apart holds `one_large`.
    """

    inbox: Inbox
    trace_judge: TraceJudge
    large_body_lock: asyncio.Lock


@asynccontextmanager
async def run_ingestion(
    settings: ServerSettings, store: SqlStore, judge_queue: JudgeQueue, metrics: Metrics
) -> AsyncGenerator[Ingestion, None]:
    """Take in traces and judge them, until this is left."""
    inbox = Inbox(
        store.database,
        quiet_seconds=settings.quiet_seconds,
        oldest_seconds=settings.oldest_seconds,
        limits=settings.limits,
    )
    endpoint = settings.otlp_endpoint
    trace_judge = TraceJudge(settings, store, judge_queue, inbox)
    metrics.add_gauge("spans_taken", "Spans that were taken in.", lambda: inbox.accepted_spans)
    metrics.add_gauge(
        "spans_waiting", "Spans whose trace is to be judged.", lambda: inbox.backlog_spans
    )
    metrics.add_gauge(
        "traces_judged", "Traces that were judged.", lambda: trace_judge.verdict_count
    )
    sender_task: asyncio.Task[None] | None = None
    try:
        async with trace_judge.run():
            if endpoint is not None:
                from planproof.server.ingestion.verdict_export import VerdictSender  # noqa: PLC0415

                outgoing = VerdictSender(store, endpoint, settings.otlp_headers)
                sender_task = asyncio.create_task(outgoing.run(trace_judge.verdict_saved))
            yield Ingestion(inbox, trace_judge, asyncio.Lock())
    finally:
        if sender_task is not None:
            sender_task.cancel()
            await asyncio.gather(sender_task, return_exceptions=True)
        await inbox.close()
