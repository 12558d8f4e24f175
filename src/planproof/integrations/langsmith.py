"""Evaluators for LangSmith, and for openevals and agentevals, whose evaluators are called alike.

They need nothing of them: what comes in are values, and so is what goes out.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.integrations.hosts import (
    GivenPlan,
    as_json,
    judge_for,
    plan_in,
    text_in,
    trace_in,
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
    plan: GivenPlan = None,
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

    chosen = judge_for(judge, model)

    def evaluator(
        inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, run: Any = None
    ) -> dict[str, Any]:
        case = _case(inputs, _recorded(outputs, run), reference_outputs, plan)
        return _feedback(evaluate_case(case, judge=chosen))

    evaluator.__name__ = KEY
    return evaluator


def async_plan_adherence(
    plan: GivenPlan = None,
    *,
    judge: str | AnyJudge | None = None,
    model: str | Model | None = None,
) -> Evaluator[Awaitable[dict[str, Any]]]:
    """The same, to be awaited."""
    from planproof.evaluation import aevaluate_case  # noqa: PLC0415 - not before it is used

    chosen = judge_for(judge, model)

    async def evaluator(
        inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, run: Any = None
    ) -> dict[str, Any]:
        case = _case(inputs, _recorded(outputs, run), reference_outputs, plan)
        return _feedback(await aevaluate_case(case, judge=chosen))

    evaluator.__name__ = KEY
    return evaluator


def _case(inputs: Any, trace: Json, reference_outputs: Any, plan: GivenPlan) -> Case:
    from planproof.preparation import case_of  # noqa: PLC0415 - not before it is used

    held_to = plan_in(reference_outputs) if plan is None else plan
    return case_of(text_in(inputs), held_to, trace)


def _recorded(outputs: Any, run: Any) -> Json:
    held = trace_in(outputs)
    # What holds no list of anything is an answer.
    if is_list(held) or (is_object(held) and any(map(is_list, held.values()))):
        return held
    return _traced(run) if getattr(run, "child_runs", None) else held


def _traced(run: Any) -> Json:
    """A run and the runs within it, as LangSmith exports them."""
    top: dict[str, Json] = {}
    waiting = [(run, top)]
    while waiting:
        each, fields = waiting.pop()
        fields |= {key: as_json(getattr(each, key, None)) for key in _FIELDS}
        children = [(child, dict[str, Json]()) for child in each.child_runs or ()]
        fields["child_runs"] = [written for _, written in children]
        waiting += children
    return top


def _feedback(verdict: Verdict) -> dict[str, Any]:
    return {"key": KEY, "score": verdict.score, "comment": verdict.reason}
