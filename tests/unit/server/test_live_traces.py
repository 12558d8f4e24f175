"""Live traces, from the first span to the verdict."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from planproof.llm.judge_registry import find_judge
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.store.open_store import open_sql_store
from planproof.runs.store.sql_store import SqlStore
from planproof.server.live_traces import LiveTrace, LiveTraces
from tests.ingestion import receive_spans, store_spans
from tests.otlp_traces import PLAN, make_span, make_spans, make_tool_span


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with closing(open_sql_store(str(tmp_path / "runs.db"))) as opened:
        yield opened


@pytest.fixture
def live(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> LiveTraces:
    monkeypatch.setattr("planproof.server.live_traces._POLL_SECONDS", 0.0)
    return LiveTraces(store, CaseEvaluator(find_judge("rules")))


def _plan_span(trace: int) -> dict[str, Any]:
    said = [{"role": "assistant", "parts": [{"type": "text", "content": PLAN}]}]
    told = {"gen_ai.operation.name": "plan", "gen_ai.output.messages": json.dumps(said)}
    return make_span(trace, 2, "plan", told, parent=1)


def _now(live: LiveTraces) -> list[LiveTrace]:
    return asyncio.run(live.get_snapshot())


def test_the_plan_ticks_off_as_spans_come(store: SqlStore, live: LiveTraces) -> None:
    assert _now(live) == []
    store_spans(store, receive_spans(make_tool_span(1, 3, "look_up")))
    (view,) = _now(live)
    assert (view.steps, view.ceiling, view.service) == ((), None, "desk")
    store_spans(store, receive_spans(_plan_span(1)))
    (view,) = _now(live)
    assert [step.status for step in view.steps] == ["executed", "to_come", "to_come"]
    assert (view.ceiling, view.deviations, view.outcome) == (1.0, (), None)
    store_spans(store, receive_spans(make_tool_span(1, 4, "compute")))
    (view,) = _now(live)
    assert [step.status for step in view.steps] == ["executed", "executed", "to_come"]


def test_deviations_show_as_they_come(store: SqlStore, live: LiveTraces) -> None:
    store_spans(store, receive_spans(_plan_span(1), make_tool_span(1, 3, "look_up")))
    before = _now(live)[0]
    store_spans(
        store,
        receive_spans(make_tool_span(1, 4, "delete_everything"), make_tool_span(1, 5, "compute")),
    )
    after = _now(live)[0]
    assert before.ceiling is not None
    assert after.ceiling is not None
    assert after.ceiling <= before.ceiling
    assert any("delete_everything" in deviation.why for deviation in after.deviations)


def test_the_newest_are_first_up_to_the_limit(
    store: SqlStore, live: LiveTraces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planproof.server.live_traces.MAX_TRACES", 3)
    for number in range(1, 6):
        store_spans(store, receive_spans(*make_spans(number)))
    assert [view.trace for view in _now(live)] == [f"{number:032x}" for number in (5, 4, 3)]


def test_a_trace_too_long_to_be_followed_is_shown_all_the_same(
    store: SqlStore, live: LiveTraces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planproof.server.live_traces._MAX_SPANS", 3)
    store_spans(store, receive_spans(*make_spans(1)))
    (view,) = _now(live)
    assert (view.spans, view.steps) == (4, ())


def test_a_trace_that_breaks_its_reader_takes_no_other_from_sight(
    store: SqlStore, live: LiveTraces, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    store_spans(store, receive_spans(*make_spans(1)))
    monkeypatch.setattr("planproof.monitor.trace_follower.TraceFollower.follow_source", broken)
    (view,) = _now(live)
    assert (view.spans, view.steps) == (4, ())


def test_changes_are_streamed_until_the_server_stops(store: SqlStore, live: LiveTraces) -> None:
    async def told() -> list[int]:
        closing_down = asyncio.Event()
        counts: list[int] = []
        async for views in live.watch_changes(closing_down):
            counts.append(len(views))
            if len(counts) == 1:
                await asyncio.to_thread(store_spans, store, receive_spans(*make_spans(1)))
            else:
                closing_down.set()
        return counts

    assert asyncio.run(told()) == [0, 1]
