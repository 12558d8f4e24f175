"""Run the trajectory judge of agentevals: one question per case. Runs in its own environment."""

from __future__ import annotations

import importlib
import json
from typing import Any

from peer_script import AskFunction, main


def make_judge(address: str) -> AskFunction:
    judging = importlib.import_module("agentevals.trajectory.llm")
    chat = importlib.import_module("langchain_openai").ChatOpenAI
    judge = judging.create_async_trajectory_llm_as_judge(
        judge=chat(model="gpt-4o-mini", base_url=address, api_key="none"),
        prompt=judging.TRAJECTORY_ACCURACY_PROMPT,
        continuous=True,
    )

    async def ask(case: dict[str, Any]) -> float | None:
        return (await judge(outputs=json.loads(case["trace"])))["score"]

    return ask


if __name__ == "__main__":
    main(make_judge)
