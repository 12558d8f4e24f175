"""DeepEval metric that replaces its built-in PlanAdherenceMetric.

Importing this module imports DeepEval; nothing else in planproof does.
"""


# DeepEval's types are unknown if it is not installed.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from deepeval.metrics import BaseMetric

from planproof.core.case import Case
from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.core.judge import AnyJudge
from planproof.core.model import Model
from planproof.core.verdict import Verdict
from planproof.evaluation import aevaluate_case, build_case, evaluate_case
from planproof.integrations.hosts import (
    PlanInput,
    explain_verdict,
    extract_plan,
    resolve_judge,
    to_json_value,
)


class PlanAdherenceMetric(BaseMetric):
    """Metric for whether an agent followed its plan; `verdict` holds the evidence.

    The plan is `plan`, or `metadata["plan"]` of the test case, or the one the agent declared. A
    case that could not be judged has no score, and the reason becomes the metric's `error`.
    """

    # Makes DeepEval pass the spans it has recorded.
    requires_trace = True

    def __init__(
        self,
        plan: PlanInput = None,
        *,
        threshold: float | None = 0.75,
        judge: str | AnyJudge | None = None,
        model: str | Model | None = None,
        include_reason: bool = True,
        async_mode: bool = True,
        strict_mode: bool = False,
        verbose_mode: bool = False,
    ) -> None:
        # DeepEval copies a metric by passing the attributes of these names to the constructor, so
        # they must keep the values given. The judge is opened once for all copies.
        self.plan = plan
        self.judge = resolve_judge(judge, model)
        self.threshold = 1.0 if strict_mode else threshold
        self.include_reason = include_reason
        self.async_mode = async_mode
        self.strict_mode = strict_mode
        self.verbose_mode = verbose_mode
        self.evaluation_model = f"planproof {getattr(self.judge, 'name', self.judge) or 'rules'}"
        self.verdict: Verdict | None = None

    def measure(self, test_case: Any, *_: Any, **__: Any) -> float | None:
        """Judge one test case."""
        return self._apply_verdict(evaluate_case(self._build_case(test_case), judge=self.judge))

    async def a_measure(self, test_case: Any, *_: Any, **__: Any) -> float | None:
        """Judge one test case without blocking the event loop."""
        verdict = await aevaluate_case(self._build_case(test_case), judge=self.judge)
        return self._apply_verdict(verdict)

    def _build_case(self, test_case: Any) -> Case:
        plan = extract_plan(get_metadata(test_case)) if self.plan is None else self.plan
        return build_case(test_case.input, plan, build_trace(test_case))

    def _apply_verdict(self, verdict: Verdict) -> float | None:
        """Copy a verdict to the attributes DeepEval reads."""
        self.verdict = verdict
        self.score = verdict.score
        self.reason = explain_verdict(verdict) if self.include_reason else None
        self.error = verdict.reason if verdict.score is None else None
        if self.strict_mode and self.score is not None and self.score < 1.0:
            self.score = 0.0
        self.score_breakdown = {step.number: step.status.value for step in verdict.steps}
        self.verbose_logs = "\n".join(
            [f"step {step.number}: {step.status.value}: {step.text}" for step in verdict.steps]
            + [f"{extra.severity.value} extra: {extra.what}" for extra in verdict.extras]
        )
        if verdict.cost is not None:
            self.evaluation_cost = verdict.cost.cost
            self.input_tokens = verdict.cost.tokens_in
            self.output_tokens = verdict.cost.tokens_out
        self.success = self.is_successful()
        return self.score

    def is_successful(self) -> bool | None:
        """Return True if the score reaches the threshold; None without a threshold."""
        if self.threshold is None:
            return None
        return self.error is None and self.score is not None and self.score >= self.threshold

    @property
    def __name__(self) -> str:
        """Display name in DeepEval."""
        return "Plan Adherence"


_ACTION_SPAN_TYPES = ("tool", "retriever")


