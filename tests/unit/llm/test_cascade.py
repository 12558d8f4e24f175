"""What `cascade` asks a model about, and how much of a trace it shows."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.cases import generate_case
from benchmarks.prompts import find_event_ids
from planproof.core.content import Content
from planproof.core.judge import Judgement, ModelOptions
from planproof.core.model import Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.vocabulary import Vocabulary
from planproof.llm.audit.audit_judge import Audit
from planproof.llm.cascade import Cascade
from planproof.llm.prompting.case_prompt import count_characters
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from tests.audit_models import honest
from tests.fake_model import FakeModel


def _make_case(steps: int, events: int) -> tuple[Plan, Trace, FakeModel]:
    case = generate_case(steps=steps, events=events)
    plan, trace = parse_plan(case.plan), read_trace(Source.from_text(case.trace))
    return plan, trace, FakeModel(honest({"agent_plan": case.plan, "execution_trace": case.trace}))


def _judge(judge: type[Audit | Cascade], steps: int, events: int, **options: float) -> Judgement:
    plan, trace, model = _make_case(steps, events)
    made = judge(Vocabulary(), model, ModelOptions(**options))  # pyright: ignore[reportArgumentType]
    return asyncio.run(made.judge(Content(), plan, trace))


def _ask(judge: type[Audit | Cascade], steps: int, events: int) -> tuple[Question, ...]:
    plan, trace, model = _make_case(steps, events)
    return judge(Vocabulary(), model, ModelOptions()).questions(Content(), plan, trace)


def _write(question: Question) -> str:
    return "\n".join(part for part in question.parts if isinstance(part, str))


def test_a_short_trace_is_shown_as_by_audit() -> None:
    assert _ask(Cascade, 10, 50) == _ask(Audit, 10, 50)


@pytest.mark.parametrize(("steps", "events"), [(10, 120), (20, 200), (50, 500)])
def test_of_a_long_trace_every_event_is_shown_in_less_than_half(steps: int, events: int) -> None:
    short, whole = _ask(Cascade, steps, events)[-1], _ask(Audit, steps, events)[-1]

    assert find_event_ids(_write(short)) == {f"e{number}" for number in range(1, events + 1)}
    assert count_characters(short) < count_characters(whole) / 2


def test_the_findings_on_a_long_trace_are_those_of_audit() -> None:
    audited, found = _judge(Audit, 20, 200), _judge(Cascade, 20, 200)

    assert audited.findings is not None
    assert found.findings is not None
    assert [s.status for s in found.findings.steps] == [s.status for s in audited.findings.steps]
    assert {step.found_by for step in found.findings.steps} == {"audit"}


def test_only_what_does_not_fit_even_so_is_left_to_the_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("planproof.llm.cascade._MAX_UNSETTLED", 0)
    found = _judge(Cascade, 20, 200)

    assert found.findings is not None
    asked = [step for step in found.findings.steps if step.found_by == "audit"]
    settled = [step for step in found.findings.steps if step.found_by == "rules"]
    assert asked
    assert settled
    covered = {event for step in settled for event in step.covers}
    assert found.shown is not None
    assert (found.shown.windows, found.shown.events) == (1, 200 - len(covered))


def test_no_model_is_asked_if_the_rules_leave_no_more_doubt_than_allowed() -> None:
    found = _judge(Cascade, 10, 50, doubt=1_000.0)

    assert (found.usage.calls, found.models) == (0, ())
    assert found.findings is not None
    assert {step.found_by for step in found.findings.steps} == {"rules"}
