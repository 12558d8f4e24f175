"""What was done besides: the actions that no step covers, and how grave they are."""

from __future__ import annotations

from collections.abc import Sequence

from planproof.alignment.explanation import Explanation
from planproof.alignment.units import Unit
from planproof.finding import Extra, Severity
from planproof.judges.quoting import cite
from planproof.judges.sureness import of_extra
from planproof.trace import Event, EventStatus, Kind, Trace


def extras_of(units: Sequence[Unit], explanation: Explanation, trace: Trace) -> tuple[Extra, ...]:
    """Every action under no step; a sub-agent's actions share the lot of the hand-off."""
    left = {units[index].event.id for index in explanation.left}
    left -= {units[index].event.id for run in explanation.runs for index in run}
    severities: dict[str, Severity] = {}
    sureness: dict[str, float] = {}
    done: dict[tuple[str | None, str], Event] = {}
    failed: set[str | None] = set()
    closed = False
    for unit, row in zip(units, explanation.affinity, strict=True):
        event = unit.event
        if event.kind is not Kind.ACTION:
            continue
        call = (event.name, unit.call_text)
        if event.id in left and event.parent not in trace.by_id:
            closing = unit.closing and not closed
            retried = unit.repeats and event.name in failed
            minor = closing or retried or call in done
            severities[event.id] = Severity.MINOR if minor else Severity.MAJOR
            sureness[event.id] = of_extra(max(row, default=0))
            closed = closed or closing
        done[call] = event
        if event.status is EventStatus.ERROR:
            failed.add(event.name)
    for event in trace.events:
        if event.parent in severities and event.kind is Kind.ACTION:
            severities[event.id] = severities[event.parent]
            sureness[event.id] = sureness[event.parent]
    return tuple(
        _extra(event, trace, severities[event.id], sureness[event.id])
        for event in trace.events
        if event.id in severities
    )


def _extra(event: Event, trace: Trace, severity: Severity, sureness: float) -> Extra:
    evidence = cite(event, frozenset())
    what = event.name or "action"
    speaker = _user_before(event, trace)
    if speaker is not None:
        what = f"{what}, after the user spoke at {speaker.id}"
    return Extra(
        event=event.id,
        pointer=evidence.pointer,
        quote=evidence.quote,
        what=what,
        severity=severity,
        sureness=sureness,
    )


def _user_before(event: Event, trace: Trace) -> Event | None:
    """The user's turn right before an action, unless it is the one that began the run."""
    position = trace.events.index(event)
    for earlier in reversed(trace.events[:position]):
        if earlier.actor == "user":
            begun = any(e.kind is Kind.ACTION for e in trace.events[: trace.events.index(earlier)])
            return earlier if begun else None
        if earlier.kind is Kind.ACTION or earlier.kind is Kind.MESSAGE:
            return None
    return None
