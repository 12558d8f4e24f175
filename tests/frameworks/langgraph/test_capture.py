"""The callback under a real graph, whose model reads from a script."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import SystemMessage, messages_to_dict
from langchain_core.tools import tool

from planproof.core.content import Json
from planproof.integrations.capture import Recorder
from planproof.integrations.capture.langchain_handler import callback
from planproof.monitor import OffPlan
from scripts.doc_blocks import find_blocks_for
from tests.frameworks.capture_tests import OFF_PLAN, Accounts, CaptureTests, run_block
from tests.frameworks.langgraph.agent import refund_agent
from tests.frameworks.refunds import FOLLOWED, PLAN, TASK, Call


class TestLangGraph(CaptureTests):
    def captured(
        self, calls: Sequence[Call], accounts: Accounts, folder: Path
    ) -> tuple[Recorder, Json]:
        graph = refund_agent(list(calls), accounts.tools)
        states: list[Any] = []

        class Observed:
            def invoke(self, *args: Any, **kwargs: Any) -> None:
                states.append(graph.invoke(*args, **kwargs))

        recorder = run_block(find_blocks_for(__file__), folder, agent=Observed())
        return recorder, messages_to_dict(states[0]["messages"])


def make_input(*more: Any) -> dict[str, Any]:
    return {"messages": [*more, ("user", TASK)]}


def test_an_agent_in_an_event_loop_is_stopped_too() -> None:
    accounts = Accounts()
    recorder = Recorder(PLAN, raise_on="proven")
    agent = refund_agent(OFF_PLAN, accounts.tools)
    with pytest.raises(OffPlan):
        asyncio.run(agent.ainvoke(make_input(), config={"callbacks": [callback(recorder)]}))
    assert accounts.deleted == []


def test_a_result_that_proves_it_stops_the_agent_before_the_next_call() -> None:
    painted: list[str] = []

    @tool
    def paint_wall(colour: str) -> str:
        """Paint a wall."""
        painted.append(colour)
        return "wet"

    calls: list[Call] = [("paint_wall", {"colour": "green"}), ("paint_wall", {"colour": "red"})]
    recorder = Recorder(PLAN, raise_on="proven")
    with pytest.raises(OffPlan):
        refund_agent(calls, [paint_wall]).invoke(
            make_input(), config={"callbacks": [callback(recorder)]}
        )
    assert painted == ["green"]


def test_a_plan_in_the_system_prompt_is_found_and_an_agent_in_a_tool_is_the_tools_own() -> None:
    inner = refund_agent([("get_order", {"order_id": "B-7"})], Accounts().tools)

    @tool
    def check_refund_policy(category: str) -> str:
        """Ask somebody who knows the policy of a category."""
        return inner.invoke(make_input())["messages"][-1].content + category

    tools = [each for each in Accounts().tools if each.__name__ != "check_refund_policy"]
    listed = "\n".join(f"{number}. {step}" for number, step in enumerate(PLAN, 1))
    recorder = Recorder()
    refund_agent(FOLLOWED, [*tools, check_refund_policy]).invoke(
        make_input(SystemMessage(f"Follow these steps:\n{listed}")),
        config={"callbacks": [callback(recorder)]},
    )
    verdict = recorder.finish()
    assert verdict.score == 1.0
    assert verdict.plan is not None
    assert verdict.plan.sort == "prescribed_steps"
    assert verdict.coverage is not None
    assert verdict.coverage.by_kind["action"] == len(FOLLOWED)
