"""A scorer for Inspect.

Importing this module imports Inspect; nothing else in planproof does.
"""

# Its types are unknown where it is not installed.
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
from planproof.evaluation import aevaluate_case
from planproof.integrations.hosts import GivenPlan, as_json, judge_for, plan_in
from planproof.preparation import case_of


@scorer(metrics=[mean(), stderr()])
def plan_adherence(
    plan: GivenPlan = None,
    *,
    judge: str | AnyJudge | None = None,
    model: str | Model | None = None,
) -> Callable[[Any, Any], Awaitable[Any]]:
    """A scorer that holds a sample's transcript to a plan, with the reason as its explanation.

    Without a plan it is `metadata["plan"]` of the sample, or the one that the agent declared. A
    sample that could not be judged is unscored: kept, and left out of the metrics.
    """
    chosen = judge_for(judge, model)

    async def score(state: Any, target: Any) -> Any:
        del target
        held_to = plan_in(state.metadata) if plan is None else plan
        case = case_of(state.input_text, held_to, _sample(state))
        verdict = await aevaluate_case(case, judge=chosen)
        return Score(
            value=nan if verdict.score is None else verdict.score,
            explanation=verdict.reason,
            metadata={"outcome": verdict.outcome.value},
        )

    return score


def _sample(state: Any) -> Json:
    """The sample as a log holds it: its events know more than its messages."""
    return {
        "id": as_json(state.sample_id),
        "epoch": state.epoch,
        "input": as_json(state.input),
        "messages": as_json(state.messages),
        "events": as_json(list(transcript().events)),
    }
