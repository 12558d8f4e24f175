"""The inbox: spans are in the database before anybody is told that they were taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from time import time
from typing import Any

from sqlalchemy import Connection, bindparam, case, func, select, update

from planproof.runs.store.database import Database, dialect_of, insert_new
from planproof.runs.store.schema import spans, traces
from planproof.server.http_problems import Busy
from planproof.server.ingestion.batching import Together
from planproof.server.ingestion.received_spans import ReceivedSpan, row_of, spans_in_row
from planproof.server.server_settings import ServerLimits

_AT_ONCE = 500
"""How many traces a query names: databases take only so many parameters."""
_RETRY_AFTER = 2
_MOST_WAITING = 64 * 1024 * 1024
"""Bytes of spans that may wait to be written."""


class Inbox:
    """Takes in spans. A trace is due `quiet` seconds after the last one, once its root is there.

    One whose root does not come is due after `oldest` seconds in which nothing came.
    """

    def __init__(
        self, database: Database, *, quiet: float, oldest: float, limits: ServerLimits
    ) -> None:
        self._database = database
        self._quiet = quiet
        self._oldest = oldest
        self._limits = limits
        self._together = Together(self._write, "planproof-inbox")
        self._waiting = 0
        self.backlog = 0
        """Spans that wait for their trace to be judged, as they were last counted."""
        self.taken = 0
        """Spans that were taken in since the server started."""

    async def take(self, received: list[ReceivedSpan]) -> int:
        """Keep spans; how many were not, for their trace has too many. Raises `Busy`."""
        if not received:
            return 0
        size = sum(span.size for span in received)
        if self.backlog > self._limits.backlog:
            raise Busy(f"{self.backlog:,} spans are waiting to be judged.", _RETRY_AFTER)
        if self._waiting and self._waiting + size > _MOST_WAITING:
            raise Busy(f"{self._waiting:,} bytes are waiting to be written.", _RETRY_AFTER)
        self._waiting += size
        try:
            refused = await self._together(received)
        finally:
            self._waiting -= size
        self.taken += len(received) - refused
        return refused

    async def close(self) -> None:
        """Write what waits, and stop."""
        await self._together.close()

    def count_backlog(self) -> None:
        """Count what waits for a verdict."""
        waiting = select(func.coalesce(func.sum(traces.c.spans), 0)).where(traces.c.due > 0)
        with self._database.reading() as connection:
            self.backlog = int(connection.scalar(waiting) or 0)

    def _write(self, deliveries: list[list[ReceivedSpan]]) -> list[int]:
        """Keep spans, all or none; how many of each delivery were one too many for their trace."""
        now = time()
        received = [span for delivery in deliveries for span in delivery]
        count = Counter(span.trace for span in received)
        size: Counter[str] = Counter()
        for span in received:
            size[span.trace] += span.size
        roots = {span.trace: span.id for span in received if span.ends_root}
        rows = [row for delivery in deliveries for row in _rows(delivery)]
        with self._database.writing() as connection:
            full = self._full(connection, count, size)
            arrivals = [
                {
                    "trace": trace,
                    "first": now,
                    "last": now,
                    "root": roots.get(trace),
                    "spans": count[trace],
                    "size": size[trace],
                    "revision": 1,
                    "due": now + (self._quiet if trace in roots else self._oldest),
                }
                for trace in sorted(count)
                if trace not in full
            ]
            # The trace first: who judges it looks there whether anything has come since.
            self._arrive(connection, arrivals)
            insert_new(connection, spans, [row for row in rows if row["trace"] not in full])
        return [sum(span.trace in full for span in delivery) for delivery in deliveries]

    def _arrive(self, connection: Connection, arrivals: list[dict[str, Any]]) -> None:
        if arrivals:
            upsert = _arriving(dialect_of(connection), self._quiet, self._oldest)
            connection.execute(upsert, arrivals)

    def _full(
        self, connection: Connection, count: Counter[str], size: Counter[str]
    ) -> frozenset[str]:
        """The traces that would have too many spans with these."""
        full = {trace for trace in count if self._is_too_much(count[trace], size[trace])}
        for some in _pieces(sorted(count)):
            for row in connection.execute(_THERE, {"some": some}).all():
                coming = count[row.trace], size[row.trace]
                if not self._is_too_much(row.spans + coming[0], row.size + coming[1]):
                    continue
                # Perhaps only because much came twice; what was judged before can't be counted.
                there_now = _counted(connection, row.trace)
                if row.case or self._is_too_much(
                    there_now["spans"] + coming[0], there_now["size"] + coming[1]
                ):
                    full.add(row.trace)
                else:
                    own = update(traces).where(traces.c.trace == row.trace)
                    connection.execute(own.values(there_now))
        return frozenset(full)

    def _is_too_much(self, count: int, size: int) -> bool:
        return count > self._limits.spans or size > self._limits.trace


_THERE = select(traces.c.trace, traces.c.spans, traces.c.size, traces.c.case).where(
    traces.c.trace.in_(bindparam("some", expanding=True))
)


@cache  # it takes longer to make than to execute
def _arriving(dialect: Any, quiet: float, oldest: float) -> Any:
    insert = dialect.insert(traces)
    new = insert.excluded
    root = func.coalesce(traces.c.root, new.root)
    changed = {
        "last": new.last,
        "root": root,
        "spans": traces.c.spans + new.spans,
        "size": traces.c.size + new.size,
        "revision": traces.c.revision + 1,
        "due": new.last + case((root.is_(None), oldest), else_=quiet),
    }
    return insert.on_conflict_do_update(index_elements=["trace"], set_=changed)


def _rows(delivery: list[ReceivedSpan]) -> Iterable[dict[str, Any]]:
    traces: dict[str, list[ReceivedSpan]] = {}
    for span in delivery:
        traces.setdefault(span.trace, []).append(span)
    return (row_of(trace, spans) for trace, spans in traces.items())


def _counted(connection: Connection, trace: str) -> dict[str, int]:
    """How many spans of a trace there are, each counted once, and their bytes."""
    found = connection.execute(select(spans).where(spans.c.trace == trace)).all()
    sizes = {span.id: span.size for row in found for span in spans_in_row(row)}
    return {"spans": len(sizes), "size": sum(sizes.values())}


def _pieces(names: list[str]) -> Iterable[list[str]]:
    return (names[start : start + _AT_ONCE] for start in range(0, len(names), _AT_ONCE))
