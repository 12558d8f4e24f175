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
from tests.ingestion import OLDEST, QUIET, receive_spans, store_spans
from tests.otlp_traces import make_span, make_spans


def _stored_trace(store: SqlStore, number: int) -> Any:
    with store.database.begin_read() as connection:
        found = select(traces).where(traces.c.trace == f"{number:032x}")
        return connection.execute(found).one_or_none()


def _stored_spans(store: SqlStore) -> set[ReceivedSpan]:
    with store.database.begin_read() as connection:
        rows = connection.execute(select(spans)).all()
    return {span for row in rows for span in read_row(row)}


def test_spans_are_kept_once_however_often_they_come(store: SqlStore) -> None:
    sent = receive_spans(*make_spans(1))
    assert store_spans(store, sent, sent, sent[:2]) == [0, 0, 0]
    assert store_spans(store, sent) == [0]
    assert len(_stored_spans(store)) == 4


def test_a_trace_is_due_soon_once_its_root_is_there(store: SqlStore) -> None:
    *tools, root = receive_spans(*make_spans(1))
    store_spans(store, tools)
    row = _stored_trace(store, 1)
    assert row.root is None
    assert row.due == pytest.approx(time() + OLDEST, abs=30)
    store_spans(store, [root])
    row = _stored_trace(store, 1)
    assert row.root == root.id
    assert row.due == pytest.approx(row.last + QUIET)
    # A span that comes after the root is waited for as well, and no longer than others.
    store_spans(store, receive_spans(make_span(1, 9, "late", {}, parent=1)))
    assert _stored_trace(store, 1).due == pytest.approx(_stored_trace(store, 1).last + QUIET)
    assert _stored_trace(store, 1).due > row.due


def test_a_root_that_has_not_ended_is_none_yet(store: SqlStore) -> None:
    store_spans(store, receive_spans(make_span(1, 1, "begun", {}) | {"endTimeUnixNano": "0"}))
    assert _stored_trace(store, 1).root is None


def test_spans_of_many_traces_in_one_delivery_are_separated(store: SqlStore) -> None:
    store_spans(store, *(receive_spans(*make_spans(number)) for number in range(1, 21)))
    assert all(_stored_trace(store, number).spans == 4 for number in range(1, 21))


def test_spans_per_trace_are_limited_and_other_traces_continue(store: SqlStore) -> None:
    limits = ServerLimits(trace_spans=5)
    assert store_spans(store, receive_spans(*make_spans(1)), limits=limits) == [0]
    more = receive_spans(*(make_span(1, number, "more", {}, parent=1) for number in (7, 8)))
    other = receive_spans(*make_spans(2))
    assert store_spans(store, [*more, *other], limits=limits) == [2]
    assert len(_stored_spans(store)) == 8
    # The same spans again are no more of them.
    assert store_spans(
        store, receive_spans(*make_spans(1)), limits=ServerLimits(trace_spans=8)
    ) == [0]
    assert store_spans(
        store, receive_spans(*make_spans(1)), limits=ServerLimits(trace_spans=8)
    ) == [0]
    assert _stored_trace(store, 1).spans <= 8


def test_bytes_per_trace_are_limited(store: SqlStore) -> None:
    large = receive_spans(make_span(1, 1, "large", {"text": "x" * 5_000}))
    assert store_spans(store, large, limits=ServerLimits(trace_bytes=4_000)) == [1]
    assert _stored_trace(store, 1) is None


def test_nothing_is_taken_while_too_much_waits(store: SqlStore) -> None:
    async def refused() -> None:
        inbox = Inbox(
            store.database, quiet_seconds=1, oldest_seconds=9, limits=ServerLimits(backlog=3)
        )
        await inbox.add_spans(receive_spans(*make_spans(1)))
        inbox.count_backlog()
        with pytest.raises(ServerBusy) as busy:
            await inbox.add_spans(receive_spans(*make_spans(2)))
        assert busy.value.retry_after
        with store.database.begin_write() as connection:
            connection.execute(traces.update().values(due=None))
        inbox.count_backlog()
        assert await inbox.add_spans(receive_spans(*make_spans(2))) == 0
        await inbox.close()

    asyncio.run(refused())


def test_spans_that_differ_and_bear_one_id_are_both_kept(store: SqlStore) -> None:
    (one,) = receive_spans(make_span(1, 2, "a", {}))
    store_spans(store, [one, replace(one, content=one.content + b" ")])
    assert len(_stored_spans(store)) == 2
