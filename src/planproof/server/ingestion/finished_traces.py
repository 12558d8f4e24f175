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

from planproof.runs.store.database import Database, insert_or_replace
from planproof.runs.store.insert_results import PreparedResults, write_together
from planproof.runs.store.schema import runs, servers, spans, traces
from planproof.server.ingestion.received_spans import ReceivedSpan, spans_in_row

GONE_AFTER = 5.0
"""Seconds after which a server that was not seen is taken to be gone."""
_FORGOTTEN_AFTER = 100 * GONE_AFTER
_TAKEN = (
    update(traces)
    .where(traces.c.trace == bindparam("own"))
    .values(server=bindparam("by"), run=bindparam("its_run"), position=bindparam("place"))
)
_DONE = (
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
_SPANS = select(spans).where(spans.c.trace == bindparam("of"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
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
class Judged:
    """A trace with so many spans that was judged, and what is to be kept of it.

    Nothing is where what came late had come before.
    """

    taken: Taken
    spans: int
    size: int
    case: str
    results: PreparedResults | None


class Finishing:
    """Takes traces that are done, for this server, and gives them back judged.

    With `tell`, verdicts are marked to be sent out. `clock` gives the seconds since 1970.
    """

    def __init__(
        self, database: Database, *, tell: bool, clock: Callable[[], float] | None = None
    ) -> None:
        self._database = database
        self._tell = tell
        self._clock = clock or time
        self._server = token_hex(8)

    def be_seen(self) -> None:
        """Say that this server is at work."""
        now = self._clock()
        with self._database.writing() as connection:
            insert_or_replace(connection, servers, [{"id": self._server, "seen": now}])
            connection.execute(delete(servers).where(servers.c.seen < now - _FORGOTTEN_AFTER))

    def leave(self) -> None:
        """Let go of everything, so that others need not wait."""
        with self._database.writing() as connection:
            connection.execute(
                update(traces).where(traces.c.server == self._server).values(server=None)
            )
            connection.execute(delete(servers).where(servers.c.id == self._server))

    def is_any_due(self, under_way: Collection[str]) -> bool:
        """Whether there is a trace to be taken; nobody has to wait for who only asks."""
        one = select(traces.c.trace).where(self._free(under_way)).limit(1)
        with self._database.reading() as connection:
            return connection.execute(one).first() is not None

    def take(self, run: str, most: int, under_way: Collection[str]) -> list[Taken]:
        """Some traces that are due; those that have no place yet get one in this run."""
        with self._database.writing() as connection:
            due = select(traces).where(self._free(under_way)).order_by(traces.c.due).limit(most)
            found = connection.execute(due.with_for_update(skip_locked=True)).all()
            new = [row for row in found if row.case is None and row.run != run]
            places = {row.trace: (row.run, row.position) for row in found}
            for row, position in zip(new, self._places(connection, run, len(new)), strict=True):
                places[row.trace] = run, position
            taken = [
                Taken(
                    trace=row.trace,
                    revision=row.revision,
                    size=row.size,
                    run=places[row.trace][0],
                    position=places[row.trace][1],
                    case=row.case,
                    failures=row.failures,
                )
                for row in sorted(found, key=lambda row: row.trace)
            ]
            if taken:
                connection.execute(
                    _TAKEN,
                    [
                        {
                            "own": one.trace,
                            "by": self._server,
                            "its_run": one.run,
                            "place": one.position,
                        }
                        for one in taken
                    ],
                )
        return taken

    def _free(self, under_way: Collection[str]) -> ColumnElement[bool]:
        now = self._clock()
        others = select(servers.c.id).where(
            servers.c.seen > now - GONE_AFTER, servers.c.id != self._server
        )
        nobody_at_it = or_(traces.c.server.is_(None), traces.c.server.not_in(others))
        return and_(traces.c.due <= now, nobody_at_it, traces.c.trace.not_in(under_way))

    def _places(self, connection: Connection, run: str, count: int) -> range:
        if not count:
            return range(0)
        # Others who look for a place in the same run have to wait until these are taken.
        connection.execute(select(runs.c.id).where(runs.c.id == run).with_for_update())
        last = connection.scalar(select(func.max(traces.c.position)).where(traces.c.run == run))
        first = 0 if last is None else last + 1
        return range(first, first + count)

    def spans(self, trace: str) -> list[ReceivedSpan]:
        """The spans of a trace that came since it was judged last."""
        with self._database.reading() as connection:
            found = connection.execute(_SPANS, {"of": trace}).all()
        return [span for row in found for span in spans_in_row(row)]

    def postpone(self, taken: Taken, pause: float, *, failed: bool = True) -> None:
        """Let a trace wait so many seconds before anyone takes it again; count it as a failure."""
        own = update(traces).where(traces.c.trace == taken.trace, traces.c.server == self._server)
        failures = taken.failures + failed
        with self._database.writing() as connection:
            connection.execute(
                own.values(server=None, due=self._clock() + pause, failures=failures)
            )

    def finish(self, judged: Sequence[Judged]) -> list[bool]:
        """Keep verdicts, and let go of the spans that they are about; both or neither.

        False is said of a trace for which that would be wrong: more has come meanwhile, or
        another server has taken it. Then nothing is kept, and it will be judged again.
        """
        now = self._clock()
        names = [one.taken.trace for one in judged]
        with self._database.writing() as connection:
            own = select(traces.c.trace, traces.c.revision).where(
                traces.c.trace.in_(names), traces.c.server == self._server
            )
            locked = connection.execute(own.order_by(traces.c.trace).with_for_update())
            now_at = {row.trace: row.revision for row in locked}
            good = [one for one in judged if now_at.get(one.taken.trace) == one.taken.revision]
            stale = now_at.keys() - {one.taken.trace for one in good}
            connection.execute(update(traces).where(traces.c.trace.in_(stale)).values(server=None))
            new = [one.results for one in good if one.results is not None]
            write_together(connection, new, anew=True)
            done = [one.taken.trace for one in good]
            connection.execute(delete(spans).where(spans.c.trace.in_(done)))
            if good:
                connection.execute(
                    _DONE,
                    [
                        {
                            "own": one.taken.trace,
                            "its_spans": one.spans,
                            "its_size": one.size,
                            "its_case": one.case,
                            "to_tell": now if self._tell and one.results is not None else None,
                        }
                        for one in sorted(good, key=lambda one: one.taken.trace)
                    ],
                )
        return [one in good for one in judged]
