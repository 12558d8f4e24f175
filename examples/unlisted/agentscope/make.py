"""AgentScope: the state of an agent, as it is saved at the end of a session."""

from __future__ import annotations

import asyncio
import re

from agentscope.agent import Agent
from agentscope.credential import OpenAICredential
from agentscope.message import UserMsg
from agentscope.model import OpenAIChatModel
from agentscope.permission import PermissionBehavior, PermissionDecision
from agentscope.tool import FunctionTool, Toolkit
from normalization import normalize_trace
from order_desk import INSTRUCTIONS, TASK, TOOLS, TURNS
from scripted_model import MODEL, scripted
from writing import write_trace

_NOW = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


async def run(url: str) -> dict:
    credential = OpenAICredential(api_key="none", base_url=url)
    allowed = PermissionDecision(behavior=PermissionBehavior.ALLOW, message="allowed")
    agent = Agent(
        name="desk",
        system_prompt=INSTRUCTIONS,
        model=OpenAIChatModel(credential, MODEL, stream=False),
        toolkit=Toolkit(tools=[FunctionTool(tool, permission=allowed) for tool in TOOLS]),
    )
    await agent.reply(UserMsg(name="user", content=TASK))
    return agent.state.model_dump(mode="json")


def main() -> None:
    with scripted(*TURNS) as url:
        trace = asyncio.run(run(url))
    for message in trace["context"]:
        for part in message["content"]:
            if part["type"] == "hint":
                part["hint"] = _NOW.sub("2026-01-01T09:00:00", part["hint"])
    write_trace(__file__, normalize_trace(trace, ids=r"\b[0-9a-f]{32}\b"))


if __name__ == "__main__":
    main()
