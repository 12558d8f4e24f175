"""A metric for DeepEval that stands where its own PlanAdherenceMetric stood.

Importing this module imports DeepEval; nothing else in planproof does.
"""

# DeepEval's types are unknown where it is not installed.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

from deepeval.metrics import BaseMetric

from planproof.core.case import Case
from planproof.core.judge import AnyJudge
from planproof.core.model import Model
from planproof.core.verdict import Verdict
from planproof.evaluation import aevaluate_case, evaluate_case
from planproof.integrations.deepeval_trace import build_trace, get_metadata
from planproof.integrations.hosts import PlanInput, extract_plan, resolve_judge
from planproof.preparation import build_case


class PlanAdherenceMetric(BaseMetric):
    """Whether an agent followed its plan, judged by planproof; `verdict` holds the evidence.

    The plan is the one given here, or `metadata["plan"]` of the test case, or the one that the
    agent declared. What could not be judged has no score, and its reason is the metric's `error`.
    """

    # DeepEval then hands over the spans that it has recorded.
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
        # DeepEval copies a metric by handing the attributes of these names to a new one, so that
        # they must hold what they were given, and the judge is opened for all copies at once.
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
        """Take over a verdict in the words of DeepEval."""
        self.verdict = verdict
        self.score = verdict.score
        self.reason = verdict.reason if self.include_reason else None
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
        """Whether there is a score, and it reaches the threshold; None where there is none."""
        if self.threshold is None:
            return None
        return self.error is None and self.score is not None and self.score >= self.threshold

    @property
    def __name__(self) -> str:
        """As DeepEval shows it."""
        return "Plan Adherence"
