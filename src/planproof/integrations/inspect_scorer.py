"""Inspect AI scorer for plan adherence.

Importing this module imports Inspect; nothing else in planproof does.
"""

# Inspect's types are unknown if it is not installed.
# pyright: reportMissingImports=false, reportUntypedFunctionDecorator=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Awaitable, Callable
from math import nan
from typing import Any

from inspect_ai.log import transcript
from inspect_ai.scorer import Score, mean, scorer, stderr

from planproof.core.content import Json
from planproof.core.judge import AnyJudge
from planproof.core.model import Model
from planproof.evaluation import aevaluate_case, build_case
from planproof.integrations.hosts import (
    PlanInput,
    explain_verdict,
    extract_plan,
    resolve_judge,
    to_json_value,
)


@scorer(metrics=[mean(), stderr()])
def plan_adherence(
    plan: PlanInput = None,
    *,
    judge: str | AnyJudge | None = None,
    model: str | Model | None = None,
) -> Callable[[Any, Any], Awaitable[Any]]:
    """Make a scorer for whether an agent followed its plan, with the reason as explanation.

    Without `plan`, the plan is `metadata["plan"]` of the sample, or the one the agent declared. A
    sample that could not be judged is unscored: it stays in the log and is left out of the metrics.
    """
    chosen = resolve_judge(judge, model)

    async def score(state: Any, target: Any) -> Any:
        del target
        reference_plan = extract_plan(state.metadata) if plan is None else plan
        case = build_case(state.input_text, reference_plan, _dump_sample(state))
        verdict = await aevaluate_case(case, judge=chosen)
        return Score(
            value=nan if verdict.score is None else verdict.score,
            explanation=explain_verdict(verdict),
            metadata={"outcome": verdict.outcome.value, "confidence": verdict.confidence},
        )

    return score


def _dump_sample(state: Any) -> Json:
    """Return the sample in the form of a log; its events have more detail than its messages."""
    return {
        "id": to_json_value(state.sample_id),
        "epoch": state.epoch,
        "input": to_json_value(state.input),
        "messages": to_json_value(state.messages),
        "events": to_json_value(list(transcript().events)),
    }
