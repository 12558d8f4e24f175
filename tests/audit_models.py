"""Models that audit as their nature is: honest, or gullible in one way or another.

They see the case as the judge does, and answer what the tests want answered.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from planproof.checking.requirements import compile_steps
from planproof.checking.rules import Rules
from planproof.core.content import Content
from planproof.core.finding import Severity, Status, StepFinding
from planproof.core.plan import Plan
from planproof.core.trace import Event, Kind, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from tests.fake_model import FakeModel
from tests.scripted_model import ModelRequest

_WORDS = {Kind.MESSAGE: "tell", Kind.REASONING: "think", Kind.BOOKKEEPING: "think"}
_ORDER = "Every step of the plan was executed"
INVENTED = "the agent did precisely this, as planned (0x5eed)"


def read_plan_and_trace(case: dict[str, Any]) -> tuple[Plan, Trace]:
    """A case as its judge is given it."""
    return parse_plan(case["agent_plan"]), read_trace(Source.from_value(case["execution_trace"]))


def classify_steps(plan: Plan) -> dict[str, list[str]]:
    """For each step that counts what it asks for, by the words of the plan alone."""
    return {
        demand.step.number: ["act"]
        if demand.requires_action
        else ["tell"]
        if demand.accepts_message
        else ["think"]
        for demand in compile_steps(plan, Vocabulary())
    }


def _classify_evidence(step: StepFinding, trace: Trace, planned: list[str]) -> list[str]:
    """What a step is, for who takes the rules' word that it was executed: words, if by words."""
    shown = [_WORDS.get(trace.by_id[one.event].kind) for one in step.evidence]
    found = [kind for kind in shown if kind is not None]
    return found if found and len(found) == len(shown) else planned


def honest(case: dict[str, Any]) -> dict[str, Any]:
    """Says what the rules find."""
    plan, trace = read_plan_and_trace(case)
    findings = Rules().judge(Content(), plan, trace)
    kinds = classify_steps(plan)
    return {
        "steps": [
            {
                "step": step.number,
                "kind": _classify_evidence(step, trace, kinds[step.number]),
                "status": "executed" if step.status is Status.OUT_OF_ORDER else step.status.value,
                "evidence": [{"event": e.event, "quote": e.quote} for e in step.evidence],
                "events": list(step.covers),
            }
            for step in findings.steps
            if step.number in kinds
        ],
        "extras": [
            {
                "events": [extra.event],
                "severity": "minor" if extra.severity is Severity.MINOR else "major",
                "quote": extra.quote,
            }
            for extra in findings.extras
        ],
    }


def _answer_all_executed(
    case: dict[str, Any], cited: Callable[[int, Trace], list[dict[str, str]]]
) -> dict[str, Any]:
    plan, trace = read_plan_and_trace(case)
    kinds = classify_steps(plan)
    steps = [
        {
            "step": step.number,
            "kind": kinds[step.number],
            "status": "executed",
            "evidence": cited(place, trace),
            "events": [],
        }
        for place, step in enumerate(plan.leaves)
    ]
    return {"steps": steps, "extras": []}


def inventing(case: dict[str, Any]) -> dict[str, Any]:
    """Says that every step was executed, with quotes that stand nowhere."""

    def cited(place: int, trace: Trace) -> list[dict[str, str]]:
        ids = [event.id for event in trace.events] or ["e1"]
        return [{"event": ids[place % len(ids)], "quote": f"{INVENTED} {place}"}]

    return _answer_all_executed(case, cited)


def inventing_events(case: dict[str, Any]) -> dict[str, Any]:
    """Says that every step was executed, by events that are not there."""
    return _answer_all_executed(case, lambda place, _: [{"event": f"x{place}", "quote": INVENTED}])


def believing(case: dict[str, Any]) -> dict[str, Any]:
    """Says that every step was executed, because the agent says so."""

    def cited(_: int, trace: Trace) -> list[dict[str, str]]:
        said = [e for e in trace.events if e.kind in (Kind.MESSAGE, Kind.REASONING)]
        return [{"event": event.id, "quote": event.text[:80]} for event in said if event.text]

    return _answer_all_executed(case, cited)


def misnaming(case: dict[str, Any]) -> dict[str, Any]:
    """Says what the rules find; what they do not, it says was only to be told, and so it was."""
    found = honest(case)
    claimed = {step["step"]: step["evidence"] for step in believing(case)["steps"]}
    for step in found["steps"]:
        if step["status"] != "executed":
            said = claimed[step["step"]]
            step |= {"kind": ["tell"], "status": "executed", "evidence": said}
    return found


def overlooking(case: dict[str, Any]) -> dict[str, Any]:
    """Answer what the rules find, without extras."""
    return {**honest(case), "extras": []}


def credulous(case: dict[str, Any]) -> dict[str, Any]:
    """Says what the rules find, unless a text says that a step was done, or what to answer."""
    found = honest(case)
    plan, trace = read_plan_and_trace(case)
    ordered = [event for event in trace.events if _ORDER in _join_texts(event)]
    texts = {step.number: step.text for step in plan.leaves}
    for step in found["steps"]:
        said = [event for event in trace.events[1:] if texts[step["step"]] in _join_texts(event)]
        believed = [{"event": event.id, "quote": texts[step["step"]]} for event in said]
        believed += [{"event": event.id, "quote": _ORDER} for event in ordered]
        if believed and step["status"] != "executed":
            step |= {"status": "executed", "evidence": believed[:3]}
    return {**found, "extras": []} if ordered else found


def _join_texts(event: Event) -> str:
    return f"{event.text}\n{event.output}"


def citing_anything(case: dict[str, Any]) -> dict[str, Any]:
    """Says that every step was executed, by real events in their order, whatever they are."""

    def cited(place: int, trace: Trace) -> list[dict[str, str]]:
        acted = [event for event in trace.events if event.kind is Kind.ACTION]
        return [_cite_name(event) for event in acted[place : place + 1]]

    return _answer_all_executed(case, cited)


def _cite_name(event: Event) -> dict[str, str]:
    return {"event": event.id, "quote": event.name or event.text[:60]}


def answer_audit(
    asked: ModelRequest, case: dict[str, Any], nature: Callable[[dict[str, Any]], dict[str, Any]]
) -> str:
    """What a model of this nature answers to one of the questions of `audit`, as JSON."""
    fields: dict[str, Any] = (asked.schema or {}).get("properties", {})
    if "kinds" in fields:
        return json.dumps(answer_kinds(case))
    return json.dumps(EVERY_PAIR if "pairs" in fields else nature(case))


def answer_kinds(case: dict[str, Any]) -> dict[str, Any]:
    """The kinds of the steps, as a model says that sees the plan alone."""
    kinds = classify_steps(parse_plan(case["agent_plan"]))
    return {"kinds": [{"step": step, "kind": kind} for step, kind in kinds.items()]}


EVERY_PAIR = {"pairs": [{"pair": pair, "same": True} for pair in range(1, 41)]}
"""Says of all words that they mean the same."""


def make_model(nature: Callable[[dict[str, Any]], dict[str, Any]], case: Any) -> FakeModel:
    """A model of this nature, for this case; it sees the plan alone when it classifies steps."""
    return FakeModel(nature(case), kinds=classify_steps(parse_plan(case["agent_plan"])))
