"""Judge labelled cases with given weights, outside the usual way through files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from planproof.checking.alignment import Explanation, explain
from planproof.checking.confidence import signs_of_extra, signs_of_step
from planproof.checking.rules import Rules
from planproof.checking.similarity import Weights, affinity_of
from planproof.core.content import Content
from planproof.core.finding import Findings
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.scoring import score
from scripts.bench import Labelled

_SHIPPED = "planproof.checking.analysis.shipped_weights"


@dataclass(frozen=True, slots=True)
class Judged:
    """The findings on a case, and how well events and steps fit each other."""

    case: Labelled
    findings: Findings
    explanation: Explanation

    @property
    def prediction(self) -> dict[str, Any]:
        """As the bench's scoring program wants it."""
        return {
            "id": self.case.line["id"],
            "score": score(self.findings),
            "steps": [
                {"number": step.number, "status": step.status.value} for step in self.findings.steps
            ],
            "extras": [
                {"severity": extra.severity.value, "pointer": extra.pointer, "quote": extra.quote}
                for extra in self.findings.extras
            ],
        }

    def signs_of_step(self, step: int) -> dict[str, float]:
        """What tells whether the finding on a step is right."""
        return signs_of_step(step, self.case.demands[step], self.explanation, self.case.units)

    def signs_of_extra(self, event: str) -> dict[str, float]:
        """What tells whether an event that is listed as an extra is one."""
        rows = zip(self.case.units, self.explanation.affinity, strict=True)
        fits = [max(row, default=0) for unit, row in rows if unit.event.id == event]
        return signs_of_extra(fits, self.explanation.nearness)


def judge_with(weights: Weights, case: Labelled) -> Judged:
    """Judge one case with these weights."""
    affinity = affinity_of(case.units, case.demands, weights)
    explanation = explain(case.units, case.demands, affinity)
    return Judged(case, findings_with(weights, case.plan, case.trace), explanation)


def findings_with(weights: Weights, plan: Plan, trace: Trace) -> Findings:
    """What `rules` finds with these weights in place of the shipped ones."""
    with patch(_SHIPPED, return_value=weights):
        return Rules().judge(Content(), plan, trace)
