"""BeeAI: the trajectory of an agent, as `GlobalTrajectoryMiddleware` writes it to a file.

Requests to the model are left out: each repeats the whole conversation.
"""

from __future__ import annotations

import asyncio
import io

from beeai_framework.adapters.openai import OpenAIChatModel
from beeai_framework.agents.requirement import RequirementAgent
from beeai_framework.middleware.trajectory import GlobalTrajectoryMiddleware
from beeai_framework.tools import Tool, tool
from normalization import normalize_trace
from order_desk import INSTRUCTIONS, TASK, TOOLS, TURNS
from scripted_model import MODEL, scripted
from writing import write_trace


async def run(url: str) -> str:
    agent = RequirementAgent(
        llm=OpenAIChatModel(MODEL, base_url=url, api_key="none", stream=False),
        tools=[tool(function) for function in TOOLS],
        instructions=INSTRUCTIONS,
        final_answer_as_tool=False,
        tool_call_checker=False,
    )
    written = io.StringIO()
    included = [Tool, RequirementAgent]
    await agent.run(TASK).middleware(GlobalTrajectoryMiddleware(target=written, included=included))
    return written.getvalue()


def main() -> None:
    with scripted(*TURNS) as url:
        trace = asyncio.run(run(url))
    trace = normalize_trace(trace, ids=r"\bcall_[a-z0-9]{8}\b")
    write_trace(__file__, trace, name="trace.txt")


if __name__ == "__main__":
    main()
