"""Real agents of AutoGen, alone and in a team, whose model reads from a script."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import TextMentionTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core.models import ModelFamily
from autogen_ext.models.openai import OpenAIChatCompletionClient

from examples.scripted_model import MODEL, Turn, scripted
from planproof import evaluate
from planproof.core.content import Json
from planproof.integrations.capture import Recorder
from planproof.integrations.capture.autogen_stream import attach
from planproof.monitor import OffPlan
from scripts.doc_blocks import find_blocks_for
from tests.frameworks.capture_tests import OFF_PLAN, Accounts, CaptureTests, make_turns, run_block
from tests.frameworks.refunds import PLAN, SKIPPED, TASK, Call


def make_client(url: str) -> OpenAIChatCompletionClient:
    return OpenAIChatCompletionClient(
        model=MODEL,
        base_url=url,
        api_key="none",
        model_info={
            "vision": False,
            "function_calling": True,
            "json_output": False,
            "structured_output": False,
            "family": ModelFamily.UNKNOWN,
        },
    )


def make_agent(url: str, accounts: Accounts) -> AssistantAgent:
    return AssistantAgent("clerk", make_client(url), tools=accounts.tools, max_tool_iterations=10)


class TestAutoGen(CaptureTests):
    # A team tells of what an agent raised in an error of its own.
    stopped = RuntimeError

    def captured(
        self, calls: Sequence[Call], accounts: Accounts, folder: Path
    ) -> tuple[Recorder, Json]:
        results: list[Any] = []
        with scripted(*make_turns(calls)) as url:
            clerk = make_agent(url, accounts)

            class Observed(RoundRobinGroupChat):
                async def run(self, **given: Any) -> Any:
                    results.append(await super().run(**given))

            team = Observed([clerk], termination_condition=TextMentionTermination("refunded."))
            recorder = run_block(find_blocks_for(__file__), folder, clerk=clerk, team=team)
        return recorder, [message.model_dump(mode="json") for message in results[0].messages]


def test_an_agent_alone_is_stopped_before_the_call() -> None:
    accounts = Accounts()
    recorder = Recorder(PLAN, raise_on="proven")

    async def run(url: str) -> None:
        clerk = make_agent(url, accounts)
        attach(recorder, clerk)
        await clerk.run(task=TASK)

    with pytest.raises(OffPlan), scripted(*make_turns(OFF_PLAN)) as url:
        asyncio.run(run(url))
    assert accounts.deleted == []


def test_messages_between_agents_are_captured_once_and_in_order() -> None:
    recorder = Recorder()
    plan = "\n".join(f"{number}. {step}" for number, step in enumerate(PLAN, 1))

    async def run(url: str) -> list[Any]:
        planner = AssistantAgent("planner", make_client(url))
        clerk = make_agent(url, Accounts())
        attach(recorder, planner, clerk)
        end = TextMentionTermination("DONE")
        result = await RoundRobinGroupChat([planner, clerk], termination_condition=end).run(
            task=TASK
        )
        return [message.model_dump(mode="json") for message in result.messages]

    said = [Turn(f"The plan:\n{plan}\nclerk, please begin."), *make_turns(SKIPPED), Turn("DONE")]
    with scripted(*said) as url:
        own = asyncio.run(run(url))
    captured, exported = recorder.finish(), evaluate(trace=own)
    assert captured.score == 0.5
    assert captured.steps == exported.steps
    assert captured.coverage == exported.coverage
