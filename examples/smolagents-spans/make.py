"""smolagents: the OpenInference spans of its instrumentor, flat, in the JSON of the SDK.

A manager plans and hands a question to an agent that it manages. It reserves the table before it
has asked for the guests' allergies, which the plan puts first.
"""

from __future__ import annotations

import json
import re

from normalization import normalize_trace
from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from scripted_model import MODEL, Turn, call, scripted
from short_prompts import prompts
from smolagents import LogLevel, OpenAIModel, ToolCallingAgent, tool
from writing import write_example

TASK = "Organise the team dinner for 8 people on 20 March."
PLAN = """\
1. Let the scout find a restaurant for 8 people.
2. Read the allergies of the team.
3. Reserve a table for 8 on 20 March.
4. Write the dinner into the team calendar.
"""
PROMPTS = prompts("Call one tool at a time; call final_answer at the end.")


@tool
def search_restaurants(people: int) -> str:
    """Searches restaurants.

    Args:
        people: For how many.
    """
    return "Osteria Lupa (up to 10), Zum Anker (up to 6)"


@tool
def read_allergies(team: str) -> str:
    """Reads the allergies of a team.

    Args:
        team: The team.
    """
    return "nuts (2), gluten (1)"


@tool
def reserve_table(restaurant: str, people: int, day: str) -> str:
    """Reserves a table.

    Args:
        restaurant: Where.
        people: For how many.
        day: When.
    """
    return f"{restaurant} expects {people} on {day}."


@tool
def add_to_calendar(day: str, text: str) -> str:
    """Adds an entry to the team calendar.

    Args:
        day: When.
        text: What.
    """
    return "added"


def main() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "office"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    SmolagentsInstrumentor().instrument(tracer_provider=provider)
    dinner = {"restaurant": "Osteria Lupa", "people": 8, "day": "20 March"}
    with scripted(
        Turn(f"## Plan\n{PLAN}<end_plan>"),
        Turn(calls=[call("scout", task="Find a restaurant that has room for 8 people.")]),
        Turn(calls=[call("search_restaurants", people=8)]),
        Turn(calls=[call("final_answer", answer="Osteria Lupa has room for 10.")]),
        Turn(calls=[call("reserve_table", **dinner)]),
        Turn(calls=[call("read_allergies", team="office")]),
        Turn(calls=[call("add_to_calendar", day="20 March", text="Dinner, Osteria Lupa")]),
        Turn(calls=[call("final_answer", answer="The dinner is at Osteria Lupa.")]),
    ) as url:
        model = OpenAIModel(MODEL, api_base=url, api_key="none")
        common = {"model": model, "prompt_templates": PROMPTS, "verbosity_level": LogLevel.OFF}
        scout = ToolCallingAgent(
            [search_restaurants], name="scout", description="Finds restaurants.", **common
        )
        manager = ToolCallingAgent(
            [read_allergies, reserve_table, add_to_calendar],
            managed_agents=[scout],
            planning_interval=10,
            **common,
        )
        manager.run(TASK)
    # Steps are written as Python shows objects: with the time in the midst of the text.
    texts = [
        re.sub(r"start_time=[\d.]+", "start_time=0.0", span.to_json())
        for span in exporter.get_finished_spans()
    ]
    spans = normalize_trace([json.loads(text) for text in texts], ids=r"0x[0-9a-f]{8,32}")
    write_example(__file__, task=TASK, plan=PLAN, trace=spans)


if __name__ == "__main__":
    main()
