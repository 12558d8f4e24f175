"""Semantic Kernel: the chat history, as `ChatHistory.serialize()` writes it."""

from __future__ import annotations

import asyncio
import json

from openai import AsyncOpenAI
from order_desk import INSTRUCTIONS, TASK, TOOLS, TURNS
from scripted_model import MODEL, scripted
from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.open_ai import (
    OpenAIChatCompletion,
    OpenAIChatPromptExecutionSettings,
)
from semantic_kernel.contents import ChatHistory
from semantic_kernel.functions import KernelFunctionFromMethod, kernel_function
from writing import write_trace


async def run(url: str) -> str:
    client = AsyncOpenAI(base_url=url, api_key="none")
    chat = OpenAIChatCompletion(ai_model_id=MODEL, async_client=client)
    kernel = Kernel()
    functions = [KernelFunctionFromMethod(kernel_function(tool), "desk") for tool in TOOLS]
    kernel.add_functions("desk", functions)
    history = ChatHistory(system_message=INSTRUCTIONS)
    history.add_user_message(TASK)
    settings = OpenAIChatPromptExecutionSettings(
        function_choice_behavior=FunctionChoiceBehavior.Auto(maximum_auto_invoke_attempts=10)
    )
    history.add_message(await chat.get_chat_message_content(history, settings, kernel=kernel))
    return history.serialize()


def main() -> None:
    with scripted(*TURNS) as url:
        history = asyncio.run(run(url))
    write_trace(__file__, json.loads(history))


if __name__ == "__main__":
    main()
