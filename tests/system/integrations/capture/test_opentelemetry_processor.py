"""The span processor in OpenTelemetry's SDK, under a real agent that writes spans."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic_ai import Agent
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from examples.scripted_model import MODEL, scripted
from planproof.core.content import Json
from planproof.integrations.capture import Recorder
from planproof.integrations.capture.opentelemetry_processor import processor
from planproof.monitor import Deviation
from scripts.doc_blocks import find_blocks_for
from tests.frameworks.capture_tests import Accounts, CaptureTests, make_turns, run_block
from tests.frameworks.refunds import Call


class TestOpenTelemetry(CaptureTests):
    def captured(
        self, calls: Sequence[Call], accounts: Accounts, folder: Path
    ) -> tuple[Recorder, Json]:
        exporter, provider = InMemorySpanExporter(), TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        with scripted(*make_turns(calls)) as url:
            model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=url, api_key="none"))
            spans = InstrumentationSettings(tracer_provider=provider)
            agent = Agent(model, tools=accounts.tools, capabilities=[Instrumentation(spans)])
            recorder = run_block(find_blocks_for(__file__), folder, provider=provider, agent=agent)
        return recorder, [json.loads(span.to_json()) for span in exporter.get_finished_spans()]


@pytest.mark.parametrize(
    ("attributes", "reader"),
    [
        ({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}, "opentelemetry"),
        ({"openinference.span.kind": "TOOL", "tool.name": "look"}, "openinference"),
    ],
)
def test_the_first_trace_with_an_agent_is_read_in_its_own_words(
    attributes: dict[str, str], reader: str
) -> None:
    recorder, provider = Recorder(["Look."]), TracerProvider()
    provider.add_span_processor(processor(recorder))
    tracer = provider.get_tracer("agent")
    with tracer.start_as_current_span("a request", attributes={"http.route": "/"}):
        pass
    for _ in range(2):
        with tracer.start_as_current_span("run"):
            tracer.start_span("look", attributes=attributes).end()
    verdict = recorder.finish()
    assert verdict.score == 1.0
    assert verdict.coverage is not None
    assert verdict.coverage.reader == reader
    assert verdict.coverage.events == 1


def test_who_listens_may_write_spans_too() -> None:
    provider, heard = TracerProvider(), list[Deviation]()
    tracer = provider.get_tracer("agent")

    def listen(deviation: Deviation) -> None:
        heard.append(deviation)
        tracer.start_span("deviation").end()

    recorder = Recorder(["Look."], on_deviation=listen)
    provider.add_span_processor(processor(recorder))
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "order_pizza"}

    def run() -> None:
        with tracer.start_as_current_span("run"):
            tracer.start_span("order", attributes=attributes).end()

    # In a thread, so that one that waits for itself would not keep everybody waiting.
    running = Thread(target=run, daemon=True)
    running.start()
    running.join(30)
    assert not running.is_alive()
    assert heard