def build_trace(test_case: Any) -> Json:
    """Return the trace of a test case: recorded spans, `metadata["trace"]`, or the tools called."""
    recorded = to_json_value(getattr(test_case, "_trace_dict", None))
    if recorded is None:
        metadata = get_metadata(test_case)
        recorded = to_json_value(metadata.get("trace")) if is_object(metadata) else None
    if is_object(recorded) and is_list(recorded.get("children")) and "type" in recorded:
        return {"events": list(_EventBuilder(test_case).build_from_spans(recorded))}
    if recorded is not None:
        return recorded
    return {"events": list(_EventBuilder(test_case).build_from_tools())}


def get_metadata(test_case: Any) -> Any:
    """Return the metadata of a test case."""
    # Earlier DeepEval releases call it `additional_metadata`.
    key = "metadata" if hasattr(test_case, "metadata") else "additional_metadata"
    return getattr(test_case, key, None)


class _EventBuilder:
    """Builds the events of one test case in the native format."""

    def __init__(self, test_case: Any) -> None:
        self._case = test_case
        self._ids = (f"e{number}" for number in count(1))

    def build_from_spans(self, root: dict[str, Json]) -> Iterator[Json]:
        """Yield events from spans: tools and retrievers are actions, models are reasoning."""
        yield from self._build_task_message()
        stack: list[tuple[dict[str, Json], str | None, bool]] = [(root, None, False)]
        while stack:
            span, parent_id, is_inner = stack.pop()
            event = self._build_span_event(span, parent_id, is_inner=is_inner)
            if event is not None:
                yield event
                if event["kind"] == "action":
                    parent_id = event["id"]
            inner = is_inner or _get_span_type(span) == "agent"
            children = _filter_objects(span.get("children"))
            stack += [(child, parent_id, inner) for child in reversed(children)]
        yield from self._build_answer_message()

    def build_from_tools(self) -> Iterator[Json]:
        """Yield events from `tools_called`, each call preceded by its reasoning."""
        called = to_json_value(getattr(self._case, "tools_called", None))
        if called is None:
            return  # unknown what was done
        yield from self._build_task_message()
        for call in called:
            if call.get("reasoning"):
                yield self._build_event("reasoning", text=call["reasoning"])
            yield self._build_event(
                "action",
                name=call["name"],
                arguments=call.get("inputParameters", call.get("input_parameters")),
                output=_to_text(call.get("output")),
            )
        yield from self._build_answer_message()

    def _build_span_event(
        self, span: dict[str, Json], parent_id: str | None, *, is_inner: bool
    ) -> Json:
        span_type = _get_span_type(span)
        # The outermost agent is the one being judged; inner agents are hand-offs.
        if span_type in _ACTION_SPAN_TYPES or (span_type == "agent" and is_inner):
            return self._build_event(
                "action",
                name=span.get("name"),
                arguments=span.get("input"),
                output=_to_text(span.get("output")),
                status="error" if span.get("error") else None,
                parent=parent_id,
            )
        output = _to_text(span.get("output")) if span_type == "llm" else None
        # The model's last output is the answer, which is added separately.
        if output and output != self._case.actual_output:
            return self._build_event("reasoning", text=output, parent=parent_id)
        return None

    def _build_task_message(self) -> Iterator[Json]:
        yield self._build_event("message", actor="user", text=self._case.input)

    def _build_answer_message(self) -> Iterator[Json]:
        if self._case.actual_output:
            yield self._build_event("message", text=self._case.actual_output)

    def _build_event(self, kind: str, **fields: Json) -> dict[str, Json]:
        present = {name: value for name, value in fields.items() if value is not None}
        return {"id": next(self._ids), "kind": kind, "actor": "assistant", **present}


def _get_span_type(span: dict[str, Json]) -> str:
    return str(span.get("type", "")).lower()


def _filter_objects(values: Json) -> list[dict[str, Json]]:
    return [value for value in values if is_object(value)] if is_list(values) else []


def _to_text(value: Json) -> str | None:
    if value is None or isinstance(value, str):
        return value
    import json  # noqa: PLC0415 - only for values that are not text

    return json.dumps(value, ensure_ascii=False)
