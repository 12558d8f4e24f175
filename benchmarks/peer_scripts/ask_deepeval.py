"""Run DeepEval's PlanAdherenceMetric: three questions per case. Runs in its own environment."""

from __future__ import annotations

import importlib
import json
from typing import Any

from peer_script import AskFunction, main


def make_judge(address: str) -> AskFunction:
    metrics = importlib.import_module("deepeval.metrics")
    models = importlib.import_module("deepeval.models")
    test_case = importlib.import_module("deepeval.test_case").LLMTestCase
    model = models.OpenAIModel(model="gpt-4o-mini", base_url=address, api_key="none")

    async def ask(case: dict[str, Any]) -> float | None:
        llm_case = test_case(input=case["task"], actual_output="The quarter is closed.")
        trace = {"plan": case["plan"], "spans": json.loads(case["trace"])}
        llm_case._trace_dict = trace  # noqa: SLF001 - set by its tracing
        return await metrics.PlanAdherenceMetric(model=model).a_measure(
            llm_case, _show_indicator=False
        )

    return ask


if __name__ == "__main__":
    main(make_judge)
