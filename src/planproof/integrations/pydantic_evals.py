"""An evaluator for pydantic-evals, which reads the span tree.

Importing this module imports pydantic-evals; nothing else in planproof does.
"""

# Its types are unknown where it is not installed.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic_evals.evaluators import EvaluationReason, Evaluator
from pydantic_evals.otel import SpanTreeRecordingError

from planproof.core.content import Json
from planproof.errors import PlanproofError
from planproof.evaluation import aevaluate_case
from planproof.integrations.hosts import GivenPlan, as_json, judge_for, plan_in, text_in, trace_in
from planproof.preparation import case_of


@dataclass
class PlanAdherence(Evaluator[Any, Any, Any]):
    """Whether the spans of a case show what its plan says, as a score with a reason.

    Without a plan it is `metadata["plan"]` of the case, or the one that the agent declared. Where
    no spans were recorded, the output is the trace. A case that could not be judged counts as a
    failure of the evaluator, not as a score.
    """

    plan: GivenPlan = None
    judge: Any = None
    model: Any = None

    @cached_property
    def _chosen(self) -> Any:
        return judge_for(self.judge, self.model)

    async def evaluate(self, ctx: Any) -> Any:
        """Judge one case."""
        plan = plan_in(ctx.metadata) if self.plan is None else self.plan
        case = case_of(text_in(ctx.inputs), plan, _recorded(ctx))
        verdict = await aevaluate_case(case, judge=self._chosen)
        if verdict.score is None:
            raise PlanproofError(verdict.reason)
        return EvaluationReason(value=verdict.score, reason=verdict.reason)


def _recorded(ctx: Any) -> Json:
    try:
        spans = list(map(_span, ctx.span_tree))
    except SpanTreeRecordingError:
        spans = []
    return spans or trace_in(ctx.output)


def _span(node: Any) -> Json:
    """A node of the tree as OpenTelemetry's exporters write it."""
    above = node.parent_span_id
    return {
        "name": node.name,
        "context": {"trace_id": f"0x{node.trace_id:032x}", "span_id": f"0x{node.span_id:016x}"},
        "parent_id": None if above is None else f"0x{above:016x}",
        "start_time": node.start_timestamp.isoformat(),
        "end_time": node.end_timestamp.isoformat(),
        "status": {"status_code": getattr(node, "status", "unset").upper()},
        "attributes": as_json(node.attributes),
    }
