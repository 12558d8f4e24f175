"""Pydantic AI: its GenAI spans, written by OpenTelemetry's own OTLP file exporter.

A desk hands the research to an agent of its own, whose calls lie inside the hand-over. The plan is
given; its third step is left out.
"""

from __future__ import annotations

import io
import json

from normalization import normalize_trace
from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from scripted_model import MODEL, Turn, call, scripted
from writing import write_example

TASK = "Which of our two cloud storage offers is cheaper for 8 TB? Write it into ticket T-64."
PLAN = """\
1. Have the researcher find the prices of the offers Blue and Grey.
2. Calculate the monthly cost of both for 8 TB.
3. Have the calculation checked by check_sums.
4. Write the cheaper offer into ticket T-64.
"""


def look_up_price(offer: str) -> str:
    """The price of an offer."""
    return {"Blue": "Blue: 21 EUR per TB", "Grey": "Grey: 120 EUR up to 10 TB"}[offer]


def calculate(expression: str) -> float:
    """Calculate a product."""
    left, _, right = expression.partition("*")
    return float(left) * float(right)


def check_sums(sums: list[float]) -> str:
    """Have sums checked."""
    return "correct"


def write_ticket(ticket: str, text: str) -> str:
    """Write into a ticket."""
    return f"{ticket} updated."


def main() -> None:
    stream = io.StringIO()
    provider = TracerProvider(resource=Resource({"service.name": "storage-desk"}))
    provider.add_span_processor(
        BatchSpanProcessor(FileSpanExporter(stream=stream), max_export_batch_size=8)
    )
    with scripted(
        Turn(calls=[call("research", question="What do the offers Blue and Grey cost?")]),
        Turn(calls=[call("look_up_price", offer="Blue"), call("look_up_price", offer="Grey")]),
        Turn("Blue costs 21 EUR per TB, Grey 120 EUR up to 10 TB."),
        Turn(calls=[call("calculate", expression="8 * 21")]),
        Turn(
            calls=[
                call("write_ticket", ticket="T-64", text="Grey is cheaper for 8 TB: 120, not 168.")
            ]
        ),
        Turn("Grey is cheaper: 120 EUR a month, against 168 EUR."),
    ) as url:
        model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=url, api_key="none"))
        Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))
        researcher = Agent(model, name="researcher", tools=[look_up_price])

        async def research(question: str) -> str:
            """Hand a question to the researcher."""
            return (await researcher.run(question)).output

        desk = Agent(model, name="desk", tools=[research, calculate, check_sums, write_ticket])
        desk.run_sync(TASK)
    provider.shutdown()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    trace = normalize_trace(
        _without_port(lines),
        ids=r"\b(?:[0-9a-f]{32}|[0-9a-f]{16})\b",
        nanoseconds=("startTimeUnixNano", "endTimeUnixNano"),
    )
    write_example(__file__, task=TASK, plan=PLAN, trace=trace, name="trace.jsonl")


def _without_port(lines: list[dict]) -> list[dict]:
    """The port of the scripted server is the only thing in the spans that names this machine."""
    for line in lines:
        for scope in (scope for item in line["resourceSpans"] for scope in item["scopeSpans"]):
            for span in scope["spans"]:
                span["attributes"] = [a for a in span["attributes"] if a["key"] != "server.port"]
    return lines


if __name__ == "__main__":
    main()
