"""Evaluators for LangSmith, and for openevals and agentevals, whose evaluators are called alike.

They need nothing of them: what comes in are values, and so is what goes out.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.integrations.hosts import (
    PlanInput,
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
    """What LangSmith calls for each example, or awaits."""

    def __call__(
        self,
        inputs: Any = None,
        outputs: Any = None,
        reference_outputs: Any = None,
        run: Any = None,
    ) -> _Feedback_co:
        """The feedback on one example."""
        ...


def plan_adherence(
    plan: PlanInput = None,
    *,
    judge: str | AnyJudge | None = None,
    model: str | Model | None = None,
) -> Evaluator[dict[str, Any]]:
    """An evaluator that holds outputs to a plan: `{"key": ..., "score": ..., "comment": ...}`.

    Without a plan it is `reference_outputs["plan"]`, or the one that the agent declared. The trace
    is `outputs["trace"]`, or all of the outputs: messages, or a state that holds them. Where these
    are an answer only, it is what LangSmith has traced within the run.
    """
    from planproof.evaluation import evaluate_case  # noqa: PLC0415 - not before it is used

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
    """The same, to be awaited."""
    from planproof.evaluation import aevaluate_case  # noqa: PLC0415 - not before it is used

    chosen = resolve_judge(judge, model)

    async def evaluator(
        inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, run: Any = None
    ) -> dict[str, Any]:
        case = _build_case(inputs, _select_trace(outputs, run), reference_outputs, plan)
        return _build_feedback(await aevaluate_case(case, judge=chosen))

    evaluator.__name__ = KEY
    return evaluator


def _build_case(inputs: Any, trace: Json, reference_outputs: Any, plan: PlanInput) -> Case:
    from planproof.evaluation import build_case  # noqa: PLC0415 - not before it is used

    reference_plan = extract_plan(reference_outputs) if plan is None else plan
    return build_case(extract_task(inputs), reference_plan, trace)


def _select_trace(outputs: Any, run: Any) -> Json:
    trace = extract_trace(outputs)
    # What holds no list of anything is an answer.
    if is_list(trace) or (is_object(trace) and any(map(is_list, trace.values()))):
        return trace
    return _export_run(run) if getattr(run, "child_runs", None) else trace


def _export_run(run: Any) -> Json:
    """A run and the runs within it, as LangSmith exports them."""
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
    return {"key": KEY, "score": verdict.score, "comment": verdict.reason}
