"""Judge labelled cases with given weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from planproof.checking.alignment import Alignment, align
from planproof.checking.rules import Rules
from planproof.checking.similarity import Weights, compute_similarity
from planproof.core.content import Content
from planproof.core.finding import Findings
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.scoring import compute_score
from scripts.bench import LabelledCase

_WEIGHTS_FUNCTION = "planproof.checking.similarity_analysis.load_shipped_weights"


@dataclass(frozen=True, slots=True)
class JudgedLabelledCase:
    """The findings on a case, and the scores of events and steps."""

    case: LabelledCase
    findings: Findings
    alignment: Alignment

    @property
    def projection(self) -> dict[str, Any]:
        """Return the findings in the form of the scoring program of the bench."""
        return {
            "id": self.case.record["id"],
            "score": compute_score(self.findings),
            "steps": [
                {"number": step.number, "status": step.status.value} for step in self.findings.steps
            ],
            "extras": [
                {"severity": extra.severity.value, "pointer": extra.pointer, "quote": extra.quote}
                for extra in self.findings.extras
            ],
        }


def judge_with_weights(weights: Weights, case: LabelledCase) -> JudgedLabelledCase:
    """Judge one case with these weights."""
    similarity = compute_similarity(case.candidates, case.requirements, weights)
    alignment = align(case.candidates, case.requirements, similarity)
    return JudgedLabelledCase(case, find_with_weights(weights, case.plan, case.trace), alignment)


def find_with_weights(weights: Weights, plan: Plan, trace: Trace) -> Findings:
    """Return the findings of `rules` with these weights instead of the shipped ones."""
    with patch(_WEIGHTS_FUNCTION, return_value=weights):
        return Rules().judge(Content(), plan, trace)
