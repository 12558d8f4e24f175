"""Run the judge named by PLANPROOF_JUDGE, in the project's environment."""

from __future__ import annotations

import os
from typing import Any

from peer_script import AskFunction, main

from planproof import aevaluate
from planproof.llm.model_settings import ModelSettings
from planproof.llm.open_judge import open_judge


def make_judge(address: str) -> AskFunction:
    name = os.environ["PLANPROOF_JUDGE"]
    models = [] if name == "rules" else ["openai:gpt-4o-mini"]
    settings = ModelSettings(concurrency=200)
    judge = open_judge(name, models, base_url=address, settings=settings)

    async def ask(case: dict[str, Any]) -> float | None:
        case_input = {"task": case["task"], "plan": case["plan"], "trace": case["trace"]}
        verdict = await aevaluate(**case_input, judge=judge)
        if verdict.score is None:
            raise type(verdict.cause or verdict.outcome.value, (Exception,), {})(verdict.reason)
        return verdict.score

    return ask


if __name__ == "__main__":
    main(make_judge)
