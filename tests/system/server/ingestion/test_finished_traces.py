"""Taking traces to be judged, in both databases: each by one server, and none is forgotten."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from planproof.core.case import Case
from planproof.core.verdict import JudgeSummary, Outcome, Verdict
from planproof.runs.run_records import Result, Run, create_run, serialize_case
from planproof.runs.store.schema import spans
from planproof.runs.store.sql_store import SqlStore
from planproof.server.ingestion.finished_traces import (
    SERVER_TIMEOUT_SECONDS,
    ClaimedTrace,
    FinishedTrace,
    TraceQueue,
)
from tests.ingestion import make_due, receive_spans, store_spans
from tests.otlp_traces import make_span, make_spans
from tests.virtual_time import VirtualTime


@pytest.fixture
def run(store: SqlStore) -> Run:
    begun = create_run(source="x", judge=JudgeSummary(name="r", fingerprint="f"), fingerprint="f")
    store.begin(begun)
    return begun


@pytest.fixture
def due_traces(store: SqlStore) -> int:
    """How many traces are due."""
    store_spans(store, *(receive_spans(*make_spans(number)) for number in range(1, 41)))
    make_due(store)
    return 40


def make_finished(store: SqlStore, taken: ClaimedTrace, words: str = "judged") -> FinishedTrace:
    case = serialize_case(
        Case(task=None, plan=None, trace=f"{taken.trace} {words}", id=taken.trace)
    )
    verdict = Verdict(outcome=Outcome.NO_PLAN, reason=words, id=taken.trace)
    result = Result(taken.position, case.hash, taken.trace, verdict, 0.1)
    prepared = store.build_rows(taken.run, [result], [case])
    return FinishedTrace(claim=taken, spans=4, size=10, case=case.hash, results=prepared)


def _make_queue(store: SqlStore) -> TraceQueue:
    finishing = TraceQueue(store.database, send_verdicts=False)
    finishing.send_heartbeat()
    return finishing


def test_servers_share_what_is_due_and_none_takes_what_another_has(
    store_url: str, store: SqlStore, run: Run, due_traces: int
) -> None:
    several = [_make_queue(store) for _ in range(4)]

    def work(finishing: TraceQueue) -> list[ClaimedTrace]:
        taken: list[ClaimedTrace] = []
        for _ in range(200):
            new = finishing.claim(run.id, 3, [one.trace for one in taken])
            taken += new
            if not new and len({t.trace for t in taken}) >= 1:
                break
        return taken

    with ThreadPoolExecutor(4) as pool:
        taken = [one for found in pool.map(work, several) for one in found]
    left = several[0].claim(run.id, due_traces, [one.trace for one in taken])
    taken += left
    assert sorted(one.trace for one in taken) == [f"{n:032x}" for n in range(1, due_traces + 1)]
    assert sorted(one.position for one in taken) == list(range(due_traces))


def test_what_is_judged_is_kept_and_its_spans_are_let_go_of(
    store: SqlStore, run: Run, due_traces: int
) -> None:
    finishing = _make_queue(store)
    taken = finishing.claim(run.id, due_traces, [])
    assert finishing.finish([make_finished(store, one) for one in taken]) == [True] * due_traces
    assert [result.id for result in store.iter_results(run.id)] == [one.trace for one in taken]
    assert finishing.claim(run.id, due_traces, []) == []
    with store.database.begin_read() as connection:
        assert connection.execute(select(spans)).all() == []


def test_one_that_was_taken_waits_for_its_server_and_no_longer(
    store: SqlStore, run: Run, due_traces: int, clock: VirtualTime
) -> None:
    gone, other = _make_queue(store), _make_queue(store)
    assert len(gone.claim(run.id, due_traces, [])) == due_traces
    assert other.claim(run.id, due_traces, []) == []
    clock.now += SERVER_TIMEOUT_SECONDS
    other.send_heartbeat()
    taken = other.claim(run.id, due_traces, [])
    assert len(taken) == due_traces
    # It was slow, not gone: what it says now comes too late.
    assert gone.finish([make_finished(store, one, "slow") for one in taken]) == [False] * due_traces
    assert other.finish([make_finished(store, one) for one in taken]) == [True] * due_traces
    assert {result.verdict.reason for result in store.iter_results(run.id)} == {"judged"}


def test_a_server_that_leaves_lets_others_go_on_at_once(
    store: SqlStore, run: Run, due_traces: int
) -> None:
    leaving, other = _make_queue(store), _make_queue(store)
    assert len(leaving.claim(run.id, due_traces, [])) == due_traces
    leaving.release_all()
    assert len(other.claim(run.id, due_traces, [])) == due_traces


def test_one_that_could_not_be_judged_can_be_taken_again(
    store: SqlStore, run: Run, due_traces: int
) -> None:
    finishing, other = _make_queue(store), _make_queue(store)
    first, *_ = finishing.claim(run.id, due_traces, [])
    assert finishing.claim(run.id, due_traces, []) != [], (
        "its own can be taken again if it forgot them"
    )
    finishing.postpone(first, 0.0)
    assert [one.trace for one in other.claim(run.id, due_traces, [])] == [first.trace]


def test_what_comes_while_it_is_judged_is_judged_too(store: SqlStore, run: Run) -> None:
    store_spans(store, receive_spans(*make_spans(1)))
    make_due(store)
    finishing = _make_queue(store)
    (taken,) = finishing.claim(run.id, 9, [])
    store_spans(store, receive_spans(make_span(1, 9, "late", {}, parent=1)))
    assert finishing.finish([make_finished(store, taken)]) == [False]
    assert list(store.iter_results(run.id)) == []
    make_due(store)
    (again,) = finishing.claim(run.id, 9, [])
    assert (again.position, again.case) == (taken.position, None)
    assert len(finishing.load_spans(again.trace)) == 5
    assert finishing.finish([make_finished(store, again)]) == [True]


def test_what_comes_after_the_verdict_replaces_it(store: SqlStore, run: Run) -> None:
    store_spans(store, receive_spans(*make_spans(1)), receive_spans(*make_spans(2)))
    make_due(store)
    finishing = _make_queue(store)
    first, second = finishing.claim(run.id, 9, [])
    assert finishing.finish([make_finished(store, first), make_finished(store, second)]) == [
        True,
        True,
    ]
    store_spans(store, receive_spans(make_span(1, 9, "late", {}, parent=1)))
    make_due(store)
    other_run = create_run(source="y", judge=run.judge, fingerprint="f")
    store.begin(other_run)
    (late,) = finishing.claim(other_run.id, 9, [])
    assert (late.trace, late.run, late.position) == (first.trace, run.id, first.position)
    assert late.case is not None
    assert finishing.finish([make_finished(store, late, "again")]) == [True]
    assert [result.verdict.reason for result in store.iter_results(run.id)] == [
        "again",
        "judged",
    ]
