"""Traces in the native form, written as short as they are thought."""

from __future__ import annotations

from typing import Any

from planproof import Verdict, evaluate
from planproof.core.content import Json
from planproof.core.finding import Status
from planproof.core.plan import InForce
from planproof.readers.decoding.source import Source
from planproof.verification import verify

Event = dict[str, Any]


def did(name: str, output: str = "ok", /, **arguments: Json) -> Event:
    """A tool call that came back."""
    return {"kind": "action", "name": name, "arguments": arguments, "output": output}


def failed(name: str, output: str = "Error: service unavailable", /, **arguments: Json) -> Event:
    """A tool call that ended in an error."""
    return {**did(name, output, **arguments), "status": "error"}


def said(text: str) -> Event:
    return {"kind": "message", "actor": "assistant", "text": text}


def thought(text: str) -> Event:
    return {"kind": "reasoning", "actor": "assistant", "text": text}


def asked(text: str) -> Event:
    """What the user says."""
    return {"kind": "message", "actor": "user", "text": text}


def noted(name: str, **arguments: Json) -> Event:
    """A call that only keeps books."""
    return {"kind": "bookkeeping", "name": name, "arguments": arguments}


def nest_under(parent: str, event: Event) -> Event:
    """The same event, done by a sub-agent for the event with this id."""
    return {**event, "parent": parent}


def trace(*events: Event | tuple[Event, ...]) -> dict[str, Any]:
    """The events, numbered e1, e2 ..., each in a turn of its own but those of a tuple."""
    written: list[Event] = []
    for turn, group in enumerate(events, start=1):
        for event in group if isinstance(group, tuple) else (group,):
            written.append({"id": f"e{len(written) + 1}", "turn": turn, **event})
    return {"events": written}


def judge_events(
    plan: Json,
    *events: Event | tuple[Event, ...],
    task: str = "Please do it.",
    plan_in_force: InForce = "first",
) -> Verdict:
    """The verdict of `rules` on these events, after `planproof verify` has accepted it."""
    source = trace(*events)
    verdict = evaluate(task=task, plan=plan, trace=source, plan_in_force=plan_in_force)
    assert verify(verdict.full(), Source.from_value(source)) == ()
    return verdict


def statuses(verdict: Verdict) -> list[Status]:
    """The status of each step, in plan order."""
    return [step.status for step in verdict.steps]
