"""Verdicts on their way out: what is sent, once, and again where it could not be."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from sqlalchemy import update

from planproof.core.case import Case
from planproof.core.finding import Status, StepFinding
from planproof.core.verdict import JudgeSummary, Outcome, Verdict
from planproof.runs.run_records import Result, create_run, serialize_case
from planproof.runs.store.schema import traces
from planproof.runs.store.sql_store import SqlStore
from planproof.server.ingestion.finished_traces import FinishedTrace, TraceQueue
from planproof.server.ingestion.verdict_export import VerdictSender
from tests.ingestion import make_due, receive_spans, store_spans
from tests.log_collector import Collector, read_attributes, run_collector
from tests.otlp_traces import make_spans
from tests.timeouts import TIMEOUT_SECONDS


@pytest.fixture
def collector() -> Iterator[Collector]:
    with run_collector() as running:
        yield running


SCORED = Verdict(
    outcome=Outcome.SCORED,
    score=0.5,
    level=0.5,
    reason="Step 2 is missing; the key was sk-proj-abcdefghijklmnopqrstuvwxyz0123456789.",
    steps=(StepFinding(number="1", text="a", status=Status.EXECUTED, confidence=1.0),),
)


def finish_trace(store: SqlStore, verdict: Verdict = SCORED, trace: int = 1) -> None:
    """Let a trace be judged."""
    store_spans(store, receive_spans(*make_spans(trace)))
    make_due(store)
    run = create_run(source="x", judge=JudgeSummary(name="r", fingerprint="f"), fingerprint="f")
    store.begin(run)
    finishing = TraceQueue(store.database, send_verdicts=True)
    finishing.send_heartbeat()
    (taken,) = finishing.claim(run.id, 1, [])
    case = serialize_case(Case(task=None, plan=None, trace=str(trace)))
    result = Result(taken.position, case.hash, taken.trace, verdict, 0.1)
    results = store.build_rows(taken.run, [result], [case])
    judged = FinishedTrace(claim=taken, spans=4, size=1, case=case.hash, results=results)
    assert finishing.finish([judged]) == [True]


def test_a_verdict_is_an_event_on_the_root_of_its_trace(
    store: SqlStore, collector: Collector
) -> None:
    finish_trace(store)
    outgoing = VerdictSender(store, f"{collector.url}/")
    assert (outgoing.send(), outgoing.send(), outgoing.sent_count) == (1, 0, 1)
    assert collector.paths == ["/v1/logs"]
    (record,) = collector.records
    assert record.event_name == "gen_ai.evaluation.result"
    assert (record.trace_id.hex(), record.span_id.hex()) == (f"{1:032x}", f"{1:016x}")
    assert record.time_unix_nano
    told = read_attributes(record)
    explanation = told.pop("gen_ai.evaluation.explanation")
    assert explanation.startswith("Step 2 is missing")
    assert "abcdefghij" not in explanation
    assert told == {
        "gen_ai.evaluation.name": "planproof.plan_adherence",
        "gen_ai.evaluation.score.value": 0.5,
        "gen_ai.evaluation.score.label": "partial adherence",
        "planproof.run": store.find_run("latest").id,
        "planproof.position": 0,
    }


@pytest.mark.parametrize(
    ("verdict", "label", "error"),
    [
        (Verdict(outcome=Outcome.NO_PLAN, reason="None."), "no_plan", None),
        (
            Verdict(outcome=Outcome.JUDGE_FAILED, reason="x", cause="timeout"),
            "judge_failed",
            "timeout",
        ),
        (Verdict(outcome=Outcome.INVALID_INPUT, reason="x"), "invalid_input", "invalid_input"),
    ],
)
def test_what_could_not_be_judged_has_no_score(
    store: SqlStore, collector: Collector, verdict: Verdict, label: str, error: str | None
) -> None:
    finish_trace(store, verdict)
    VerdictSender(store, collector.url).send()
    told = read_attributes(collector.records[0])
    assert "gen_ai.evaluation.score.value" not in told
    assert told["gen_ai.evaluation.score.label"] == label
    assert told.get("error.type") == error


def _expire_leases(store: SqlStore) -> None:
    with store.database.begin_write() as connection:
        connection.execute(
            update(traces).where(traces.c.export_due.is_not(None)).values(export_due=1.0)
        )


@pytest.mark.parametrize("status", [429, 503])
def test_what_could_not_be_sent_is_sent_again(
    store: SqlStore, collector: Collector, status: int
) -> None:
    finish_trace(store)
    outgoing = VerdictSender(store, collector.url)
    collector.status = status
    assert (outgoing.send(), outgoing.sent_count) == (1, 0)
    assert outgoing.send() == 0, "not at once"
    collector.status = 200
    _expire_leases(store)
    assert (outgoing.send(), outgoing.sent_count, len(collector.records)) == (1, 1, 1)


def test_an_endpoint_that_is_not_there_is_tried_again(store: SqlStore) -> None:
    with run_collector() as gone:
        url = gone.url
    finish_trace(store)
    outgoing = VerdictSender(store, url)
    assert (outgoing.send(), outgoing.sent_count) == (1, 0)
    _expire_leases(store)
    assert outgoing.send() == 1


@pytest.mark.parametrize("status", [400, 404, 302])
def test_what_is_refused_for_good_is_not_sent_again(
    store: SqlStore, collector: Collector, status: int
) -> None:
    finish_trace(store)
    outgoing = VerdictSender(store, collector.url)
    collector.status = status
    outgoing.send()
    _expire_leases(store)
    assert outgoing.send() == 0
    assert collector.paths == ["/v1/logs"], "and nowhere else"


def test_a_trace_judged_again_during_export_is_exported_again(
    store: SqlStore, collector: Collector
) -> None:
    finish_trace(store)
    outgoing = VerdictSender(store, collector.url)
    mark = outgoing._mark_sent  # pyright: ignore[reportPrivateUsage]

    def judged_meanwhile(names: list[str], lease: float) -> None:
        _expire_leases(store)
        mark(names, lease)

    outgoing._mark_sent = judged_meanwhile  # pyright: ignore[reportPrivateUsage]
    assert outgoing.send() == 1
    assert outgoing.send() == 1


def test_whatever_fails_the_verdicts_after_it_are_sent(
    store: SqlStore, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    outgoing = VerdictSender(store, collector.url)
    really, tries = outgoing.send, iter([ValueError("not foreseen")])

    def send() -> int:
        for error in tries:
            raise error
        return really()

    monkeypatch.setattr(outgoing, "send", send)
    finish_trace(store)

    async def told() -> None:
        judged = asyncio.Event()
        working = asyncio.create_task(outgoing.run(judged))
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not collector.records:
                judged.set()
                await asyncio.sleep(0.01)
        working.cancel()

    asyncio.run(told())
    assert len(collector.records) == 1
