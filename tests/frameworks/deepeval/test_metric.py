"""The metric inside DeepEval: test cases, `evaluate`, `assert_test`, and agents that it traces."""

from __future__ import annotations

import asyncio
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from deepeval.dataset import EvaluationDataset, Golden
from deepeval.evaluate import AsyncConfig, DisplayConfig, assert_test, evaluate
from deepeval.test_case import LLMTestCase, ToolCall
from deepeval.tracing import observe, update_current_trace

from planproof.calibration.callables import CallableJudge
from planproof.integrations.deepeval import PlanAdherenceMetric, build_trace
from scripts.doc_blocks import DocBlock, find_blocks_for
from tests.frameworks.refunds import BY_NAME, CLOSING, FOLLOWED, PLAN, SKIPPED, TASK, Call

QUIET = DisplayConfig(show_indicator=False, print_results=False)


@pytest.fixture(autouse=True)
def its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DeepEval writes into the folder that it is run in."""
    monkeypatch.chdir(tmp_path)


def make_test_case(calls: list[Call], **more: Any) -> LLMTestCase:
    tools = [
        ToolCall(name=name, input_parameters=given, output=BY_NAME[name](**given))
        for name, given in calls
    ]
    return LLMTestCase(input=TASK, actual_output=CLOSING, tools_called=tools, **more)


def refund_agent(calls: list[Call]) -> Any:
    """An agent as DeepEval's users write it: observed functions, whose spans it records."""

    @observe(type="llm", model="scripted")
    def think(name: str) -> str:
        return f"I call {name} now."

    @observe(type="agent")
    def agent() -> None:
        for name, given in calls:
            think(name)
            observe(type="tool")(BY_NAME[name])(**given)

    @observe()
    def application(task: str) -> str:
        agent()
        update_current_trace(input=task, output=CLOSING)
        return CLOSING

    return application


def test_a_test_case_is_measured() -> None:
    metric = PlanAdherenceMetric(PLAN)
    assert metric.measure(make_test_case(FOLLOWED)) == metric.score == 1.0
    assert metric.success
    assert metric.is_successful()
    assert metric.score_breakdown == dict.fromkeys("1234", "executed")
    assert asyncio.run(metric.a_measure(make_test_case(SKIPPED))) == metric.score == 0.5
    assert not metric.success
    assert metric.reason
    assert "step 2" in metric.reason.lower()
    assert metric.score_breakdown["2"] == "missing"
    assert metric.verdict is not None
    assert metric.verdict.steps[0].evidence[0].quote == "get_order"


def test_a_test_case_without_a_trace_has_no_score() -> None:
    metric = PlanAdherenceMetric(PLAN)
    assert metric.measure(LLMTestCase(input=TASK, actual_output=CLOSING)) is None
    assert metric.error
    assert metric.measure(make_test_case([])) == 0.0  # it tells that nothing was
    assert metric.error is None


def test_strict_mode_takes_nothing_less_than_all() -> None:
    metric = PlanAdherenceMetric(PLAN, strict_mode=True)
    assert metric.measure(make_test_case(SKIPPED)) == 0.0
    assert not metric.success


@pytest.mark.parametrize("run_async", [True, False])
def test_evaluate_judges_each_test_case_by_its_own_plan(run_async: bool) -> None:
    done = evaluate(
        test_cases=[
            make_test_case(FOLLOWED, name="a", metadata={"plan": PLAN}),
            make_test_case(SKIPPED, name="b", metadata={"plan": PLAN}),
            make_test_case(SKIPPED, name="c", metadata={"plan": [PLAN[0], *PLAN[2:]]}),
            make_test_case(FOLLOWED, name="d"),
            make_test_case(FOLLOWED, name="e", metadata={"plan": 7}),
        ],
        metrics=[PlanAdherenceMetric()],
        async_config=AsyncConfig(run_async=run_async),
        display_config=QUIET,
    )
    found = {result.name: result.metrics_data[0] for result in done.test_results}
    data = [found[name] for name in sorted(found)]
    assert [one.score for one in data] == [1.0, 0.5, 1.0, None, None]
    assert [one.success for one in data] == [True, False, True, False, False]
    assert {one.name for one in data} == {"Plan Adherence"}
    assert "No plan" in data[3].error
    assert "agent_plan" in data[4].error


