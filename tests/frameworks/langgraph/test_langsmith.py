"""The evaluator inside LangSmith's own `evaluate`, over a LangGraph agent, without a network."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from langsmith import Client, aevaluate, evaluate, traceable
from langsmith.schemas import Example

from planproof.integrations.langsmith import async_plan_adherence, plan_adherence
from scripts.doc_blocks import find_blocks_for
from tests.frameworks.langgraph.agent import refund_agent
from tests.frameworks.refunds import BY_NAME, CLOSING, FOLLOWED, PLAN, SKIPPED, TASK

SCRIPTS = {"followed": FOLLOWED, "skipped": SKIPPED}


@pytest.fixture
def nobody() -> Client:
    """A client that sends nothing, of a server that is not there."""
    return Client(
        api_url="http://127.0.0.1:9",
        api_key="none",
        tracing_sampling_rate=0,
        auto_batch_tracing=False,
    )


def examples(**outputs: Any) -> list[Example]:
    return [
        Example(
            id=uuid4(),
            dataset_id=uuid4(),
            created_at=datetime.now(UTC),
            inputs={"question": TASK},
            metadata={"script": script},
            outputs=outputs,
        )
        for script in SCRIPTS
    ]


def run_agent(inputs: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """The state of the graph at its end, which holds messages as objects."""
    agent = refund_agent(SCRIPTS[metadata["script"]])
    return agent.invoke({"messages": [{"role": "user", "content": inputs["question"]}]})


def feedback(results: list[Any]) -> dict[str, tuple[float | None, str]]:
    return {
        row["example"].metadata["script"]: (found.score, found.comment)
        for row in results
        for found in row["evaluation_results"]["results"]
        if found.key == "plan_adherence"
    }


def test_a_plan_for_all_examples(nobody: Client) -> None:
    done = evaluate(
        run_agent,
        data=examples(),
        evaluators=[plan_adherence(PLAN)],
        client=nobody,
        upload_results=False,
    )
    found = feedback(list(done))
    assert found["followed"][0] == 1.0
    score, comment = found["skipped"]
    assert score == 0.5
    assert "step 2" in comment.lower()


def test_a_plan_of_each_example_and_an_event_loop(nobody: Client) -> None:
    async def asked() -> list[Any]:
        done = await aevaluate(
            arun_agent,
            data=examples(plan=PLAN),
            evaluators=[async_plan_adherence()],
            client=nobody,
            upload_results=False,
        )
        return [row async for row in done]

    async def arun_agent(inputs: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
        return run_agent(inputs, metadata)

    found = feedback(asyncio.run(asked()))
    assert (found["followed"][0], found["skipped"][0]) == (1.0, 0.5)


def test_without_a_plan_there_is_a_comment_and_no_score(nobody: Client) -> None:
    done = evaluate(
        run_agent,
        data=examples(),
        evaluators=[plan_adherence()],
        client=nobody,
        upload_results=False,
    )
    score, comment = feedback(list(done))["followed"]
    assert score is None
    assert "plan" in comment


def test_what_langsmith_traced_is_judged_where_the_output_is_an_answer(nobody: Client) -> None:
    def traced_agent(inputs: dict[str, Any], metadata: dict[str, Any]) -> str:
        for name, given in SCRIPTS[metadata["script"]]:
            traceable(run_type="tool", name=name)(BY_NAME[name])(**given)
        return CLOSING

    done = evaluate(
        traced_agent,
        data=examples(),
        evaluators=[plan_adherence(PLAN)],
        client=nobody,
        upload_results=False,
    )
    found = feedback(list(done))
    assert (found["followed"][0], found["skipped"][0]) == (1.0, 0.5)


def test_the_docs(nobody: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langsmith.evaluate", partial(evaluate, client=nobody))
    (shown,) = find_blocks_for(__file__)
    names: dict[str, Any] = {"plan": PLAN, "agent": run_agent, "examples": examples()}
    exec(compile(shown.text, shown.location, "exec"), names)
    assert feedback(list(names["results"]))["skipped"][0] == 0.5
