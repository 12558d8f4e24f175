"""Judge labelled cases with given weights, outside the usual way through files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from planproof.alignment.affinity import Weights, affinity_of
from planproof.alignment.explanation import explain
from planproof.content import Content
from planproof.finding import Findings
from planproof.judges.rules import Rules
from planproof.plan import Plan
from planproof.scoring import score
from planproof.trace import Trace
from scripts.bench import Labelled

_SHIPPED = "planproof.judges.weighing.shipped_weights"


@dataclass(frozen=True, slots=True)
class Judged:
    """The findings on a case, and how well events and steps fit each other."""

    case: Labelled
    findings: Findings
    fits: list[list[int]]

    @property
    def prediction(self) -> dict[str, Any]:
        """As the bench's scoring program wants it."""
        return {
            "id": self.case.line["id"],
            "score": score(self.findings),
            "steps": [
                {"number": step.number, "status": step.status.value} for step in self.findings.steps
            ],
            "extras": [{"severity": extra.severity.value} for extra in self.findings.extras],
        }

    def best_fit(self, step: int) -> int:
        """How well the best event fits a step."""
        return max((row[step] for row in self.fits), default=0)

    def best_step_fit(self, event: str) -> int:
        """How well an event fits the best step."""
        rows = zip(self.case.units, self.fits, strict=True)
        return max((max(row) for unit, row in rows if unit.event.id == event), default=0)


def judge_with(weights: Weights, case: Labelled) -> Judged:
    """Judge one case with these weights."""
    fits = explain(
        case.units, case.demands, affinity_of(case.units, case.demands, weights)
    ).affinity
    return Judged(case, findings_with(weights, case.plan, case.trace), fits)


def findings_with(weights: Weights, plan: Plan, trace: Trace) -> Findings:
    """What `rules` finds with these weights in place of the shipped ones."""
    with patch(_SHIPPED, return_value=weights):
        return Rules().judge(Content(), plan, trace)
