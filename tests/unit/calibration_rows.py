"""Rows of a calibration, made by hand."""

from __future__ import annotations

from planproof.calibration.case_labels import Label
from planproof.calibration.measurement import Measurement
from planproof.calibration.variant import Attack, Flaw, GroundTruth, Rewording, Variant
from planproof.core.content import Content
from planproof.core.usage import Usage
from planproof.core.verdict import Outcome, Verdict


def row(
    origin: str,
    score: float | None,
    change: Flaw | Rewording | None = None,
    attack: Attack | None = None,
    *,
    located: bool | None = None,
    repeat: int = 0,
    label: Label | None = None,
) -> Measurement:
    variant = Variant(origin, Content(), (), (), GroundTruth(), change, attack, label=label)
    outcome = Outcome.JUDGE_FAILED if score is None else Outcome.SCORED
    verdict = Verdict(outcome=outcome, score=score, level=score, reason="", cost=Usage(calls=1))
    return Measurement(variant, repeat, verdict, located)


ROWS = [
    row("a", 1.0),
    row("b", 0.5),
    row("c", None),
    row("a", 0.75, Rewording.MERGED),
    row("b", 0.25, Rewording.MERGED),
    row("a", 0.5, Flaw.MISSING, located=True),
    row("b", 0.75, Flaw.MISSING, located=False),
    row("c", None, Flaw.MISSING, located=False),
    row("a", 0.75, Flaw.RETRIED, located=True),
    row("b", 1.0, Flaw.RETRIED, located=False),
    row("a", 1.0, Flaw.MISSING, Attack.CLAIMS, located=False),
    row("b", 0.75, Flaw.MISSING, Attack.CLAIMS, located=False),
    row("c", 1.0, Flaw.MISSING, Attack.CLAIMS, located=False),
]
