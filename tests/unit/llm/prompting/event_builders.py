"""Events, traces and plans to write for a model."""

from __future__ import annotations

from typing import Any

from planproof.core.content import Content
from planproof.core.plan import Plan
from planproof.core.trace import Event, EventStatus, Kind, Trace
from planproof.llm.prompting.case_prompt import CaseWriter
from planproof.llm.prompting.event_lines import EventWriter, PlanTerms
from planproof.llm.prompting.prompt_images import ImageGallery, ImageRules
from planproof.planning.plan_parser import parse_plan

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
    gallery = ImageGallery.from_case(Content(), plan, trace, "mark", ImageRules())
    return EventWriter(trace, PlanTerms(plan), gallery)


def case_writer(
    *events: Event, task: str = "Archive it.", plan: Plan = PLAN, budget: int = 120_000
) -> CaseWriter:
    return CaseWriter(Content(task), plan, Trace(events), budget=budget)
