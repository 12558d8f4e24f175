"""Verdicts on plans that were found in the trace, and the check of such verdicts."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from planproof.core.content import Content
from planproof.core.digests import plan_digest, task_digest
from planproof.core.verdict import Outcome
from planproof.evaluation import evaluate
from planproof.readers.decoding.source import Source
from planproof.verification import verify
from tests.trace_builders import asked, did, noted, said, trace

TODOS = noted("TodoWrite", todos=[{"content": "Read a.txt"}, {"content": "Delete b.txt"}])
READ, DELETE = did("read_file", path="a.txt"), did("delete_file", path="b.txt")
SEARCH = did("web_search", query="weather")
EVENTS = trace(asked("Tidy up."), SEARCH, TODOS, READ, DELETE)
SOURCE = Source.from_value(EVENTS)
VERDICT: dict[str, Any] = evaluate(trace=EVENTS).full()


def test_only_what_follows_the_plan_is_judged() -> None:
    verdict = evaluate(trace=EVENTS)
    assert verdict.score == 1.0
    assert verdict.extras == ()
    assert [step.evidence[0].event for step in verdict.steps] == ["e4", "e5"]
    assert verdict.coverage is not None
    assert verdict.coverage.events == 5


def test_a_verdict_says_where_its_plan_was_found() -> None:
    assert VERDICT["plan"] == {
        "origin": "declared",
        "steps": 2,
        "event": "e3",
        "pointer": "/events/2",
        "sort": "todo_list",
        "declared_by": "agent",
        "before_acting": False,
        "replans": [],
        "rejected": [],
        "in_force": "first",
    }
    assert verify(VERDICT, SOURCE) == ()


def test_calls_issued_together_with_the_plan_are_judged() -> None:
    together = trace(asked("Tidy up."), (READ, TODOS), DELETE, SEARCH)
    verdict = evaluate(trace=together)
    assert [step.evidence[0].event for step in verdict.steps] == ["e2", "e4"]
    assert [extra.event for extra in verdict.extras] == ["e5"]
    assert verdict.plan is not None
    assert verdict.plan.before_acting
    assert verify(verdict.full(), Source.from_value(together)) == ()


def test_without_a_task_it_is_the_first_that_the_user_says() -> None:
    assert VERDICT["inputs"]["task"] == task_digest(Content("Tidy up."))
    assert VERDICT["inputs"]["plan"] == plan_digest(None)
    silent = evaluate(trace=trace(TODOS, READ, DELETE))
    assert silent.inputs is not None
    assert silent.inputs.task == task_digest(Content(""))


def test_later_and_rejected_plans_are_named() -> None:
    refused = {
        **noted("ExitPlanMode", plan="1. Delete everything\n2. Leave"),
        "output": "The user doesn't want to proceed with this tool use.",
    }
    later = noted("TodoWrite", todos=[{"content": "Read a.txt"}, {"content": "Mail Ann"}])
    events = trace(asked("Tidy up."), refused, TODOS, READ, later, DELETE)
    verdict = evaluate(trace=events)
    assert verdict.plan is not None
    assert (verdict.plan.event, verdict.plan.before_acting) == ("e3", True)
    assert (verdict.plan.replans, verdict.plan.rejected) == (("e5",), ("e2",))
    assert verdict.score == 1.0
    assert verify(verdict.full(), Source.from_value(events)) == ()


def test_a_plan_that_was_rejected_and_replaced_by_nothing_is_reported_so() -> None:
    refused = {
        **noted("ExitPlanMode", plan="1. Read a.txt\n2. Delete b.txt"),
        "output": "The user doesn't want to proceed with this tool use.",
    }
    events = trace(asked("Tidy up."), refused)
    verdict = evaluate(trace=events)
    assert verdict.outcome is Outcome.NO_PLAN
    assert verdict.reason.startswith("The plan declared at e2 was rejected by the user at e2")
    assert verdict.plan is not None
    assert verdict.plan.rejected == ("e2",)
    assert verify(verdict.full(), Source.from_value(events)) == ()


def test_without_any_plan_it_is_said_what_was_looked_at() -> None:
    events = trace(asked("Tidy up."), said("I tidy up."), READ, DELETE)
    verdict = evaluate(trace=events)
    assert verdict.outcome is Outcome.NO_PLAN
    assert verdict.reason.endswith("(searched 1 prompt, 1 message, 0 notes and 2 calls).")
    assert verify(verdict.full(), Source.from_value(events)) == ()


def test_an_empty_plan_is_none_and_nothing_is_looked_for() -> None:
    verdict = evaluate(plan=[], trace=EVENTS)
    assert verdict.outcome is Outcome.NO_PLAN
    assert "has no steps" in verdict.reason
    assert verify(verdict.full(), SOURCE) == ()


def _plan(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda verdict: verdict["plan"].update(changes)


def _cites_what_came_before(verdict: dict[str, Any]) -> None:
    verdict["steps"][0]["covers"].insert(0, "e2")


def _claims_no_plan(verdict: dict[str, Any]) -> None:
    verdict.update(outcome="no_plan", score=None, level=None, steps=[], extras=[])
    verdict.update(nearest_better=None, reason="There is none.")


def _rewrites_a_step(verdict: dict[str, Any]) -> None:
    verdict["steps"][0]["text"] = "Read anything"


@pytest.mark.parametrize(
    ("tamper", "problem"),
    [
        (_plan(origin="given"), "/plan/origin: does not match the plan; expected declared"),
        (_plan(event="e1"), "/plan/event: does not match the plan; expected e3"),
        (_plan(event=None), "/plan/event: does not match the plan; expected e3"),
        (_plan(pointer="/events/0"), "/plan/pointer: does not match the plan"),
        (_plan(declared_by="user"), "/plan/declared_by: does not match the plan"),
        (_plan(before_acting=True), "/plan/before_acting: does not match the plan"),
        (_plan(replans=["e4"]), "/plan/replans: does not match the plan"),
        (_plan(rejected=["e3"]), "/plan/rejected: does not match the plan"),
        (_cites_what_came_before, "/steps/0/covers/0: e2 is from before the plan."),
        (_claims_no_plan, "/outcome: no_plan, but a plan is declared at e3."),
        (_rewrites_a_step, "/steps/0/text: does not match the plan"),
    ],
)
def test_a_tampered_verdict_is_rejected(
    tamper: Callable[[dict[str, Any]], None], problem: str
) -> None:
    verdict = copy.deepcopy(VERDICT)
    tamper(verdict)
    problems = verify(verdict, SOURCE)
    assert any(found.startswith(problem) for found in problems), problems


def test_a_given_plan_can_not_pass_for_one_that_was_found() -> None:
    given = evaluate(plan=["Read a.txt", "Delete b.txt"], trace=EVENTS).full()
    assert [extra["event"] for extra in given["extras"]] == ["e2"]
    given["plan"] = VERDICT["plan"]
    assert any(found.startswith("/plan/event") for found in verify(given, SOURCE))
    given["inputs"]["plan"] = plan_digest(None)
    given["extras"] = []
    assert verify(given, SOURCE) != ()
