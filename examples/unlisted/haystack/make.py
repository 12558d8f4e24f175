"""Haystack: the messages of an Agent, as `ChatMessage.to_dict()` returns them."""

from __future__ import annotations

import os

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from haystack.utils import Secret
from order_desk import INSTRUCTIONS, TASK, TOOLS, TURNS
from scripted_model import MODEL, scripted
from writing import write_trace


def main() -> None:
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    with scripted(*TURNS) as url:
        generator = OpenAIChatGenerator(
            model=MODEL, api_base_url=url, api_key=Secret.from_token("none")
        )
        tools = [create_tool_from_function(tool) for tool in TOOLS]
        agent = Agent(chat_generator=generator, tools=tools, system_prompt=INSTRUCTIONS)
        result = agent.run(messages=[ChatMessage.from_user(TASK)])
    write_trace(__file__, {"messages": [message.to_dict() for message in result["messages"]]})


if __name__ == "__main__":
    main()
