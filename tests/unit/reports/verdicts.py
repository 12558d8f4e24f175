"""Verdicts to show, made by hand so that every part of a report has something to say."""

from __future__ import annotations

from dataclasses import replace

from planproof.core.finding import Evidence, Extra, Severity, Status, StepFinding
from planproof.core.verdict import Coverage, JudgeSummary, NearestBetter, Outcome, Verdict


def step(
    number: str, status: Status, *events: str, text: str = "Do it", quote: str = "do_it {}"
) -> StepFinding:
    evidence = tuple(Evidence(event, f"/{event}", quote) for event in events)
    return StepFinding(number=number, text=text, status=status, confidence=0.97, evidence=evidence)


def extra(event: str, severity: Severity = Severity.MAJOR, quote: str = "other {}") -> Extra:
    what = "calls other, which no step names"
    return Extra(
        event=event, pointer=f"/{event}", quote=quote, what=what, severity=severity, confidence=0.9
    )


SCORED = Verdict(
    outcome=Outcome.SCORED,
    score=0.25,
    level=0.25,
    id="case-7",
    reason="Step 2 is missing. e4 calls other, which no step names.",
    steps=(
        step("1", Status.EXECUTED, "e2", text="Look up order 5817", quote="get_order 5817"),
        replace(step("2", Status.MISSING, text="Check the policy"), note="claimed in e9"),
        replace(step("3", Status.PARTIAL, "e6", text="Refund the order"), confidence=0.5),
        step("4", Status.AMBIGUOUS, "e7", text="Tell the customer"),
        step("5", Status.OUT_OF_ORDER, "e3", text="Close the ticket", quote="close_ticket"),
    ),
    extras=(extra("e4"), extra("e5", Severity.MINOR)),
    nearest_better=NearestBetter(score=0.5, change="if step 2 had been executed"),
    coverage=Coverage(
        reader="openai-messages", events=9, skipped=1, notes=("L12: truncated or invalid JSON",)
    ),
    judge=JudgeSummary(name="rules", fingerprint="f"),
)
UNJUDGED = Verdict(outcome=Outcome.NO_PLAN, reason="No plan was given.", id="case-8")
