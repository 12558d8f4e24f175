"""Assemble the findings of a whole plan from those of single steps: order, sub-agents, parents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planproof.checking.step_order import find_out_of_order
from planproof.core.finding import Status, StepFinding
from planproof.core.plan import Plan
from planproof.core.trace import Kind, Trace


def assemble_findings(
    plan: Plan, trace: Trace, leaf_findings: Sequence[StepFinding]
) -> tuple[StepFinding, ...]:
    """Return the findings of all steps of a plan, given those of its leaves in plan order."""
    return assemble_ordered(plan, trace, mark_out_of_order(trace, leaf_findings))


def assemble_ordered(
    plan: Plan, trace: Trace, leaf_findings: Sequence[StepFinding]
) -> tuple[StepFinding, ...]:
    """Return the findings of all steps, given those of the leaves with their order checked."""
    ordered = _note_user_turns(trace, leaf_findings)
    return add_parent_findings(plan, _add_subagent_events(trace, ordered))


def reset_order(finding: StepFinding) -> StepFinding:
    """Return a finding without its order status, so that the order can be checked again."""
    # OUT_OF_ORDER replaced the status, so it is unknown whether the step was complete: assume
    # partial.
    moved = finding.status is Status.OUT_OF_ORDER
    return replace(finding, status=Status.PARTIAL, note="") if moved else finding


def mark_out_of_order(trace: Trace, findings: Sequence[StepFinding]) -> list[StepFinding]:
    """Mark steps as out of order: the fewest that would have to move."""
    positions = {event.id: (position, event.turn) for position, event in enumerate(trace.events)}
    moved = find_out_of_order(
        [
            positions[finding.evidence[0].event] if finding.has_position else None
            for finding in findings
        ]
    )
    return [
        replace(finding, status=Status.OUT_OF_ORDER, note="") if step in moved else finding
        for step, finding in enumerate(findings)
    ]


def _note_user_turns(trace: Trace, findings: Sequence[StepFinding]) -> list[StepFinding]:
    """Add to the note of each deviation whether it began right after a message of the user."""
    speakers = find_replies_to_user(trace)
    noted: list[StepFinding] = []
    for finding in findings:
        speaker = speakers.get(finding.covers[0]) if finding.covers else None
        if speaker is not None and finding.status is not Status.EXECUTED:
            notes = (finding.note, f"after user message {speaker}")
            noted.append(replace(finding, note="; ".join(filter(None, notes))))
        else:
            noted.append(finding)
    return noted


def _add_subagent_events(trace: Trace, findings: list[StepFinding]) -> dict[str, StepFinding]:
    """Add the events of sub-agents to the step that handed off to them; return by number."""
    owner = {event: index for index, finding in enumerate(findings) for event in finding.covers}
    for event in trace.events:
        if event.parent in owner and event.id not in owner:
            index = owner[event.parent]
            owner[event.id] = index
            findings[index] = replace(findings[index], covers=(*findings[index].covers, event.id))
    return {finding.number: finding for finding in findings}


def add_parent_findings(plan: Plan, findings: dict[str, StepFinding]) -> tuple[StepFinding, ...]:
    """Add the findings of parent steps; a parent is executed if its leaves are."""
    for step in reversed(plan.steps):
        if step.number in findings:
            continue
        below = [findings[other.number] for other in plan.steps if other.parent == step.number]
        evidence = tuple(item for finding in below for item in finding.evidence)
        executed = all(finding.status is Status.EXECUTED or finding.waived for finding in below)
        findings[step.number] = StepFinding(
            number=step.number,
            text=step.text,
            status=Status.EXECUTED if executed else Status.PARTIAL if evidence else Status.MISSING,
            confidence=min((finding.confidence for finding in below), default=0.0),
            evidence=evidence,
            note="derived from its sub-steps",
            parent=step.parent,
        )
    return tuple(findings[step.number] for step in plan.steps)


_ACTS = frozenset({Kind.ACTION, Kind.MESSAGE})


def find_replies_to_user(trace: Trace) -> dict[str, str]:
    """Map each action and message right after a user message to that user event.

    All calls and messages of one turn count as the reply. The message that started the run does not
    count.
    """
    user_event_by_reply: dict[str, str] = {}
    has_started = False
    speaker, turn = None, None
    for event in trace.events:
        if event.actor == "user":
            speaker, turn = (event.id if has_started else None), None
        elif event.kind in _ACTS:
            has_started = True
            turn = event.turn if turn is None else turn
            if speaker is not None and event.turn == turn:
                user_event_by_reply[event.id] = speaker
            if event.turn != turn or not turn:
                speaker = None
    return user_event_by_reply
