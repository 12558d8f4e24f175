"""Services shared by all routes, opened when the server starts and closed when it stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from planproof.runs.store.open_store import open_sql_store
from planproof.runs.store.sql_store import SqlStore
from planproof.server.active_runs import RunManager
from planproof.server.guard.api_keys import Keys
from planproof.server.ingestion.span_inbox import Inbox
from planproof.server.ingestion.trace_judging import TraceJudge
from planproof.server.judge_queue import JudgeQueue
from planproof.server.live_traces import LiveTraces
from planproof.server.observability import Metrics
from planproof.server.pages.page_queries import RunQueries
from planproof.server.server_settings import ServerSettings


@dataclass(slots=True, kw_only=True)
class Services:
    """The services that routes use. `closing` is set when the server is shutting down."""

    settings: ServerSettings
    store: SqlStore
    judge_queue: JudgeQueue
    ingestion: Ingestion
    live: LiveTraces
    keys: Keys
    metrics: Metrics
    closing: asyncio.Event
    runs: RunManager
    queries: RunQueries


@asynccontextmanager
async def open_services(
    settings: ServerSettings, metrics: Metrics
) -> AsyncGenerator[Services, None]:
    """Open the services of a server, and close them when the context is left."""
    store = open_sql_store(settings.store)
    try:
        judge_queue = JudgeQueue(
            settings.evaluators,
            metrics,
            processes=settings.processes,
            model_concurrency=settings.model_concurrency,
            max_waiting=settings.limits.waiting_cases,
            deadline=settings.limits.judge_timeout,
        )
        try:
            await judge_queue.open()
            runs = RunManager(settings, store, judge_queue, metrics)
            try:
                async with run_ingestion(settings, store, judge_queue, metrics) as ingestion:
                    yield Services(
                        settings=settings,
                        store=store,
                        judge_queue=judge_queue,
                        ingestion=ingestion,
                        live=LiveTraces(store, judge_queue.get_evaluator()),
                        keys=Keys(store.database),
                        metrics=metrics,
                        closing=asyncio.Event(),
                        runs=runs,
                        queries=RunQueries(store, settings.min_score),
                    )
            finally:
                await runs.close()
        finally:
            await judge_queue.close()
    finally:
        store.close()


async def get_services(request: Request) -> Services:
    """Return the services of the server that received a request."""
    return cast("Services", request.app.state.services)


ServicesDep = Annotated[Services, Depends(get_services)]


@dataclass(frozen=True, slots=True)
class Ingestion:
    """The span inbox and the trace judge. Hold `large_body_lock` while parsing a large body."""

    inbox: Inbox
    trace_judge: TraceJudge
    large_body_lock: asyncio.Lock


@asynccontextmanager
async def run_ingestion(
    settings: ServerSettings, store: SqlStore, judge_queue: JudgeQueue, metrics: Metrics
) -> AsyncGenerator[Ingestion, None]:
    """Receive and judge traces until the context is left."""
    inbox = Inbox(
        store.database,
        quiet_seconds=settings.quiet_seconds,
        oldest_seconds=settings.oldest_seconds,
        limits=settings.limits,
    )
    endpoint = settings.otlp_endpoint
    trace_judge = TraceJudge(settings, store, judge_queue, inbox)
    metrics.add_gauge("spans_accepted", "Spans accepted so far.", lambda: inbox.accepted_spans)
    metrics.add_gauge(
        "spans_waiting", "Spans whose trace is not judged yet.", lambda: inbox.backlog_spans
    )
    metrics.add_gauge("traces_judged", "Traces judged so far.", lambda: trace_judge.verdict_count)
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
