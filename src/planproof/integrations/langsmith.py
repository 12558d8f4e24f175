"""Evaluators for LangSmith, and for openevals and agentevals, whose evaluators are called alike.

They need nothing of them: what comes in are values, and so is what goes out.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Protocol

from planproof.integrations.hosts import GivenPlan, judge_for, plan_in, text_in, trace_in

if TYPE_CHECKING:
    from planproof.case import Case
    from planproof.judges.asking import Model
    from planproof.judges.protocol import AnyJudge
    from planproof.verdict import Verdict

KEY = "plan_adherence"


class Evaluator(Protocol):
    """What LangSmith calls for each example."""

    def __call__(
        self, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, **others: Any
    ) -> dict[str, Any]:
        """The feedback on one example."""
        ...


class AsyncEvaluator(Protocol):
    """What LangSmith awaits for each example."""

    def __call__(
        self, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, **others: Any
    ) -> Awaitable[dict[str, Any]]:
        """The feedback on one example."""
        ...


def plan_adherence(
    plan: GivenPlan = None,
    *,
    judge: str | AnyJudge | None = None,
    model: str | Model | None = None,
) -> Evaluator:
    """An evaluator that holds outputs to a plan: `{"key": ..., "score": ..., "comment": ...}`.

    Without a plan it is `reference_outputs["plan"]`, or the one that the agent declared. The trace
    is `outputs["trace"]`, or all of the outputs: messages, or a state that holds them.
    """
    from planproof.evaluation import evaluate_case  # noqa: PLC0415 - not before it is used

    chosen = judge_for(judge, model)

    def evaluator(
        inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, **others: Any
    ) -> dict[str, Any]:
        del others
        case = _case(inputs, outputs, reference_outputs, plan)
        return _feedback(evaluate_case(case, judge=chosen))

    evaluator.__name__ = KEY
    return evaluator


def async_plan_adherence(
    plan: GivenPlan = None,
    *,
    judge: str | AnyJudge | None = None,
    model: str | Model | None = None,
) -> AsyncEvaluator:
    """The same, to be awaited."""
    from planproof.evaluation import aevaluate_case  # noqa: PLC0415 - not before it is used

    chosen = judge_for(judge, model)

    async def evaluator(
        inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, **others: Any
    ) -> dict[str, Any]:
        del others
        case = _case(inputs, outputs, reference_outputs, plan)
        return _feedback(await aevaluate_case(case, judge=chosen))

    evaluator.__name__ = KEY
    return evaluator


def _case(inputs: Any, outputs: Any, reference_outputs: Any, plan: GivenPlan) -> Case:
    from planproof.preparation import case_of  # noqa: PLC0415 - not before it is used

    held_to = plan_in(reference_outputs) if plan is None else plan
    return case_of(text_in(inputs), held_to, trace_in(outputs), None, None)


def _feedback(verdict: Verdict) -> dict[str, Any]:
    return {"key": KEY, "score": verdict.score, "comment": verdict.reason}
