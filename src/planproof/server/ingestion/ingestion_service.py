"""Everything that takes in and judges traces, for as long as a server runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from planproof.runs.store.sql_store import SqlStore
from planproof.server.ingestion.span_inbox import Inbox
from planproof.server.ingestion.trace_judging import TraceVerdicts
from planproof.server.judge_queue import Desk
from planproof.server.prometheus_metrics import Metrics
from planproof.server.server_settings import ServerSettings


@dataclass(frozen=True, slots=True)
class Ingestion:
    """What takes spans in, and what judges their traces.

    Whoever takes a large body apart holds `one_large`.
    """

    inbox: Inbox
    verdicts: TraceVerdicts
    one_large: asyncio.Lock


@asynccontextmanager
async def ingesting(
    settings: ServerSettings, store: SqlStore, desk: Desk, metrics: Metrics
) -> AsyncGenerator[Ingestion, None]:
    """Take in traces and judge them, until this is left."""
    inbox = Inbox(
        store.database, quiet=settings.quiet, oldest=settings.oldest, limits=settings.limits
    )
    endpoint = settings.otlp_endpoint
    verdicts = TraceVerdicts(settings, store, desk, inbox)
    metrics.gauge("spans_taken", "Spans that were taken in.", lambda: inbox.taken)
    metrics.gauge("spans_waiting", "Spans whose trace is to be judged.", lambda: inbox.backlog)
    metrics.gauge("traces_judged", "Traces that were judged.", lambda: verdicts.count)
    telling: asyncio.Task[None] | None = None
    try:
        async with verdicts.at_work():
            if endpoint is not None:
                from planproof.server.ingestion.verdict_export import Outgoing  # noqa: PLC0415

                outgoing = Outgoing(store, endpoint, settings.otlp_headers)
                telling = asyncio.create_task(outgoing.work(verdicts.judged))
            yield Ingestion(inbox, verdicts, asyncio.Lock())
    finally:
        if telling is not None:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
        await inbox.close()
