"""Pydantic AI: its GenAI spans as a flat list, in the JSON of the OpenTelemetry SDK.

Spans are exported as they end, so a parent stands behind its children. The agent declares a plan
and ends after two of its five steps.
"""

from __future__ import annotations

import json

from normalization import normalize_trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic_ai import Agent
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from scripted_model import MODEL, Turn, call, scripted
from writing import write_example

TASK = "Set up the test laptop for the new colleague Jonas Weber."
PLAN = """\
1. Create the user jweber.
2. Assign the laptop LT-19 to jweber.
3. Install the package "devtools" on LT-19.
4. Run the self-test on LT-19.
5. Tell the help desk that LT-19 is ready.
"""


def create_user(name: str) -> str:
    """Create a user."""
    return f"User {name} created."


def assign_laptop(laptop: str, user: str) -> str:
    """Assign a laptop to a user."""
    raise PermissionError(f"{laptop} is still assigned to kbauer")


def install_package(laptop: str, package: str) -> str:
    """Install a package on a laptop."""
    return "installed"


def main() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "it-desk"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with scripted(
        Turn(f"Plan:\n{PLAN}", [call("create_user", name="jweber")]),
        Turn(calls=[call("assign_laptop", laptop="LT-19", user="jweber")]),
    ) as url:
        model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=url, api_key="none"))
        Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))
        desk = Agent(
            model,
            name="it_desk",
            instructions="Begin with a plan.",
            tools=[create_user, assign_laptop, install_package],
        )
        try:
            desk.run_sync(TASK)
        except PermissionError as error:
            print(f"the run ended as it should: {error}")
    spans = [json.loads(span.to_json()) for span in exporter.get_finished_spans()]
    for span in spans:
        # The port of the scripted server, and the lines of the framework's source in a stack.
        span["attributes"].pop("server.port", None)
        for event in span["events"]:
            event["attributes"].pop("exception.stacktrace", None)
    write_example(
        __file__,
        task=TASK,
        plan=PLAN,
        trace=normalize_trace(spans, ids=r"0x[0-9a-f]{32}|0x[0-9a-f]{16}"),
    )


if __name__ == "__main__":
    main()
