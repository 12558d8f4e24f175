"""A trace that grows, held against its plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planproof import Monitor, evaluate
from planproof.core.vocabulary import Vocabulary
from planproof.monitor.trace_follower import TraceFollower
from planproof.readers.decoding.source import Source
from tests.small_cases import called
from tests.trace_builders import did

EXAMPLES = Path(__file__).parents[3] / "examples"
PLAN = ["Read the file report-12.txt", "Delete the file draft-7.txt"]
READ = {"id": "a", **did("read_file", "12 lines", path="report-12.txt"), "turn": 1}
CAKE = {"id": "b", **did("bake_cake", "in the oven", size="large"), "turn": 2}
DELETE = {"id": "c", **did("delete_file", "gone", path="draft-7.txt"), "turn": 3}


def follower(plan: Any = None) -> TraceFollower:
    return TraceFollower(plan, reader=None, vocabulary=Vocabulary())


def source(*events: dict[str, Any]) -> Source:
    return Source.from_value({"events": list(events)})


def get_monitor(following: TraceFollower) -> Monitor | None:
    return following.monitor


@pytest.mark.parametrize("name", ["claude-code", "claude-code-sidechains", "codex", "codex-bare"])
def test_real_sessions_line_by_line_end_as_if_read_at_once(name: str) -> None:
    folder = EXAMPLES / name
    plan = (folder / "plan.txt").read_text("utf-8")
    lines = (folder / "trace.jsonl").read_text("utf-8").splitlines()
    following = follower(plan)
    for end in range(1, len(lines) + 1):
        following.follow_source(Source.from_text("\n".join(lines[:end])))
    assert following.monitor is not None
    verdict = evaluate(plan=plan, trace=folder / "trace.jsonl")
    assert following.monitor.finish().brief() == verdict.brief()
    assert following.monitor.ceiling >= (verdict.score or 0)


def test_only_what_is_new_is_observed() -> None:
    following = follower(PLAN)
    assert following.follow_source(source(READ)) == []
    monitor = following.monitor
    (proven,) = following.follow_source(source(READ, CAKE, DELETE))
    assert proven.event == "b"
    assert following.follow_source(source(READ, CAKE, DELETE)) == []
    assert following.monitor is monitor


def test_a_result_that_comes_later_completes_its_call() -> None:
    following = follower(PLAN)
    (suspected,) = following.follow_source(source(READ, {**CAKE, "output": ""}))
    monitor = following.monitor
    (proven,) = following.follow_source(source(READ, CAKE))
    assert (suspected.certainty, proven.certainty) == ("suspected", "proven")
    assert following.monitor is monitor


def test_a_call_that_never_comes_back_is_closed_by_the_next_turn() -> None:
    following = follower(PLAN)
    following.follow_source(source(READ, {**CAKE, "output": ""}))
    (proven,) = following.follow_source(source(READ, {**CAKE, "output": ""}, DELETE))
    assert proven.certainty == "proven"


def test_events_that_change_later_are_judged_again() -> None:
    following = follower(PLAN)
    following.follow_source(source(READ, CAKE))
    monitor = following.monitor
    told = following.follow_source(source(READ, {**CAKE, "kind": "system"}, DELETE))
    assert following.monitor is not monitor
    assert told == []
    assert following.monitor is not None
    assert following.monitor.ceiling == 1.0
    # What was told once is not told again.
    assert following.follow_source(source(CAKE, READ)) == []


def test_the_plan_is_found_once_it_is_declared() -> None:
    todos = {"todos": [{"content": step, "status": "pending"} for step in PLAN]}
    user = {"role": "user", "content": "Tidy up."}
    messages = [user, *called(1, "list_files"), *called(2, "write_todos", **todos)]
    following = follower()
    following.follow_source(Source.from_text(json.dumps(messages[:3])))
    assert get_monitor(following) is None
    following.follow_source(Source.from_text(json.dumps(messages)))
    monitor = get_monitor(following)
    assert monitor is not None
    assert following.declaration is not None
    assert [step.text for step in monitor.next_steps] == PLAN[:1]
    messages += called(3, "read_file", path="report-12.txt")
    assert following.follow_source(Source.from_text(json.dumps(messages))) == []
    assert [step.text for step in monitor.next_steps] == PLAN[1:]
    assert following.events == 4
