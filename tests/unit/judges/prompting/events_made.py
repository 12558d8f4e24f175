"""Events, traces and plans to write for a model."""

from __future__ import annotations

from typing import Any

from planproof.content import Content
from planproof.judges.prompting.case import CaseWriter
from planproof.judges.prompting.images import Gallery, ImageRules
from planproof.judges.prompting.lines import EventWriter
from planproof.judges.prompting.nearness import PlanTerms
from planproof.plan import Plan
from planproof.planning.parse import parse_plan
from planproof.trace import Event, EventStatus, Kind, Trace

PLAN = parse_plan(["Read report-12.txt", "Copy report-12.txt to the folder archive"])


def did(number: int, name: str, output: str = "", **arguments: Any) -> Event:
    return Event(
        id=f"e{number}",
        kind=Kind.ACTION,
        pointer=f"/{number}",
        name=name,
        actor="assistant",
        arguments=arguments,
        output=output,
        status=EventStatus.OK,
    )


def said(number: int, text: str, actor: str = "assistant", kind: Kind = Kind.MESSAGE) -> Event:
    return Event(id=f"e{number}", kind=kind, pointer=f"/{number}", actor=actor, text=text)


def event_writer(*events: Event, plan: Plan = PLAN) -> EventWriter:
    trace = Trace(events)
    gallery = Gallery.of(Content(), plan, trace, "mark", ImageRules())
    return EventWriter(trace, PlanTerms(plan), gallery)


def case_writer(
    *events: Event, task: str = "Archive it.", plan: Plan = PLAN, budget: int = 120_000
) -> CaseWriter:
    return CaseWriter(Content(task), plan, Trace(events), budget=budget)