@pytest.mark.parametrize("run_async", [True, False])
def test_assert_test_passes_and_fails(run_async: bool) -> None:
    metric = PlanAdherenceMetric(PLAN)
    assert_test(make_test_case(FOLLOWED), [metric], run_async=run_async)
    with pytest.raises(AssertionError, match=r"Plan Adherence \(score: 0.5, threshold: 0.75"):
        assert_test(make_test_case(SKIPPED), [metric], run_async=run_async)
    with pytest.raises(AssertionError, match="error: No plan"):
        assert_test(make_test_case(FOLLOWED), [PlanAdherenceMetric()], run_async=run_async)


@pytest.mark.parametrize(("calls", "score"), [(FOLLOWED, 1.0), (SKIPPED, 0.5)])
def test_an_agent_that_deepeval_traces(calls: list[Call], score: float) -> None:
    data = EvaluationDataset(goldens=[Golden(input=TASK)])
    goldens = data.evals_iterator(metrics=[PlanAdherenceMetric(PLAN)], display_config=QUIET)
    refund_agent(calls)(next(goldens).input)
    with pytest.raises(StopIteration) as done:
        next(goldens)
    (result,) = done.value.value.test_results
    (metric,) = result.metrics_data
    assert metric.score == score
    assert metric.reason
    assert "e3 “get_order”" in metric.reason  # e2 is what the model has said


def test_an_agent_within_another_is_handed_over_to() -> None:
    def span(sort: str, name: str, *children: Any, **more: Any) -> dict[str, Any]:
        return {"type": sort, "name": name, "children": list(children), **more}

    test_case = LLMTestCase(input=TASK, actual_output=CLOSING)
    test_case._trace_dict = span(
        "agent",
        "desk",
        span("llm", "model", output="I ask the clerk."),
        span("agent", "clerk", span("tool", "get_order", input={"order_id": "A-1042"})),
        span("tool", "refund_order", error="no money"),
        span("llm", "model", output=CLOSING),
    )
    events = build_trace(test_case)["events"]
    assert [(e["kind"], e.get("name"), e.get("parent"), e.get("status")) for e in events] == [
        ("message", None, None, None),
        ("reasoning", None, None, None),
        ("action", "clerk", None, None),
        ("action", "get_order", "e3", None),
        ("action", "refund_order", None, "error"),
        ("message", None, None, None),
    ]


def test_a_metric_without_a_threshold_neither_passes_nor_fails() -> None:
    metric = PlanAdherenceMetric(PLAN, threshold=None)
    assert metric.measure(make_test_case(SKIPPED)) == 0.5
    assert metric.success is None


def test_a_trace_of_any_format_in_the_metadata() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
    for place, (name, given) in enumerate(SKIPPED):
        function = {"name": name, "arguments": json.dumps(given)}
        call = {"id": f"c{place}", "type": "function", "function": function}
        messages += [{"role": "assistant", "content": None, "tool_calls": [call]}]
    test_case = LLMTestCase(
        input=TASK, actual_output=CLOSING, metadata={"trace": messages, "plan": PLAN}
    )
    metric = PlanAdherenceMetric()
    assert metric.measure(test_case) == 0.5
    assert metric.verdict is not None
    assert metric.verdict.coverage is not None
    assert metric.verdict.coverage.reader == "openai-messages"


def test_an_open_judge_is_shared_by_the_copies_that_deepeval_makes() -> None:
    asked: list[list[str]] = []

    def three_quarters(agent_plan: list[str], **_: Any) -> float:
        asked.append(agent_plan)
        return 0.75

    metric = PlanAdherenceMetric(PLAN, judge=CallableJudge(three_quarters, "mine"))
    done = evaluate(
        test_cases=[make_test_case(SKIPPED), make_test_case(FOLLOWED)],
        metrics=[metric],
        display_config=QUIET,
    )
    assert [result.metrics_data[0].score for result in done.test_results] == [0.75, 0.75]
    assert done.test_results[0].metrics_data[0].evaluation_model == "planproof mine"
    assert asked == [PLAN, PLAN]


@pytest.mark.parametrize("shown", find_blocks_for(__file__), ids=lambda block: block.location)
@pytest.mark.parametrize("calls", [FOLLOWED, SKIPPED])
def test_the_docs(shown: DocBlock, calls: list[Call]) -> None:
    tools = make_test_case(calls).tools_called
    names: dict[str, Any] = {
        "task": TASK,
        "plan": PLAN,
        "agent": lambda task: (CLOSING, tools),
        "observed_agent": refund_agent(calls),
    }
    fails = calls is SKIPPED and "assert_test" in shown.text
    with pytest.raises(AssertionError, match=r"score: 0\.5") if fails else nullcontext():
        exec(compile(shown.text, shown.location, "exec"), names)
