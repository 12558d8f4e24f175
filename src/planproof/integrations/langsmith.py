"""Evaluators for LangSmith, openevals and agentevals, which call evaluators in the same way.

This module imports none of these packages: it takes plain values and returns plain values.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
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
    from planproof.core.case import Case
    from planproof.core.judge import AnyJudge
    from planproof.core.model import Model
    from planproof.core.verdict import Verdict

KEY = "plan_adherence"
_FIELDS = ("name", "run_type", "inputs", "outputs", "error", "start_time")


_Feedback_co = TypeVar("_Feedback_co", covariant=True)


class Evaluator(Protocol[_Feedback_co]):
    """The function that LangSmith calls, or awaits, for each example."""

    def __call__(
        self,
        inputs: Any = None,
        outputs: Any = None,
        reference_outputs: Any = None,
        run: Any = None,
    ) -> _Feedback_co:
        """Return the feedback on one example."""
        ...


def plan_adherence(
    plan: PlanInput = None,
    *,
    judge: str | AnyJudge | None = None,
    model: str | Model | None = None,
) -> Evaluator[dict[str, Any]]:
    """Make an evaluator that returns `{"key": ..., "score": ..., "comment": ...}`.

    Without `plan`, the plan is `reference_outputs["plan"]`, or the one the agent declared. The
    trace is `outputs["trace"]`, or all outputs: messages, or a state that contains them. If the
    outputs are only an answer, the trace is what LangSmith recorded inside the run.
    """
    from planproof.evaluation import evaluate_case  # noqa: PLC0415 - deferred until used

    chosen = resolve_judge(judge, model)

    def evaluator(
        inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, run: Any = None
    ) -> dict[str, Any]:
        case = _build_case(inputs, _select_trace(outputs, run), reference_outputs, plan)
        return _build_feedback(evaluate_case(case, judge=chosen))

    evaluator.__name__ = KEY
    return evaluator


def async_plan_adherence(
    plan: PlanInput = None,
    *,
    judge: str | AnyJudge | None = None,
    model: str | Model | None = None,
) -> Evaluator[Awaitable[dict[str, Any]]]:
    """Make an async evaluator; see `plan_adherence`."""
    from planproof.evaluation import aevaluate_case  # noqa: PLC0415 - deferred until used

    chosen = resolve_judge(judge, model)

    async def evaluator(
        inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, run: Any = None
    ) -> dict[str, Any]:
        case = _build_case(inputs, _select_trace(outputs, run), reference_outputs, plan)
        return _build_feedback(await aevaluate_case(case, judge=chosen))

    evaluator.__name__ = KEY
    return evaluator


def _build_case(inputs: Any, trace: Json, reference_outputs: Any, plan: PlanInput) -> Case:
    from planproof.evaluation import build_case  # noqa: PLC0415 - deferred until used

    reference_plan = extract_plan(reference_outputs) if plan is None else plan
    return build_case(extract_task(inputs), reference_plan, trace)


def _select_trace(outputs: Any, run: Any) -> Json:
    trace = extract_trace(outputs)
    # A value without any list is an answer, not a trace.
    if is_list(trace) or (is_object(trace) and any(map(is_list, trace.values()))):
        return trace
    return _export_run(run) if getattr(run, "child_runs", None) else trace


def _export_run(run: Any) -> Json:
    """Return a run and the runs inside it, in LangSmith's export format."""
    top: dict[str, Json] = {}
    stack = [(run, top)]
    while stack:
        current, fields = stack.pop()
        fields |= {key: to_json_value(getattr(current, key, None)) for key in _FIELDS}
        children = [(child, dict[str, Json]()) for child in current.child_runs or ()]
        fields["child_runs"] = [child_fields for _, child_fields in children]
        stack += children
    return top


def _build_feedback(verdict: Verdict) -> dict[str, Any]:
    return {"key": KEY, "score": verdict.score, "comment": explain_verdict(verdict)}
