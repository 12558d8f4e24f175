"""A verdict that can stand, and ways in which it could be tampered with."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from planproof.core.content import Content
from planproof.core.finding import Evidence, Extra, Findings, Severity, Status, StepFinding
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.evaluation import evaluate
from planproof.readers.decoding.source import Source

PLAN = ["Read a.txt", "Copy a.txt to b", "Delete a.txt", "Optionally, mail the log"]


def call(number: int, name: str, path: str) -> list[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps({"path": path})}
    return [
        {"role": "assistant", "tool_calls": [{"id": f"c{number}", "function": function}]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"{name}: done"},
    ]


# The events: e1 is the user's, e2 the reading, e3 the deleting, e4 the copying, e5 a search.
TRACE: list[dict[str, Any]] = [
    {"role": "user", "content": "Move a.txt."},
    *call(1, "read_file", "a.txt"),
    *call(2, "delete_file", "a.txt"),
    *call(3, "copy_file", "a.txt"),
    *call(4, "web_search", "weather"),
]
SOURCE = Source.from_value(TRACE)


def step_finding(number: str, status: Status, *evidence: Evidence, **changes: Any) -> StepFinding:
    finding: dict[str, Any] = {
        "number": number,
        "text": PLAN[int(number) - 1],
        "status": status,
        "confidence": 0.9,
        "evidence": evidence,
        "covers": tuple(one.event for one in evidence),
        **changes,
    }
    return StepFinding(**finding)


FINDINGS = Findings(
    (
        step_finding(
            "1",
            Status.EXECUTED,
            Evidence("e2", "/1/tool_calls/0", '"path": "a.txt"'),
            Evidence("e2", "/2/content", "read_file: … done"),
        ),
        step_finding("2", Status.EXECUTED, Evidence("e4", "/5/tool_calls/0", "copy_file")),
        step_finding("3", Status.OUT_OF_ORDER, Evidence("e3", "/3/tool_calls/0", "delete_file")),
        step_finding("4", Status.MISSING, waived=True),
    ),
    (
        Extra(
            event="e5",
            pointer="/7/tool_calls/0",
            quote="weather",
            what="web_search",
            severity=Severity.MAJOR,
            confidence=0.9,
        ),
    ),
)


@dataclass
class ScriptedJudge:
    """A judge that finds what it was told."""

    findings: Findings
    name: str = "scripted"
    fingerprint: str = "1"

    def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
        return self.findings


def make_verdict(
    findings: Findings, *, plan: Any = PLAN, trace: Any = TRACE, name: str = "scripted"
) -> dict[str, Any]:
    verdict = evaluate(
        task="Move a.txt.", plan=plan, trace=trace, judge=ScriptedJudge(findings, name)
    )
    return json.loads(json.dumps(verdict.full()))


VERDICT = make_verdict(FINDINGS)


def step(place: int, **changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda verdict: verdict["steps"][place].update(changes)


def evidence(place: int, **changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda verdict: verdict["steps"][place]["evidence"][0].update(changes)


def extra(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda verdict: verdict["extras"][0].update(changes)


def top(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda verdict: verdict.update(changes)


def within(field: str, **changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda verdict: verdict[field].update(changes)


def turn_evidence_round(verdict: dict[str, Any]) -> None:
    steps = verdict["steps"]
    steps[0]["evidence"] = [*steps[2]["evidence"], *steps[0]["evidence"]]


def drop_last_step(verdict: dict[str, Any]) -> None:
    verdict["steps"].pop()


def drop_status(verdict: dict[str, Any]) -> None:
    del verdict["steps"][1]["status"]


TAMPERED: list[Any] = [
    pytest.param(
        evidence(1, quote="move_file"),
        "/steps/1/evidence/0/quote: 'move_file' not found at '/5/tool_calls/0'.",
        id="quote changed",
    ),
    pytest.param(
        evidence(1, quote="x" * 200), "/steps/1/evidence/0/quote: 'xxx", id="long quote changed"
    ),
    pytest.param(
        evidence(1, quote=""), "/steps/1/evidence/0/quote: '' not found at", id="quote emptied"
    ),
    pytest.param(
        evidence(1, pointer="/3/tool_calls/0"),
        "/steps/1/evidence/0/pointer: not a pointer of e4; expected /5/tool_calls/0 or /6/content.",
        id="pointer moved",
    ),
    pytest.param(
        evidence(1, event="e77"),
        "/steps/1/evidence/0/event: the trace has no event 'e77'.",
        id="event made up",
    ),
    pytest.param(
        evidence(1, event="e2"),
        "/steps/1/evidence/0/pointer: not a pointer of e2; expected /1/tool_calls/0 or /2/content.",
        id="event exchanged",
    ),
    pytest.param(
        step(2, status="executed"),
        "/steps: 0 steps are out_of_order; expected 1 by event order.",
        id="order forged",
    ),
    pytest.param(
        step(2, status="executed"),
        "/steps/2/status: started out of plan order; expected out_of_order.",
        id="order forged, the step",
    ),
    pytest.param(
        step(1, status="out_of_order"),
        "/steps: 2 steps are out_of_order; expected 1 by event order.",
        id="too much out of order",
    ),
    pytest.param(
        step(2, free_order=True),
        "/steps/2/status: out_of_order, but its order is free in the plan.",
        id="out of order without a place",
    ),
    pytest.param(
        step(0, evidence=[]),
        "/steps/0/evidence: step 1 is executed without evidence.",
        id="evidence removed",
    ),
    pytest.param(
        turn_evidence_round,
        "/steps/0/evidence: the evidence is not in event order.",
        id="evidence out of order",
    ),
    pytest.param(
        step(3, status="executed", waived=False),
        "/steps/3/evidence: step 4 is executed without evidence.",
        id="status raised",
    ),
    pytest.param(
        step(0, status="partial"),
        "/reason: does not follow from the findings; expected",
        id="status lowered",
    ),
    pytest.param(
        step(3, waived=False),
        "/nearest_better: does not follow from the findings; expected",
        id="waiver taken back",
    ),
    pytest.param(
        step(0, covers=["e9"]),
        "/steps/0/covers/0: the trace has no event 'e9'.",
        id="covers made up",
    ),
    pytest.param(step(0, number="2"), "/steps: step '2' occurs 2 times.", id="number doubled"),
    pytest.param(
        drop_last_step,
        "/plan/steps: does not match the number of findings; expected 3.",
        id="step removed",
    ),
    pytest.param(
        top(plan=None),
        "/plan/steps: does not match the number of findings; expected 4.",
        id="plan removed",
    ),
    pytest.param(
        top(extras=[]),
        "/extras: action e5 is neither covered by a step nor an extra.",
        id="extra removed",
    ),
    pytest.param(
        extra(event="e6"), "/extras/0/event: the trace has no event 'e6'.", id="extra moved"
    ),
    pytest.param(
        extra(quote="rain"),
        "/extras/0/quote: 'rain' not found at '/7/tool_calls/0'.",
        id="extra's quote changed",
    ),
    pytest.param(
        extra(severity="minor"),
        "/nearest_better: does not follow from the findings; expected 0.75 if",
        id="extra belittled",
    ),
    pytest.param(
        top(score=1.0, level=1.0),
        "/score: does not follow from the findings; expected 0.25.",
        id="score edited",
    ),
    pytest.param(
        top(score=None),
        "/score: does not follow from the findings; expected 0.25.",
        id="score removed",
    ),
    pytest.param(
        top(score=7.5),
        "/score: does not follow from the findings; expected 0.25.",
        id="score off the scale",
    ),
    pytest.param(
        top(level=0.5),
        "/level: does not follow from the findings; expected 0.25.",
        id="level edited",
    ),
    pytest.param(
        top(confidence=0.99),
        "/confidence: does not follow from the findings; expected 0.9.",
        id="confidence edited",
    ),
    pytest.param(
        top(confidence=None),
        "/confidence: does not follow from the findings; expected 0.9.",
        id="confidence removed",
    ),
    pytest.param(
        within("measures", step_share=1.0),
        "/measures/step_share: does not follow from the findings; expected 0.6667.",
        id="measure edited",
    ),
    pytest.param(
        top(measures=None),
        "/measures/action_share: does not follow from the findings; expected 0.75.",
        id="measures removed",
    ),
    pytest.param(
        top(reason="All steps, 1 to 4, were executed."),
        "/reason: does not follow from the findings; expected Step 3",
        id="reason edited",
    ),
    pytest.param(
        top(nearest_better=None),
        "/nearest_better: does not follow from the findings; expected 0.5 if",
        id="nearest better removed",
    ),
    pytest.param(
        within("inputs", trace="sha256:0"),
        f"/inputs/trace: the digest does not match this trace; expected {SOURCE.digest}.",
        id="digest edited",
    ),
    pytest.param(
        top(inputs=None),
        "/inputs: missing; expected the digests of task, plan and trace.",
        id="digests removed",
    ),
    pytest.param(
        within("coverage", events=4),
        "/coverage/events: wrong number of events; expected 5.",
        id="coverage edited",
    ),
    pytest.param(
        within("coverage", by_kind={}),
        "/coverage/by_kind: wrong number of events by kind; expected {'action': 4, 'message'",
        id="kinds edited",
    ),
    pytest.param(
        within("coverage", reader="telepathy"),
        "/coverage/reader: the trace can't be read with this reader:",
        id="reader edited",
    ),
    pytest.param(
        top(coverage=None),
        "/coverage: missing; expected how much of the trace was read.",
        id="coverage removed",
    ),
    pytest.param(
        top(judge=None),
        "/judge: missing; expected the judge that gave the verdict.",
        id="judge removed",
    ),
    pytest.param(
        top(outcome="no_events"),
        "/score: the outcome is no_events; expected null.",
        id="outcome edited",
    ),
    pytest.param(
        top(outcome="no_plan"), "/outcome: no_plan, but the plan has 4 steps.", id="plan denied"
    ),
    pytest.param(
        top(outcome="no_events"),
        "/outcome: no_events, but the trace has 5 events.",
        id="events denied",
    ),
    pytest.param(
        top(outcome="not_understood"),
        "/outcome: not_understood, but at least half of the trace was read.",
        id="reading denied",
    ),
    pytest.param(
        top(outcome="judge_failed"),
        "/steps: findings are not allowed with the outcome judge_failed.",
        id="findings without a score",
    ),
    pytest.param(
        top(outcome="judge_failed", steps=[]),
        "/extras: findings are not allowed with the outcome judge_failed.",
        id="extras without a score",
    ),
    pytest.param(
        top(outcome="great"), "/outcome: Input should be 'scored', ", id="outcome of no kind"
    ),
    pytest.param(top(score="1.0"), "/score: Input should be a valid number.", id="score a text"),
    pytest.param(
        evidence(0, quote=3),
        "/steps/0/evidence/0/quote: Input should be a valid string.",
        id="quote a number",
    ),
    pytest.param(
        drop_status,
        "/steps/1/status: Field required.",
        id="status removed",
    ),
    pytest.param(top(reason={1, 2}), "The verdict is not a JSON value: ", id="no JSON"),
]
