"""The trace processor and the hooks around a real agent, whose model reads from a script."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_trace_processors,
)
from agents.tracing.processor_interface import TracingExporter
from agents.tracing.processors import BatchTraceProcessor
from openai import AsyncOpenAI

from examples.scripted_model import MODEL, scripted
from planproof.core.content import Json
from planproof.integrations.capture import Recorder
from planproof.integrations.capture.openai_agents_processor import hooks, processor
from scripts.doc_blocks import find_blocks_for
from tests.frameworks.capture_tests import Accounts, CaptureTests, make_turns, run_block
from tests.frameworks.refunds import FOLLOWED, PLAN, TASK, Call


class RecordingExporter(TracingExporter):
    """Keeps what would be uploaded."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def export(self, items: list[Any]) -> None:
        self.items += [item.export() for item in items]


def make_agent(url: str, accounts: Accounts, api: Any) -> Agent[Any]:
    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    tools = [function_tool(tool) for tool in accounts.tools]
    return Agent(name="desk", model=api(MODEL, client), tools=tools)


class TestOpenAIAgents(CaptureTests):
    def captured(
        self, calls: Sequence[Call], accounts: Accounts, folder: Path
    ) -> tuple[Recorder, Json]:
        exported = RecordingExporter()
        batches = BatchTraceProcessor(exported)
        set_trace_processors([batches])
        with scripted(*make_turns(calls)) as url:
            agent = make_agent(url, accounts, OpenAIChatCompletionsModel)
            recorder = run_block(find_blocks_for(__file__), folder, agent=agent)
        batches.force_flush()
        return recorder, exported.items


def test_responses_are_captured_with_what_they_say() -> None:
    recorder = Recorder(PLAN)
    set_trace_processors([processor(recorder)])
    with scripted(*make_turns(FOLLOWED)) as url:
        Runner.run_sync(make_agent(url, Accounts(), OpenAIResponsesModel), TASK)
    verdict = recorder.finish()
    assert verdict.score == 1.0
    assert verdict.coverage is not None
    assert verdict.coverage.by_kind == {"action": 4, "message": 2}


def test_of_several_runs_the_first_is_recorded(caplog: pytest.LogCaptureFixture) -> None:
    recorder = Recorder(PLAN, raise_on="major")
    set_trace_processors([processor(recorder)])
    for _ in range(2):
        with scripted(*make_turns(FOLLOWED)) as url:
            agent = make_agent(url, Accounts(), OpenAIChatCompletionsModel)
            Runner.run_sync(agent, TASK, hooks=hooks(recorder))
    assert recorder.finish().score == 1.0
    assert not caplog.records
