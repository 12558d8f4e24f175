"""The inbox, in both databases: what was taken is there, once, and is due when it should be."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from time import time
from typing import Any

import pytest
from sqlalchemy import select

from planproof.runs.store.schema import spans, traces
from planproof.runs.store.sql_store import SqlStore
from planproof.server.http_problems import ServerBusy
from planproof.server.ingestion.received_spans import ReceivedSpan, read_row
from planproof.server.ingestion.span_inbox import Inbox
from planproof.server.server_settings import ServerLimits
from tests.ingestion import OLDEST, QUIET, came, take
from tests.otlp_traces import span, spans_of


def _trace(store: SqlStore, number: int) -> Any:
    with store.database.begin_read() as connection:
        found = select(traces).where(traces.c.trace == f"{number:032x}")
        return connection.execute(found).one_or_none()


def _kept(store: SqlStore) -> set[ReceivedSpan]:
    with store.database.begin_read() as connection:
        rows = connection.execute(select(spans)).all()
    return {span for row in rows for span in read_row(row)}


def test_spans_are_kept_once_however_often_they_come(store: SqlStore) -> None:
    sent = came(*spans_of(1))
    assert take(store, sent, sent, sent[:2]) == [0, 0, 0]
    assert take(store, sent) == [0]
    assert len(_kept(store)) == 4


def test_a_trace_is_due_soon_once_its_root_is_there(store: SqlStore) -> None:
    *tools, root = came(*spans_of(1))
    take(store, tools)
    row = _trace(store, 1)
    assert row.root is None
    assert row.due == pytest.approx(time() + OLDEST, abs=30)
    take(store, [root])
    row = _trace(store, 1)
    assert row.root == root.id
    assert row.due == pytest.approx(row.last + QUIET)
    # A span that comes after the root is waited for as well, and no longer than others.
    take(store, came(span(1, 9, "late", {}, parent=1)))
    assert _trace(store, 1).due == pytest.approx(_trace(store, 1).last + QUIET)
    assert _trace(store, 1).due > row.due


def test_a_root_that_has_not_ended_is_none_yet(store: SqlStore) -> None:
    take(store, came(span(1, 1, "begun", {}) | {"endTimeUnixNano": "0"}))
    assert _trace(store, 1).root is None


def test_what_comes_of_many_traces_at_once_is_told_apart(store: SqlStore) -> None:
    take(store, *(came(*spans_of(number)) for number in range(1, 21)))
    assert all(_trace(store, number).spans == 4 for number in range(1, 21))


def test_a_trace_has_only_so_many_spans_and_others_go_on(store: SqlStore) -> None:
    limits = ServerLimits(trace_spans=5)
    assert take(store, came(*spans_of(1)), limits=limits) == [0]
    more = came(*(span(1, number, "more", {}, parent=1) for number in (7, 8)))
    other = came(*spans_of(2))
    assert take(store, [*more, *other], limits=limits) == [2]
    assert len(_kept(store)) == 8
    # The same spans again are no more of them.
    assert take(store, came(*spans_of(1)), limits=ServerLimits(trace_spans=8)) == [0]
    assert take(store, came(*spans_of(1)), limits=ServerLimits(trace_spans=8)) == [0]
    assert _trace(store, 1).spans <= 8


def test_a_trace_has_only_so_many_bytes(store: SqlStore) -> None:
    large = came(span(1, 1, "large", {"text": "x" * 5_000}))
    assert take(store, large, limits=ServerLimits(trace_bytes=4_000)) == [1]
    assert _trace(store, 1) is None


def test_nothing_is_taken_while_too_much_waits(store: SqlStore) -> None:
    async def refused() -> None:
        inbox = Inbox(
            store.database, quiet_seconds=1, oldest_seconds=9, limits=ServerLimits(backlog=3)
        )
        await inbox.add_spans(came(*spans_of(1)))
        inbox.count_backlog()
        with pytest.raises(ServerBusy) as busy:
            await inbox.add_spans(came(*spans_of(2)))
        assert busy.value.retry_after
        with store.database.begin_write() as connection:
            connection.execute(traces.update().values(due=None))
        inbox.count_backlog()
        assert await inbox.add_spans(came(*spans_of(2))) == 0
        await inbox.close()

    asyncio.run(refused())


def test_spans_that_differ_and_bear_one_id_are_both_kept(store: SqlStore) -> None:
    (one,) = came(span(1, 2, "a", {}))
    take(store, [one, replace(one, content=one.content + b" ")])
    assert len(_kept(store)) == 2
