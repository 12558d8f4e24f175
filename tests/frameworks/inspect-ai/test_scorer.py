"""The scorer inside an Inspect task, over the transcript of its own agent."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool

from planproof.integrations.inspect_scorer import plan_adherence
from scripts.doc_blocks import find_blocks_for
from tests.frameworks.refunds import CLOSING, FOLLOWED, PLAN, SKIPPED, TASK, Call
from tests.frameworks.refunds import check_refund_policy as policy_of
from tests.frameworks.refunds import get_order as order_of
from tests.frameworks.refunds import refund_order as refund_of
from tests.frameworks.refunds import send_email as email_to


@tool
def get_order() -> Any:
    async def execute(order_id: str) -> str:
        """Look an order up.

        Args:
            order_id: Which.
        """
        return order_of(order_id)

    return execute


@tool
def check_refund_policy() -> Any:
    async def execute(category: str) -> str:
        """Read the refund policy.

        Args:
            category: Of which category.
        """
        return policy_of(category)

    return execute


@tool
def refund_order() -> Any:
    async def execute(order_id: str, amount: float) -> str:
        """Refund an order.

        Args:
            order_id: Which.
            amount: How much.
        """
        return refund_of(order_id, amount)

    return execute


@tool
def send_email() -> Any:
    async def execute(to: str, subject: str) -> str:
        """Send an e-mail.

        Args:
            to: To whom.
            subject: About what.
        """
        return email_to(to, subject)

    return execute


def run_eval(calls: list[Call], tmp_path: Path, *plan: Any, **metadata: Any) -> tuple[Any, Any]:
    """The score of the sample, and what the log says of all samples."""
    task = Task(
        dataset=[Sample(input=TASK, target="money back", metadata=metadata)],
        solver=agent(),
        scorer=plan_adherence(*plan),
    )
    (log,) = evaluate(task, model=model(calls), log_dir=str(tmp_path), display="none")
    return read_scores(log)


def read_scores(log: Any) -> tuple[Any, Any]:
    assert log.status == "success", log.error
    return log.samples[0].scores["plan_adherence"], log.results.scores[0].metrics["mean"].value


def agent() -> list[Any]:
    tools = (get_order(), check_refund_policy(), refund_order(), send_email())
    return [use_tools(*tools), generate()]


def model(calls: list[Call]) -> Any:
    turns = [ModelOutput.for_tool_call("mockllm", name, given) for name, given in calls]
    outputs = [*turns, ModelOutput.from_content("mockllm", CLOSING)]
    for output in outputs:
        # Otherwise tokens are counted with a vocabulary from the network.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=outputs)


def test_a_plan_for_all_samples(tmp_path: Path) -> None:
    score, average = run_eval(FOLLOWED, tmp_path, PLAN)
    assert score.value == average == 1.0
    score, average = run_eval(SKIPPED, tmp_path, PLAN)
    assert score.value == average == 0.5
    assert "step 2" in score.explanation.lower()


def test_a_plan_of_each_sample(tmp_path: Path) -> None:
    score, _ = run_eval(SKIPPED, tmp_path, plan=PLAN)
    assert score.value == 0.5


def test_what_could_not_be_judged_is_unscored(tmp_path: Path) -> None:
    score, _ = run_eval(FOLLOWED, tmp_path)
    assert isnan(score.value)
    assert score.metadata == {"outcome": "no_plan"}


def test_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (shown,) = find_blocks_for(__file__)
    names: dict[str, Any] = {"task": TASK, "plan": PLAN, "agent": agent(), "model": model(SKIPPED)}
    exec(compile(shown.text, shown.location, "exec"), names)
    assert read_scores(names["logs"][0])[0].value == 0.5
