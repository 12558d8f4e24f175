"""Queue of finished traces in the database: claim them for judging, store their verdicts.

Several servers may share a database. Each sends heartbeats; a trace claimed by one server is
reserved for it until its heartbeats stop.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from secrets import token_hex
from time import time

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    update,
)

from planproof.runs.store.database import Database, upsert
from planproof.runs.store.schema import runs, servers, spans, traces
from planproof.runs.store.sql_store import ResultRows, write_results
from planproof.server.ingestion.received_spans import ReceivedSpan, read_row

SERVER_TIMEOUT_SECONDS = 5.0
"""Seconds without a heartbeat after which a server is considered dead."""
_SERVER_DELETE_SECONDS = 100 * SERVER_TIMEOUT_SECONDS
_CLAIM_TRACES = (
    update(traces)
    .where(traces.c.trace == bindparam("trace_id"))
    .values(
        server=bindparam("server_id"),
        run=bindparam("run_id"),
        position=bindparam("new_position"),
    )
)
_FINISH_TRACES = (
    update(traces)
    .where(traces.c.trace == bindparam("trace_id"))
    .values(
        due=None,
        server=None,
        failures=0,
        spans=bindparam("span_count"),
        size=bindparam("new_size"),
        case=bindparam("case_hash"),
        # Without a new verdict, a pending export stays pending.
        export_due=func.coalesce(bindparam("new_export_due", type_=Float), traces.c.export_due),
    )
)
_SELECT_SPANS = select(spans).where(spans.c.trace == bindparam("trace_id"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedTrace:
    """A trace that this server has claimed for judging, as it was at that time.

    Its result goes to `run` at `position`. `case` is the hash of the case judged before, if spans
    arrived late. `failures` counts the failed attempts to judge it.
    """

    trace: str
    revision: int
    size: int
    run: str
    position: int
    case: str | None
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedTrace:
    """A judged trace with its number of spans, and the rows to store for it.

    `results` is None if the late spans were duplicates, so that the stored verdict is still valid.
    """

    claim: ClaimedTrace
    spans: int
    size: int
    case: str
    results: ResultRows | None


class TraceQueue:
    """Claim traces that are due for this server, and store their verdicts.

    With `send_verdicts`, verdicts are marked for export. `clock` returns the seconds since 1970.
    """

    def __init__(
        self, database: Database, *, send_verdicts: bool, clock: Callable[[], float] | None = None
    ) -> None:
        self._database = database
        self._send_verdicts = send_verdicts
        self._clock = clock or time
        self._server_id = token_hex(8)

    def send_heartbeat(self) -> None:
        """Record that this server is alive, and delete servers that have been gone for long."""
        now = self._clock()
        with self._database.begin_write() as connection:
            upsert(connection, servers, [{"id": self._server_id, "seen": now}])
            connection.execute(delete(servers).where(servers.c.seen < now - _SERVER_DELETE_SECONDS))

    def release_all(self) -> None:
        """Release all claims of this server, so that others need not wait for the timeout."""
        with self._database.begin_write() as connection:
            connection.execute(
                update(traces).where(traces.c.server == self._server_id).values(server=None)
            )
            connection.execute(delete(servers).where(servers.c.id == self._server_id))

    def has_due_traces(self, running: Collection[str]) -> bool:
        """Return whether a trace can be claimed; takes no lock, so it blocks no other server."""
        query = select(traces.c.trace).where(self._is_claimable(running)).limit(1)
        with self._database.begin_read() as connection:
            return connection.execute(query).first() is not None

    def claim(self, run: str, limit: int, running: Collection[str]) -> list[ClaimedTrace]:
        """Claim up to `limit` due traces; those never judged get a position in `run`."""
        with self._database.begin_write() as connection:
            due = (
                select(traces)
                .where(self._is_claimable(running))
                .order_by(traces.c.due)
                .limit(limit)
            )
            rows = connection.execute(due.with_for_update(skip_locked=True)).all()
            new = [row for row in rows if row.case is None and row.run != run]
            positions = {row.trace: (row.run, row.position) for row in rows}
            for row, position in zip(
                new, self._reserve_positions(connection, run, len(new)), strict=True
            ):
                positions[row.trace] = run, position
            claims = [
                ClaimedTrace(
                    trace=row.trace,
                    revision=row.revision,
                    size=row.size,
                    run=positions[row.trace][0],
                    position=positions[row.trace][1],
                    case=row.case,
                    failures=row.failures,
                )
                for row in sorted(rows, key=lambda row: row.trace)
            ]
            if claims:
                connection.execute(
                    _CLAIM_TRACES,
                    [
                        {
                            "trace_id": trace.trace,
                            "server_id": self._server_id,
                            "run_id": trace.run,
                            "new_position": trace.position,
                        }
                        for trace in claims
                    ],
                )
        return claims

    def _is_claimable(self, running: Collection[str]) -> ColumnElement[bool]:
        now = self._clock()
        other_servers = select(servers.c.id).where(
            servers.c.seen > now - SERVER_TIMEOUT_SECONDS, servers.c.id != self._server_id
        )
        is_unclaimed = or_(traces.c.server.is_(None), traces.c.server.not_in(other_servers))
        return and_(traces.c.due <= now, is_unclaimed, traces.c.trace.not_in(running))

    def _reserve_positions(self, connection: Connection, run: str, count: int) -> range:
        if not count:
            return range(0)
        # Lock the run: others that assign positions in it must wait for these.
        connection.execute(select(runs.c.id).where(runs.c.id == run).with_for_update())
        last = connection.scalar(select(func.max(traces.c.position)).where(traces.c.run == run))
        first = 0 if last is None else last + 1
        return range(first, first + count)

    def load_spans(self, trace: str) -> list[ReceivedSpan]:
        """Return the spans of a trace that arrived since it was last judged."""
        with self._database.begin_read() as connection:
            rows = connection.execute(_SELECT_SPANS, {"trace_id": trace}).all()
        return [span for row in rows for span in read_row(row)]

    def postpone(self, claim: ClaimedTrace, seconds: float, *, failed: bool = True) -> None:
        """Release a trace and make it due in `seconds` seconds; count a failure if `failed`."""
        statement = update(traces).where(
            traces.c.trace == claim.trace, traces.c.server == self._server_id
        )
        failures = claim.failures + failed
        with self._database.begin_write() as connection:
            connection.execute(
                statement.values(server=None, due=self._clock() + seconds, failures=failures)
            )

    def finish(self, finished: Sequence[FinishedTrace]) -> list[bool]:
        """Store verdicts and delete the spans they cover, in one transaction.

        Returns False for a trace that received more spans meanwhile or was claimed by another
        server. Nothing is stored for it, and it will be judged again.
        """
        now = self._clock()
        names = [trace.claim.trace for trace in finished]
        with self._database.begin_write() as connection:
            query = select(traces.c.trace, traces.c.revision).where(
                traces.c.trace.in_(names), traces.c.server == self._server_id
            )
            locked = connection.execute(query.order_by(traces.c.trace).with_for_update())
            current_revisions = {row.trace: row.revision for row in locked}
            good = [
                trace
                for trace in finished
                if current_revisions.get(trace.claim.trace) == trace.claim.revision
            ]
            stale = current_revisions.keys() - {trace.claim.trace for trace in good}
            connection.execute(update(traces).where(traces.c.trace.in_(stale)).values(server=None))
            new = [trace.results for trace in good if trace.results is not None]
            write_results(connection, new, overwrite=True)
            done = [trace.claim.trace for trace in good]
            connection.execute(delete(spans).where(spans.c.trace.in_(done)))
            if good:
                connection.execute(
                    _FINISH_TRACES,
                    [
                        {
                            "trace_id": trace.claim.trace,
                            "span_count": trace.spans,
                            "new_size": trace.size,
                            "case_hash": trace.case,
                            "new_export_due": now
                            if self._send_verdicts and trace.results is not None
                            else None,
                        }
                        for trace in sorted(good, key=lambda trace: trace.claim.trace)
                    ],
                )
        return [trace in good for trace in finished]
