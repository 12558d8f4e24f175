"""Spans taken into a store as a server would."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from sqlalchemy import update

from planproof.runs.store.schema import traces
from planproof.runs.store.sql_store import SqlStore
from planproof.server.ingestion.otlp_requests import parse_request
from planproof.server.ingestion.received_spans import ReceivedSpan
from planproof.server.ingestion.span_inbox import Inbox
from planproof.server.server_settings import ServerLimits
from tests.otlp_traces import make_export

QUIET, OLDEST = 1.0, 600.0


def receive_spans(*made: dict[str, Any]) -> list[ReceivedSpan]:
    """Spans as they are once they were received."""
    return parse_request(json.dumps(make_export(made)).encode(), "json", ServerLimits()).spans


def store_spans(
    store: SqlStore, *deliveries: list[ReceivedSpan], limits: ServerLimits | None = None
) -> list[int]:
    """What an inbox says when these come, all at once."""

    async def taken() -> list[int]:
        inbox = Inbox(
            store.database,
            quiet_seconds=QUIET,
            oldest_seconds=OLDEST,
            limits=limits or ServerLimits(),
        )
        said = await asyncio.gather(*map(inbox.add_spans, deliveries))
        await inbox.close()
        return said

    return asyncio.run(taken())


def make_due(store: SqlStore) -> None:
    """Let all that waits be judged now."""
    with store.database.begin_write() as connection:
        connection.execute(update(traces).where(traces.c.due.is_not(None)).values(due=1.0))
