"""What the routes of a server work with: opened when it starts, closed when it ends."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from planproof.errors import InvalidConfiguration
from planproof.runs.store.opening import open_store
from planproof.runs.store.protocol import Store
from planproof.runs.store.sql import SqlStore
from planproof.server.desk import Desk
from planproof.server.settings import ServerSettings


@dataclass(slots=True)
class Services:
    """Everything that a route may need."""

    settings: ServerSettings
    store: Store
    desk: Desk


@asynccontextmanager
async def opened(settings: ServerSettings) -> AsyncGenerator[Services, None]:
    """The services of a server, for as long as it runs."""
    store = open_database(settings.store)
    try:
        desk = Desk(
            settings.judgings,
            processes=settings.processes,
            waiting=settings.limits.waiting,
            deadline=settings.limits.judging,
        )
        try:
            await desk.open()
            yield Services(settings, store, desk)
        finally:
            await desk.close()
    finally:
        store.close()


def open_database(url: str | None) -> SqlStore:
    """The store at this address, which has to be a database."""
    store = open_store(url)
    if isinstance(store, SqlStore):
        return store
    store.close()
    raise InvalidConfiguration(
        "a server needs a database: what it accepts must be kept.",
        where=store.url,
        advice="Name a file or postgresql://USER@HOST/NAME with --store.",
    )


def services_of(request: Request) -> Services:
    """The services of the server that a request came to."""
    return cast("Services", request.app.state.services)


ServicesDep = Annotated[Services, Depends(services_of)]
