"""What the routes of a server work with: opened when it starts, closed when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from planproof.runs.store.open_store import open_sql_store
from planproof.runs.store.sql_store import SqlStore
from planproof.server.active_runs import RunsUnderWay
from planproof.server.guard.api_keys import Keys
from planproof.server.ingestion.ingestion_service import Ingestion, ingesting
from planproof.server.judge_queue import Desk
from planproof.server.live_traces import LiveTraces
from planproof.server.pages.page_queries import Records
from planproof.server.prometheus_metrics import Metrics
from planproof.server.server_settings import ServerSettings


@dataclass(slots=True, kw_only=True)
class Services:
    """Everything that a route may need. `closing` is set when the server is about to end."""

    settings: ServerSettings
    store: SqlStore
    desk: Desk
    ingestion: Ingestion
    live: LiveTraces
    keys: Keys
    metrics: Metrics
    closing: asyncio.Event
    runs: RunsUnderWay
    records: Records


@asynccontextmanager
async def opened(settings: ServerSettings, metrics: Metrics) -> AsyncGenerator[Services, None]:
    """The services of a server, for as long as it runs."""
    store = open_sql_store(settings.store)
    try:
        desk = Desk(
            settings.judgings,
            metrics,
            processes=settings.processes,
            questions=settings.questions,
            waiting=settings.limits.waiting,
            deadline=settings.limits.judging,
        )
        try:
            await desk.open()
            runs = RunsUnderWay(settings, store, desk, metrics)
            try:
                async with ingesting(settings, store, desk, metrics) as ingestion:
                    yield Services(
                        settings=settings,
                        store=store,
                        desk=desk,
                        ingestion=ingestion,
                        live=LiveTraces(store, desk.judging()),
                        keys=Keys(store.database),
                        metrics=metrics,
                        closing=asyncio.Event(),
                        runs=runs,
                        records=Records(store, settings.min_score),
                    )
            finally:
                await runs.close()
        finally:
            await desk.close()
    finally:
        store.close()


def services_of(request: Request) -> Services:
    """The services of the server that a request came to."""
    return cast("Services", request.app.state.services)


ServicesDep = Annotated[Services, Depends(services_of)]
