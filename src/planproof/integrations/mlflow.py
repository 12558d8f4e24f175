"""A scorer for `mlflow.genai.evaluate`."""

# MLflow's types are unknown where it is not installed.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from planproof.core.content import Json
from planproof.integrations.hosts import (
    PlanInput,
    extract_plan,
    extract_task,
    extract_trace,
    resolve_judge,
    to_json_value,
)

if TYPE_CHECKING:
    from planproof.core.judge import AnyJudge
    from planproof.core.model import Model


def plan_adherence(
    plan: PlanInput = None,
    *,
    judge: str | AnyJudge | None = None,
    model: str | Model | None = None,
) -> Any:
    """A scorer that holds what an agent did to a plan, with the reason as its rationale.

    Without a plan it is `expectations["plan"]`, or the one that the agent declared. The trace is
    MLflow's own, or the outputs where nothing but the call itself was traced. What could not be
    judged is feedback with an error, and without a value.
    """
    from mlflow.entities import AssessmentError, Feedback  # noqa: PLC0415 - only where it is used
    from mlflow.genai.scorers import scorer  # noqa: PLC0415

    from planproof.evaluation import build_case, evaluate_case  # noqa: PLC0415

    chosen = resolve_judge(judge, model)

    @scorer(name="plan_adherence")
    def score_case(inputs: Any, outputs: Any, expectations: Any, trace: Any) -> Any:
        reference_plan = extract_plan(expectations) if plan is None else plan
        case = build_case(extract_task(inputs), reference_plan, _select_trace(trace, outputs))
        verdict = evaluate_case(case, judge=chosen)
        if verdict.score is None:
            return Feedback(
                error=AssessmentError(error_code=verdict.outcome.value.upper()),
                rationale=verdict.reason,
            )
        return Feedback(value=verdict.score, rationale=verdict.reason)

    return score_case


def _select_trace(trace: Any, outputs: Any) -> Json:
    """The spans, if there are any within the one that MLflow puts around each call."""
    if trace is not None and len(trace.data.spans) > 1:
        return to_json_value(trace.to_dict())
    return extract_trace(outputs)
