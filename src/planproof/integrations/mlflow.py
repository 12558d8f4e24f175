"""A scorer for `mlflow.genai.evaluate`."""

# MLflow's types are unknown where it is not installed.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from planproof.core.content import Json
from planproof.integrations.hosts import GivenPlan, as_json, judge_for, plan_in, text_in, trace_in

if TYPE_CHECKING:
    from planproof.core.judge import AnyJudge
    from planproof.core.model import Model


def plan_adherence(
    plan: GivenPlan = None,
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

    from planproof.evaluation import evaluate_case  # noqa: PLC0415
    from planproof.preparation import case_of  # noqa: PLC0415

    chosen = judge_for(judge, model)

    @scorer(name="plan_adherence")
    def scored(inputs: Any, outputs: Any, expectations: Any, trace: Any) -> Any:
        held_to = plan_in(expectations) if plan is None else plan
        case = case_of(text_in(inputs), held_to, _recorded(trace, outputs))
        verdict = evaluate_case(case, judge=chosen)
        if verdict.score is None:
            return Feedback(
                error=AssessmentError(error_code=verdict.outcome.value.upper()),
                rationale=verdict.reason,
            )
        return Feedback(value=verdict.score, rationale=verdict.reason)

    return scored


def _recorded(trace: Any, outputs: Any) -> Json:
    """The spans, if there are any within the one that MLflow puts around each call."""
    if trace is not None and len(trace.data.spans) > 1:
        return as_json(trace.to_dict())
    return trace_in(outputs)
