"""Traces that are done: who takes which to be judged, and where its result will stand.

Several servers may share a database. Each says that it is there, again and again; what a server
has taken is its own until it has not been seen for a while.
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
"""Seconds after which a server that was not seen is taken to be gone."""
_SERVER_DELETE_SECONDS = 100 * SERVER_TIMEOUT_SECONDS
_CLAIM_TRACES = (
    update(traces)
    .where(traces.c.trace == bindparam("own"))
    .values(server=bindparam("by"), run=bindparam("its_run"), position=bindparam("place"))
)
_FINISH_TRACES = (
    update(traces)
    .where(traces.c.trace == bindparam("own"))
    .values(
        due=None,
        server=None,
        failures=0,
        spans=bindparam("its_spans"),
        size=bindparam("its_size"),
        case=bindparam("its_case"),
        # What is to be told still is, if nothing new was found.
        untold=func.coalesce(bindparam("to_tell", type_=Float), traces.c.untold),
    )
)
_SELECT_SPANS = select(spans).where(spans.c.trace == bindparam("of"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedTrace:
    """A trace that a server has taken to be judged, as it was then.

    Its result is to stand in `run` at `position`. `case` is the hash of what was judged before, if
    spans came late. `failures` counts the attempts to judge it that failed.
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
    """A trace with so many spans that was judged, and what is to be kept of it.

    Nothing is where what came late had come before.
    """

    claim: ClaimedTrace
    spans: int
    size: int
    case: str
    results: ResultRows | None


class TraceQueue:
    """Takes traces that are done, for this server, and gives them back judged.

    With `tell`, verdicts are marked to be sent out. `clock` gives the seconds since 1970.
    """

    def __init__(
        self, database: Database, *, send_verdicts: bool, clock: Callable[[], float] | None = None
    ) -> None:
        self._database = database
        self._send_verdicts = send_verdicts
        self._clock = clock or time
        self._server_id = token_hex(8)

    def send_heartbeat(self) -> None:
        """Say that this server is at work."""
        now = self._clock()
        with self._database.begin_write() as connection:
            upsert(connection, servers, [{"id": self._server_id, "seen": now}])
            connection.execute(delete(servers).where(servers.c.seen < now - _SERVER_DELETE_SECONDS))

    def release_all(self) -> None:
        """Let go of everything, so that others need not wait."""
        with self._database.begin_write() as connection:
            connection.execute(
                update(traces).where(traces.c.server == self._server_id).values(server=None)
            )
            connection.execute(delete(servers).where(servers.c.id == self._server_id))

    def has_due_traces(self, running: Collection[str]) -> bool:
        """Whether there is a trace to be taken; nobody has to wait for who only asks."""
        query = select(traces.c.trace).where(self._is_claimable(running)).limit(1)
        with self._database.begin_read() as connection:
            return connection.execute(query).first() is not None

    def claim(self, run: str, limit: int, running: Collection[str]) -> list[ClaimedTrace]:
        """Some traces that are due; those that have no place yet get one in this run."""
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
                            "own": trace.trace,
                            "by": self._server_id,
                            "its_run": trace.run,
                            "place": trace.position,
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
        # Others who look for a place in the same run have to wait until these are taken.
        connection.execute(select(runs.c.id).where(runs.c.id == run).with_for_update())
        last = connection.scalar(select(func.max(traces.c.position)).where(traces.c.run == run))
        first = 0 if last is None else last + 1
        return range(first, first + count)

    def load_spans(self, trace: str) -> list[ReceivedSpan]:
        """The spans of a trace that came since it was judged last."""
        with self._database.begin_read() as connection:
            rows = connection.execute(_SELECT_SPANS, {"of": trace}).all()
        return [span for row in rows for span in read_row(row)]

    def postpone(self, claim: ClaimedTrace, seconds: float, *, failed: bool = True) -> None:
        """Let a trace wait so many seconds before anyone takes it again; count it as a failure."""
        statement = update(traces).where(
            traces.c.trace == claim.trace, traces.c.server == self._server_id
        )
        failures = claim.failures + failed
        with self._database.begin_write() as connection:
            connection.execute(
                statement.values(server=None, due=self._clock() + seconds, failures=failures)
            )

    def finish(self, finished: Sequence[FinishedTrace]) -> list[bool]:
        """Keep verdicts, and let go of the spans that they are about; both or neither.

        False is said of a trace for which that would be wrong: more has come meanwhile, or
        another server has taken it. Then nothing is kept, and it will be judged again.
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
                            "own": trace.claim.trace,
                            "its_spans": trace.spans,
                            "its_size": trace.size,
                            "its_case": trace.case,
                            "to_tell": now
                            if self._send_verdicts and trace.results is not None
                            else None,
                        }
                        for trace in sorted(good, key=lambda trace: trace.claim.trace)
                    ],
                )
        return [trace in good for trace in finished]
