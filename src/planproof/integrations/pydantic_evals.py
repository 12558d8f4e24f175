"""Evaluator for pydantic-evals that reads the span tree.

Importing this module imports pydantic-evals; nothing else in planproof does.
"""

# The types of pydantic-evals are unknown if it is not installed.
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
from planproof.evaluation import aevaluate_case, build_case
from planproof.integrations.hosts import (
    PlanInput,
    explain_verdict,
    extract_plan,
    extract_task,
    extract_trace,
    resolve_judge,
    to_json_value,
)


@dataclass
class PlanAdherence(Evaluator[Any, Any, Any]):
    """Evaluator for whether the spans of a case follow its plan: a score with a reason.

    Without `plan`, the plan is `metadata["plan"]` of the case, or the one the agent declared. If no
    spans were recorded, the output is the trace. A case that could not be judged is a failure of
    the evaluator, not a score.
    """

    plan: PlanInput = None
    judge: Any = None
    model: Any = None

    @cached_property
    def _resolved_judge(self) -> Any:
        return resolve_judge(self.judge, self.model)

    async def evaluate(self, ctx: Any) -> Any:
        """Judge one case."""
        plan = extract_plan(ctx.metadata) if self.plan is None else self.plan
        case = build_case(extract_task(ctx.inputs), plan, _select_trace(ctx))
        verdict = await aevaluate_case(case, judge=self._resolved_judge)
        if verdict.score is None:
            raise PlanproofError(verdict.reason)
        return EvaluationReason(value=verdict.score, reason=explain_verdict(verdict))


def _select_trace(ctx: Any) -> Json:
    try:
        spans = list(map(_node_to_span, ctx.span_tree))
    except SpanTreeRecordingError:
        spans = []
    return spans or extract_trace(ctx.output)


def _node_to_span(node: Any) -> Json:
    """Convert a node of the span tree to the form of OpenTelemetry's exporters."""
    parent_id = node.parent_span_id
    return {
        "name": node.name,
        "context": {"trace_id": f"0x{node.trace_id:032x}", "span_id": f"0x{node.span_id:016x}"},
        "parent_id": None if parent_id is None else f"0x{parent_id:016x}",
        "start_time": node.start_timestamp.isoformat(),
        "end_time": node.end_timestamp.isoformat(),
        "status": {"status_code": getattr(node, "status", "unset").upper()},
        "attributes": to_json_value(node.attributes),
    }
