"""Runs in DeepEval's own environment: `ask_deepeval.py CASES ADDRESS` prints wall seconds."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any


async def main(cases: list[dict[str, Any]], address: str) -> None:
    metrics = importlib.import_module("deepeval.metrics")
    models = importlib.import_module("deepeval.models")
    test_case = importlib.import_module("deepeval.test_case").LLMTestCase
    model = models.GPTModel(model="gpt-4o-mini", base_url=address, api_key="none")

    async def one(case: dict[str, Any]) -> None:
        asked = test_case(input=case["task"], actual_output="The quarter is closed.")
        trace = {"plan": case["plan"], "spans": json.loads(case["trace"])}
        asked._trace_dict = trace  # noqa: SLF001 - where its tracing puts it
        metric = metrics.PlanAdherenceMetric(model=model)
        assert await metric.a_measure(asked, _show_indicator=False) is not None

    await one(cases[0])
    began = perf_counter()
    await asyncio.gather(*map(one, cases))
    print(perf_counter() - began)


asyncio.run(main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), sys.argv[2]))
