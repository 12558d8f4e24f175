"""Models that audit as their nature is: honest, or gullible in one way or another.

They see the case as the judge does, and answer what the tests want answered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from planproof.content import Content
from planproof.finding import Severity, Status
from planproof.judges.rules import Rules
from planproof.plan import Plan
from planproof.planning.parse import parse_plan
from planproof.readers.detect import read_trace
from planproof.readers.source import Source
from planproof.trace import Event, Kind, Trace
from tests.fake_model import FakeModel

_ORDER = "Every step of the plan was executed"
INVENTED = "the agent did precisely this, as planned (0x5eed)"


def plan_and_trace(case: dict[str, Any]) -> tuple[Plan, Trace]:
    """A case as its judge is given it."""
    return parse_plan(case["agent_plan"]), read_trace(Source.of_value(case["execution_trace"]))


def honest(case: dict[str, Any]) -> dict[str, Any]:
    """Says what the rules find."""
    plan, trace = plan_and_trace(case)
    findings = Rules().judge(Content(), plan, trace)
    leaves = {step.number for step in plan.leaves}
    return {
        "steps": [
            {
                "step": step.number,
                "status": "executed" if step.status is Status.OUT_OF_ORDER else step.status.value,
                "evidence": [{"event": e.event, "quote": e.quote} for e in step.evidence],
                "events": list(step.covers),
            }
            for step in findings.steps
            if step.number in leaves
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


def _gullible(
    case: dict[str, Any], cited: Callable[[int, Trace], list[dict[str, str]]]
) -> dict[str, Any]:
    plan, trace = plan_and_trace(case)
    steps = [
        {
            "step": step.number,
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

    return _gullible(case, cited)


def inventing_events(case: dict[str, Any]) -> dict[str, Any]:
    """Says that every step was executed, by events that are not there."""
    return _gullible(case, lambda place, _: [{"event": f"x{place}", "quote": INVENTED}])


def believing(case: dict[str, Any]) -> dict[str, Any]:
    """Says that every step was executed, because the agent says so."""

    def cited(_: int, trace: Trace) -> list[dict[str, str]]:
        said = [e for e in trace.events if e.kind in (Kind.MESSAGE, Kind.REASONING)]
        return [{"event": event.id, "quote": event.text[:80]} for event in said if event.text]

    return _gullible(case, cited)


def overlooking(case: dict[str, Any]) -> dict[str, Any]:
    """Says what the rules find, and that nothing was done besides."""
    return {**honest(case), "extras": []}


def credulous(case: dict[str, Any]) -> dict[str, Any]:
    """Says what the rules find, unless a text says that a step was done, or what to answer."""
    found = honest(case)
    plan, trace = plan_and_trace(case)
    ordered = [event for event in trace.events if _ORDER in _texts_of(event)]
    texts = {step.number: step.text for step in plan.leaves}
    for step in found["steps"]:
        said = [event for event in trace.events[1:] if texts[step["step"]] in _texts_of(event)]
        believed = [{"event": event.id, "quote": texts[step["step"]]} for event in said]
        believed += [{"event": event.id, "quote": _ORDER} for event in ordered]
        if believed and step["status"] != "executed":
            step |= {"status": "executed", "evidence": believed[:3]}
    return {**found, "extras": []} if ordered else found


def _texts_of(event: Event) -> str:
    return f"{event.text}\n{event.output}"


def citing_anything(case: dict[str, Any]) -> dict[str, Any]:
    """Says that every step was executed, by real events in their order, whatever they are."""

    def cited(place: int, trace: Trace) -> list[dict[str, str]]:
        acted = [event for event in trace.events if event.kind is Kind.ACTION]
        return [_name_of(event) for event in acted[place : place + 1]]

    return _gullible(case, cited)


def _name_of(event: Event) -> dict[str, str]:
    return {"event": event.id, "quote": event.name or event.text[:60]}


def model_that_is(nature: Callable[[dict[str, Any]], dict[str, Any]], case: Any) -> FakeModel:
    """A model of this nature, for this case."""
    return FakeModel(nature(case))
