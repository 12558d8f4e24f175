"""An evaluator for LangSmith, and for openevals and agentevals, whose evaluators are called alike.

It needs nothing of them: what comes in are values, and so is what goes out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from planproof.content import Json
from planproof.integrations.hosts import GivenPlan, as_json, judge_for
from planproof.readers.pieces.shapes import is_object

if TYPE_CHECKING:
    from planproof.judges.asking import Model
    from planproof.judges.protocol import AnyJudge

KEY = "plan_adherence"


class Evaluator(Protocol):
    """What LangSmith calls for each example."""

    def __call__(
        self, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, **others: Any
    ) -> dict[str, Any]:
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
    chosen = judge_for(judge, model)

    def evaluator(
        inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, **others: Any
    ) -> dict[str, Any]:
        del others
        from planproof.evaluation import evaluate  # noqa: PLC0415 - not before it is used

        verdict = evaluate(
            task=_task(as_json(inputs)),
            plan=_field(as_json(reference_outputs), "plan") if plan is None else plan,
            trace=_trace(as_json(outputs)),
            judge=chosen,
        )
        return {"key": KEY, "score": verdict.score, "comment": verdict.reason}

    evaluator.__name__ = KEY
    return evaluator


def _field(values: Json, name: str) -> Json:
    return values.get(name) if is_object(values) else None


def _trace(outputs: Json) -> Json:
    found = _field(outputs, "trace")
    return outputs if found is None else found


def _task(inputs: Json) -> str | None:
    """The one text in the inputs; of messages, what the user says first is found in the trace."""
    values = list(inputs.values()) if is_object(inputs) else [inputs]
    texts = [value for value in values if isinstance(value, str)]
    return texts[0] if len(texts) == 1 else None
