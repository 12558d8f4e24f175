"""Agno: the events of a streamed run, one to a line (`RunEvent.to_dict()`).

Pieces of text that the model streams are left out; the last event has the answer.
"""

from __future__ import annotations

import re

from agno.agent import Agent
from agno.models.openai.like import OpenAILike
from normalization import normalize_trace
from order_desk import INSTRUCTIONS, TASK, TOOLS, TURNS
from scripted_model import MODEL, scripted
from writing import write_trace

_TOOK = re.compile(r"\d+\.\d+s")


def main() -> None:
    with scripted(*TURNS) as url:
        model = OpenAILike(id=MODEL, base_url=url, api_key="none")
        agent = Agent(
            name="desk", model=model, tools=list(TOOLS), instructions=INSTRUCTIONS, telemetry=False
        )
        events = [event.to_dict() for event in agent.run(TASK, stream=True, stream_events=True)]
    kept = [event for event in events if event["event"] != "RunContent"]
    trace = normalize_trace(
        kept,
        seconds=("created_at", "start_time", "end_time"),
        durations=("duration", "time_to_first_token"),
    )
    for event in trace:
        if event["event"] == "ToolCallCompleted":
            event["content"] = _TOOK.sub("0.0001s", event["content"])
    write_trace(__file__, trace, name="trace.jsonl")


if __name__ == "__main__":
    main()
