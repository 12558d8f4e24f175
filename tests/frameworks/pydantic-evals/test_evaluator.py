"""The evaluator inside pydantic-evals, over the spans of a pydantic-ai agent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import logfire
import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EvaluatorContext
from pydantic_evals.otel import SpanTreeRecordingError

from planproof.calibration.callables import CallableJudge
from planproof.errors import PlanproofError
from planproof.integrations.pydantic_evals import PlanAdherence
from scripts.doc_blocks import find_blocks_for
from tests.frameworks.refunds import CLOSING, FOLLOWED, PLAN, SKIPPED, TASK, TOOLS, Call

SCRIPTS = {"followed": FOLLOWED, "skipped": SKIPPED}


@pytest.fixture(scope="module", autouse=True)
def spans() -> Iterator[None]:
    """Record spans as users do, and send them nowhere."""
    logfire.configure(send_to_logfire=False, console=False, metrics=False)
    logfire.instrument_pydantic_ai()
    yield
    logfire.shutdown()


async def run_agent(inputs: dict[str, str]) -> str:
    turns = iter(_turns(SCRIPTS[inputs["script"]]))
    model = FunctionModel(lambda messages, info: next(turns))
    return (await Agent(model, tools=TOOLS).run(TASK)).output


def _turns(calls: list[Call]) -> list[ModelResponse]:
    asked = [ModelResponse([ToolCallPart(name, given)]) for name, given in calls]
    return [*asked, ModelResponse([TextPart(CLOSING)])]


def run_evaluator(evaluator: PlanAdherence, metadata: Any = None) -> dict[str, Any]:
    cases = [Case(name=name, inputs={"script": name}, metadata=metadata) for name in SCRIPTS]
    data: Any = Dataset(name="refunds", cases=cases, evaluators=[evaluator])
    report = data.evaluate_sync(run_agent, progress=False)
    assert not report.failures
    return {case.name: case for case in report.cases}


def test_a_plan_for_all_cases() -> None:
    found = run_evaluator(PlanAdherence(PLAN))
    assert found["followed"].scores["PlanAdherence"].value == 1.0
    skipped = found["skipped"].scores["PlanAdherence"]
    assert skipped.value == 0.5
    assert "step 2" in skipped.reason.lower()


def test_a_plan_of_each_case() -> None:
    found = run_evaluator(PlanAdherence(), {"plan": PLAN})
    scores = [found[name].scores["PlanAdherence"].value for name in SCRIPTS]
    assert scores == [1.0, 0.5]


def test_what_could_not_be_judged_is_a_failure_and_no_score() -> None:
    followed = run_evaluator(PlanAdherence())["followed"]
    assert not followed.scores
    (failure,) = followed.evaluator_failures
    assert "plan" in failure.error_message


def test_the_output_is_the_trace_where_no_spans_were_recorded() -> None:
    def context(output: Any) -> EvaluatorContext[Any, Any, Any]:
        return EvaluatorContext(
            name=None,
            inputs=TASK,
            metadata=None,
            expected_output=None,
            output=output,
            duration=0.0,
            _span_tree=SpanTreeRecordingError("nobody records"),
            attributes={},
            metrics={},
        )

    calls = [{"kind": "action", "name": name, "arguments": given} for name, given in SKIPPED]
    found = asyncio.run(PlanAdherence(PLAN).evaluate(context({"trace": calls})))
    assert found.value == 0.5
    with pytest.raises(PlanproofError, match="No record in the trace"):
        asyncio.run(PlanAdherence(PLAN).evaluate(context(CLOSING)))


def test_any_judge() -> None:
    judge = CallableJudge(lambda **_: 0.75, "mine")
    found = run_evaluator(PlanAdherence(PLAN, judge=judge))
    assert {case.scores["PlanAdherence"].value for case in found.values()} == {0.75}


def test_the_docs() -> None:
    async def agent(inputs: str) -> str:
        return await run_agent({"script": "skipped"})

    (shown,) = find_blocks_for(__file__)
    names: dict[str, Any] = {"task": TASK, "plan": PLAN, "agent": agent}
    exec(compile(shown.text, shown.location, "exec"), names)
    (case,) = names["report"].cases
    assert case.scores["PlanAdherence"].value == 0.5
