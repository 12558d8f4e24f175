"""What holds of `audit` and `cascade` whatever a model answers, on cases made at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planproof import Verdict, evaluate
from planproof.checking.requirements import compile_steps
from planproof.core.finding import Status
from planproof.core.judge import ModelOptions
from planproof.core.vocabulary import Vocabulary
from planproof.llm.judge_registry import find_judge
from planproof.readers.decoding.source import Source
from planproof.verification import verify
from tests.audit_models import (
    believing,
    citing_anything,
    honest,
    inventing,
    inventing_events,
    make_model,
    overlooking,
    read_plan_and_trace,
)
from tests.fake_model import FakeModel
from tests.properties.test_judge import EVENTS, PLANNED, write_plan
from tests.trace_builders import trace

Nature = Callable[[dict[str, Any]], dict[str, Any]]
WORDS = st.sampled_from(("e1", "e2", "e3", "e2-e5", "e9", "[e1]", "", "x", "e1, e3"))
QUOTES = st.sampled_from(("read_file", "report-12.txt", "done", "", "…", "e", "All is well."))
STATUSES = st.sampled_from(("executed", "partial", "missing", "ambiguous", "condition_failed"))
KINDS = st.lists(st.sampled_from(("act", "check", "tell", "think")), max_size=2)
ANSWERS = st.fixed_dictionaries(
    {
        "steps": st.lists(
            st.fixed_dictionaries(
                {
                    "step": st.sampled_from(("1", "2", "3", "7", "")),
                    "kind": KINDS,
                    "status": STATUSES,
                    "evidence": st.lists(
                        st.fixed_dictionaries({"event": WORDS, "quote": QUOTES}), max_size=3
                    ),
                    "events": st.lists(WORDS, max_size=3),
                }
            ),
            max_size=6,
        ),
        "extras": st.lists(
            st.fixed_dictionaries(
                {
                    "events": st.lists(WORDS, max_size=3),
                    "severity": st.sampled_from(("major", "minor")),
                    "quote": QUOTES,
                }
            ),
            max_size=3,
        ),
    }
)
CASES = st.tuples(PLANNED, EVENTS)


def _case(planned: Any, events: Any) -> dict[str, Any]:
    return {"agent_plan": write_plan(planned), "execution_trace": trace(*events)}


def _judge_case(case: dict[str, Any], model: FakeModel, judge: str = "audit") -> Verdict:
    asked = find_judge(judge, model=model, options=ModelOptions(doubt=0.0))
    verdict = evaluate(plan=case["agent_plan"], trace=case["execution_trace"], judge=asked)
    assert verdict.outcome == "scored", verdict.reason
    return verdict


@pytest.mark.parametrize("judge", ["audit", "cascade"])
@given(case=CASES, answer=ANSWERS)
def test_whatever_a_model_answers_the_verdict_can_be_verified(
    judge: str, case: Any, answer: dict[str, Any]
) -> None:
    made = _case(*case)
    verdict = _judge_case(made, FakeModel(answer), judge)
    assert verify(verdict.full(), Source.from_value(made["execution_trace"])) == ()


@pytest.mark.parametrize("nature", [inventing, inventing_events])
@given(case=CASES)
def test_where_all_evidence_is_invented_no_step_is_executed(nature: Nature, case: Any) -> None:
    made = _case(*case)
    verdict = _judge_case(made, make_model(nature, made))
    assert {step.status for step in verdict.steps} == {Status.AMBIGUOUS}
    assert verdict.score == 0.0
    assert len(verdict.rejected) == len(verdict.steps)


@given(case=CASES)
def test_a_step_that_is_only_claimed_is_at_most_ambiguous(case: Any) -> None:
    made = _case(*case)
    verdict = _judge_case(made, make_model(believing, made))
    demands = compile_steps(read_plan_and_trace(made)[0], Vocabulary())
    for step, demand in zip(verdict.steps, demands, strict=True):
        assert step.status is Status.AMBIGUOUS or not demand.requires_action


@given(case=CASES)
def test_actions_that_a_model_leaves_out_are_major_extras(case: Any) -> None:
    made = _case(*case)
    told = _judge_case(made, make_model(honest, made))
    silent = _judge_case(made, make_model(overlooking, made))
    assert [extra.event for extra in silent.extras] == [extra.event for extra in told.extras]
    assert {extra.severity for extra in silent.extras} <= {"major"}
    assert silent.score is not None
    assert told.score is not None
    assert silent.score <= told.score


@given(case=CASES, rest=ANSWERS)
def test_bad_evidence_is_worth_no_more_than_none(case: Any, rest: dict[str, Any]) -> None:
    made = _case(*case)
    spoiled = _judge_case(made, FakeModel(_spoil_quotes(rest)))
    without = _judge_case(made, FakeModel(_without_evidence(rest)))
    assert spoiled.score is not None
    assert without.score is not None
    assert spoiled.score <= without.score


def _spoil_quotes(answer: dict[str, Any]) -> dict[str, Any]:
    bad = [{"event": "e1", "quote": "occurs in no event"}]
    return {**answer, "steps": [{**step, "evidence": bad} for step in answer["steps"]]}


def _without_evidence(answer: dict[str, Any]) -> dict[str, Any]:
    return {**answer, "steps": [{**step, "evidence": []} for step in answer["steps"]]}


@given(case=CASES)
def test_no_step_is_better_than_the_model_says_and_worse_only_with_a_note(case: Any) -> None:
    made = _case(*case)
    answered = evaluate(plan=made["agent_plan"], trace=made["execution_trace"])
    audited = _judge_case(made, make_model(honest, made))
    for step, answer in zip(audited.steps, answered.steps, strict=True):
        if step.status is not answer.status:
            assert step.status is not Status.EXECUTED or answer.status is Status.OUT_OF_ORDER
            assert step.note or step.status is Status.OUT_OF_ORDER


@given(case=CASES)
def test_real_events_of_another_kind_prove_nothing_but_what_they_show(case: Any) -> None:
    made = _case(*case)
    verdict = _judge_case(made, make_model(citing_anything, made))
    assert verify(verdict.full(), Source.from_value(made["execution_trace"])) == ()
