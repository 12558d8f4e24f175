"""MLflow scorer for plan adherence, for `mlflow.genai.evaluate`."""

# MLflow's types are unknown if it is not installed.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from planproof.core.content import Json
from planproof.integrations.hosts import (
    PlanInput,
    explain_verdict,
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
    """Make a scorer for whether an agent followed its plan, with the reason as rationale.

    Without `plan`, the plan is `expectations["plan"]`, or the one the agent declared. The trace is
    MLflow's own, or the outputs if only the call itself was traced. A case that could not be judged
    gives feedback with an error and no value.
    """
    from mlflow.entities import AssessmentError, Feedback  # noqa: PLC0415 - only if it is used
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
        return Feedback(value=verdict.score, rationale=explain_verdict(verdict))

    return score_case


def _select_trace(trace: Any, outputs: Any) -> Json:
    """Return MLflow's spans if there are any inside its root span, otherwise the outputs."""
    if trace is not None and len(trace.data.spans) > 1:
        return to_json_value(trace.to_dict())
    return extract_trace(outputs)
