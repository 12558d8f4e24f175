"""Write received spans to the database before their request is acknowledged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from time import time
from typing import Any

from sqlalchemy import Connection, bindparam, case, func, select, update

from planproof.runs.store.database import Database, get_dialect, insert_new
from planproof.runs.store.schema import spans, traces
from planproof.server.http_problems import ServerBusy
from planproof.server.ingestion.batching import Batcher
from planproof.server.ingestion.received_spans import ReceivedSpan, build_row, read_row
from planproof.server.server_settings import ServerLimits

_TRACES_PER_QUERY = 500
"""Traces named in one query: databases limit the number of parameters."""
_RETRY_AFTER = 2
_MAX_WAITING_BYTES = 64 * 1024 * 1024
"""Bytes of spans that may wait to be written."""


class Inbox:
    """Store spans. A trace with a root span is due `quiet_seconds` after its last span arrived.

    A trace without a root span is due `oldest_seconds` after its last span arrived.
    """

    def __init__(
        self,
        database: Database,
        *,
        quiet_seconds: float,
        oldest_seconds: float,
        limits: ServerLimits,
    ) -> None:
        self._database = database
        self._quiet_seconds = quiet_seconds
        self._oldest_seconds = oldest_seconds
        self._limits = limits
        self._batcher = Batcher(self._write, "planproof-inbox")
        self._waiting_bytes = 0
        self.backlog_spans = 0
        """Spans that wait for a verdict on their trace, as last counted."""
        self.accepted_spans = 0
        """Spans stored since the server started."""

    async def add_spans(self, new_spans: list[ReceivedSpan]) -> int:
        """Store spans; return how many were refused because their trace is full.

        Raises `ServerBusy` if too many spans wait to be judged or written.
        """
        if not new_spans:
            return 0
        size = sum(span.size for span in new_spans)
        if self.backlog_spans > self._limits.backlog:
            raise ServerBusy(
                f"{self.backlog_spans:,} spans are waiting to be judged.", _RETRY_AFTER
            )
        if self._waiting_bytes and self._waiting_bytes + size > _MAX_WAITING_BYTES:
            raise ServerBusy(
                f"{self._waiting_bytes:,} bytes are waiting to be written.", _RETRY_AFTER
            )
        self._waiting_bytes += size
        try:
            refused = await self._batcher(new_spans)
        finally:
            self._waiting_bytes -= size
        self.accepted_spans += len(new_spans) - refused
        return refused

    async def close(self) -> None:
        """Write the waiting spans, then stop."""
        await self._batcher.close()

    def count_backlog(self) -> None:
        """Update `backlog_spans` from the database."""
        waiting = select(func.coalesce(func.sum(traces.c.spans), 0)).where(traces.c.due > 0)
        with self._database.begin_read() as connection:
            self.backlog_spans = int(connection.scalar(waiting) or 0)

    def _write(self, deliveries: list[list[ReceivedSpan]]) -> list[int]:
        """Store spans in one transaction; return the number refused for each delivery."""
        now = time()
        received = [span for delivery in deliveries for span in delivery]
        count = Counter(span.trace for span in received)
        size: Counter[str] = Counter()
        for span in received:
            size[span.trace] += span.size
        roots = {span.trace: span.id for span in received if span.ends_root}
        rows = [row for delivery in deliveries for row in _build_rows(delivery)]
        with self._database.begin_write() as connection:
            full = self._find_full_traces(connection, count, size)
            arrivals = [
                {
                    "trace": trace,
                    "first": now,
                    "last": now,
                    "root": roots.get(trace),
                    "spans": count[trace],
                    "size": size[trace],
                    "revision": 1,
                    "due": now + (self._quiet_seconds if trace in roots else self._oldest_seconds),
                }
                for trace in sorted(count)
                if trace not in full
            ]
            # The trace first: its revision tells the judge that spans have arrived since.
            self._upsert_traces(connection, arrivals)
            insert_new(connection, spans, [row for row in rows if row["trace"] not in full])
        return [sum(span.trace in full for span in delivery) for delivery in deliveries]

    def _upsert_traces(self, connection: Connection, arrivals: list[dict[str, Any]]) -> None:
        if arrivals:
            upsert = _build_trace_upsert(
                get_dialect(connection), self._quiet_seconds, self._oldest_seconds
            )
            connection.execute(upsert, arrivals)

    def _find_full_traces(
        self, connection: Connection, count: Counter[str], size: Counter[str]
    ) -> frozenset[str]:
        """Return the traces that would exceed their limits with these spans."""
        full = {trace for trace in count if self._exceeds_limits(count[trace], size[trace])}
        for names in _split_into_chunks(sorted(count)):
            for row in connection.execute(_SELECT_TRACE_SIZES, {"trace_ids": names}).all():
                added = count[row.trace], size[row.trace]
                if not self._exceeds_limits(row.spans + added[0], row.size + added[1]):
                    continue
                # Duplicates may be the reason: count again. Spans judged before can't be counted.
                stored = _count_stored_spans(connection, row.trace)
                if row.case or self._exceeds_limits(
                    stored["spans"] + added[0], stored["size"] + added[1]
                ):
                    full.add(row.trace)
                else:
                    statement = update(traces).where(traces.c.trace == row.trace)
                    connection.execute(statement.values(stored))
        return frozenset(full)

    def _exceeds_limits(self, count: int, size: int) -> bool:
        return count > self._limits.trace_spans or size > self._limits.trace_bytes


_SELECT_TRACE_SIZES = select(traces.c.trace, traces.c.spans, traces.c.size, traces.c.case).where(
    traces.c.trace.in_(bindparam("trace_ids", expanding=True))
)


@cache  # building it takes longer than executing it
def _build_trace_upsert(dialect: Any, quiet_seconds: float, oldest_seconds: float) -> Any:
    insert = dialect.insert(traces)
    new = insert.excluded
    root = func.coalesce(traces.c.root, new.root)
    changed = {
        "last": new.last,
        "root": root,
        "spans": traces.c.spans + new.spans,
        "size": traces.c.size + new.size,
        "revision": traces.c.revision + 1,
        "due": new.last + case((root.is_(None), oldest_seconds), else_=quiet_seconds),
    }
    return insert.on_conflict_do_update(index_elements=["trace"], set_=changed)


def _build_rows(delivery: list[ReceivedSpan]) -> Iterable[dict[str, Any]]:
    traces: dict[str, list[ReceivedSpan]] = {}
    for span in delivery:
        traces.setdefault(span.trace, []).append(span)
    return (build_row(trace, spans) for trace, spans in traces.items())


def _count_stored_spans(connection: Connection, trace: str) -> dict[str, int]:
    """Return the number of distinct spans stored for a trace, and their total size."""
    rows = connection.execute(select(spans).where(spans.c.trace == trace)).all()
    sizes = {span.id: span.size for row in rows for span in read_row(row)}
    return {"spans": len(sizes), "size": sum(sizes.values())}


def _split_into_chunks(names: list[str]) -> Iterable[list[str]]:
    return (
        names[start : start + _TRACES_PER_QUERY]
        for start in range(0, len(names), _TRACES_PER_QUERY)
    )
