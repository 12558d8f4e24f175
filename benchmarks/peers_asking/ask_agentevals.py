"""Runs in agentevals' own environment: `ask_agentevals.py CASES ADDRESS` prints wall seconds."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any


async def main(cases: list[dict[str, Any]], address: str) -> None:
    judging = importlib.import_module("agentevals.trajectory.llm")
    chat = importlib.import_module("langchain_openai").ChatOpenAI
    judge = judging.create_async_trajectory_llm_as_judge(
        judge=chat(model="gpt-4o-mini", base_url=address, api_key="none"),
        prompt=judging.TRAJECTORY_ACCURACY_PROMPT,
        continuous=True,
    )

    async def one(case: dict[str, Any]) -> None:
        assert (await judge(outputs=json.loads(case["trace"])))["score"] is not None

    await one(cases[0])
    began = perf_counter()
    await asyncio.gather(*map(one, cases))
    print(perf_counter() - began)


asyncio.run(main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), sys.argv[2]))
