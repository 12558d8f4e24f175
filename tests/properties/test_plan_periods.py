"""Verdicts on traces with re-planning verify; without re-planning there is one plan in force."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planproof import evaluate
from planproof.core.finding import Status
from planproof.core.plan import InForce
from planproof.core.trace import Kind
from planproof.core.verdict import Outcome
from planproof.planning.find_plan import find_declared_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.verification import verify
from tests.trace_builders import Event, asked, did, failed, noted, said, trace

STEPS = {
    "Read a.txt": did("read_file", path="a.txt"),
    "Copy a.txt to b.txt": did("copy_file", source="a.txt", target="b.txt"),
    "Delete c.txt": failed("delete_file", path="c.txt"),
    "Mail b.txt to ann@example.org and bo@example.org": did("send_mail", to="ann@example.org"),
    "If the build fails, roll back": did("run_build", "The build passed."),
    "Optionally, tell the user": said("Done as asked."),
}
_DONE = st.sampled_from([*STEPS.values(), did("web_search", query="weather"), asked("And c.txt?")])
_TODOS = st.lists(st.sampled_from(list(STEPS)), min_size=1, max_size=4)


def _todo_list(steps: list[str]) -> Event:
    return noted("TodoWrite", todos=[{"content": step, "status": "pending"} for step in steps])


_TURNS = st.lists(
    st.one_of(_DONE, _TODOS.map(_todo_list), st.tuples(_DONE, _TODOS.map(_todo_list))), max_size=8
)


@st.composite
def _traces(draw: st.DrawFn) -> dict[str, Any]:
    return trace(_todo_list(draw(_TODOS)), *draw(_TURNS))


def _verdict(source: dict[str, Any], in_force: InForce) -> dict[str, Any]:
    return json.loads(json.dumps(evaluate(trace=source, plan_in_force=in_force).full()))


@given(_traces())
def test_verdicts_on_successive_plans_verify_and_account_for_every_action(
    source: dict[str, Any],
) -> None:
    verdict = evaluate(trace=source, plan_in_force="latest")
    assert verify(json.loads(json.dumps(verdict.full())), Source.from_value(source)) == ()
    assert verdict.outcome is Outcome.SCORED
    read = read_trace(Source.from_value(source))
    located = find_declared_plan(read)
    assert located.declaration is not None
    last = [declared.plan for declared in (located.declaration, *located.replans)][-1]
    numbers = {step.number for step in last.steps}
    assert numbers <= {step.number for step in verdict.steps}
    assert all(
        step.status not in {Status.MISSING, Status.AMBIGUOUS}
        for step in verdict.steps
        if step.number not in numbers
    )
    accounted = {extra.event for extra in verdict.extras}
    accounted.update(event for step in verdict.steps for event in step.covers)
    assert {event.id for event in read.events if event.kind is Kind.ACTION} <= accounted


@given(_TODOS, st.lists(_DONE, max_size=6))
def test_with_one_plan_the_first_and_the_latest_are_the_same(
    steps: list[str], done: list[Event]
) -> None:
    ticked = [event for action in done for event in (action, _todo_list(steps))]
    source = trace(_todo_list(steps), *ticked)
    first, latest = _verdict(source, "first"), _verdict(source, "latest")
    assert (first["plan"].pop("in_force"), latest["plan"].pop("in_force")) == ("first", "latest")
    assert json.dumps(first) == json.dumps(latest)
