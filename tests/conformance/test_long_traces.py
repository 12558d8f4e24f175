"""Long traces are judged within the budget, and the verdict says how much of them was shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planproof import Verdict, evaluate
from planproof.llm.open_judge import open_judge
from planproof.llm.prompting.case_prompt import count_characters
from tests.fake_model import FakeModel
from tests.trace_builders import did, trace

BUDGET = 120_000
PLAN = ["Read page 1", "Mail Ann"]
MISSING: dict[str, Any] = {"kind": ["act"], "status": "missing", "evidence": [], "events": []}
AUDITED: dict[str, Any] = {
    "steps": [{"step": "1", **MISSING}, {"step": "2", **MISSING}],
    "extras": [],
}
SCORED: dict[str, Any] = {"score": 0.0, "reason": "Steps 1 and 2 are missing."}
TRACES: dict[str, list[dict[str, Any]]] = {
    "10 MB": [did("read_page", f"{n} words " * 1_000, page=f"page {n}") for n in range(1_000)],
    "5,000 events": [did(f"tool_{n % 9}", f"{n}", page=f"page {n * n}") for n in range(5_000)],
    "one event of 2 MB": [did("read_page", "word " * 400_000, page="page 1")],
}


def judge_long_trace(judge: str, events: list[dict[str, Any]]) -> tuple[Verdict, FakeModel]:
    model = FakeModel(SCORED if judge == "prompt" else AUDITED)
    text = json.dumps(trace(*events))
    chosen = open_judge(judge, [model])
    return evaluate(task="Read it.", plan=PLAN, trace=text, judge=chosen), model


@pytest.mark.parametrize("judge", ["audit", "prompt"])
@pytest.mark.parametrize("name", TRACES)
def test_the_budget_is_kept_and_the_coverage_reported(name: str, judge: str) -> None:
    events = TRACES[name]
    verdict, model = judge_long_trace(judge, events)
    if judge == "prompt" and verdict.cause == "too_long":
        assert name == "5,000 events"  # whose lines do not fit; this judge has no windows
        assert not model.questions
        return
    assert verdict.outcome == "scored", verdict.reason
    assert max(map(count_characters, model.questions)) <= BUDGET
    told = verdict.coverage
    assert told is not None
    assert told.events == len(events)
    assert told.shown == len(events)
    assert told.windows is not None
    assert (told.windows > 1) == (name == "5,000 events")
    assert bool(told.shortened) == (name != "5,000 events")
