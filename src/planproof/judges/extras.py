"""What was done besides: the actions that no step covers, and how grave they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from planproof.alignment.explanation import Explanation
from planproof.alignment.repeats import repeats_of
from planproof.alignment.terms import terms_of
from planproof.alignment.units import Unit
from planproof.finding import Extra, Severity, StepFinding
from planproof.judges.quoting import cite
from planproof.judges.sureness import signs_of_extra, sureness_of
from planproof.judges.turns import after_user
from planproof.trace import Event, EventStatus, Kind, Trace

_BESIDES = re.compile(
    r"\b(?:I|we)(?:['’](?:ll|ve|m|re)| will| have| am| are)? (?:also|additionally)\b[^.!?\n]*"
    r"|\b(?:additionally|in addition|furthermore|besides),? (?:I|we)\b[^.!?\n]*",
    re.IGNORECASE,
)


class _Left(NamedTuple):
    """An event that is an extra: how grave, how sure, and the words of it to quote."""

    severity: Severity
    sureness: float
    wanted: frozenset[str] = frozenset()


def extras_of(
    units: Sequence[Unit], explanation: Explanation, trace: Trace, steps: Sequence[StepFinding]
) -> tuple[Extra, ...]:
    """Every action that no step covers, and what is said of further undertakings.

    A sub-agent's actions share the lot of the hand-off.
    """
    covered = {event for step in steps for event in step.covers}
    left: dict[str, _Left] = {}
    done: set[tuple[str | None, str]] = set()
    failed: set[str | None] = set()
    closed = False
    repeating: frozenset[int] | None = None
    for index, unit in enumerate(units):
        event = unit.event
        if event.kind is not Kind.ACTION:
            continue
        call = (event.name, unit.call_text)
        if event.id not in covered:
            closing = unit.closing and not closed
            if repeating is None:
                repeating = repeats_of(units).repeating
            retried = index in repeating and event.name in failed
            minor = closing or retried or call in done
            sureness = _sureness(explanation, index)
            own = _Left(Severity.MINOR if minor else Severity.MAJOR, sureness)
            left[event.id] = left.get(event.parent or "", own)
            closed = closed or closing
        done.add(call)
        if event.status is EventStatus.ERROR:
            failed.add(event.name)
    left |= _undertakings(units, explanation, steps)
    speakers = after_user(trace)
    return tuple(
        _extra(event, speakers.get(event.id), left[event.id])
        for event in trace.events
        if event.id in left
    )


def _sureness(explanation: Explanation, index: int) -> float:
    signs = signs_of_extra(explanation.affinity[index], explanation.nearness)
    return sureness_of("extra", signs)


def _undertakings(
    units: Sequence[Unit], explanation: Explanation, steps: Sequence[StepFinding]
) -> dict[str, _Left]:
    """What the agent says that it does besides, where it has no word in common with any step."""
    planned = frozenset[str]().union(*(terms_of(step.text) for step in steps))
    found: dict[str, _Left] = {}
    for index, unit in enumerate(units):
        if unit.said and index not in explanation.taken:
            for sentence in _BESIDES.finditer(unit.event.text):
                words = terms_of(sentence[0])
                if planned.isdisjoint(words):
                    sureness = _sureness(explanation, index)
                    found[unit.event.id] = _Left(Severity.MAJOR, sureness, words)
    return found


def _extra(event: Event, speaker: str | None, left: _Left) -> Extra:
    evidence = cite(event, left.wanted)
    what = event.name or event.kind.value
    return Extra(
        event=event.id,
        pointer=evidence.pointer,
        quote=evidence.quote,
        what=what if speaker is None else f"{what}, after the user spoke at {speaker}",
        severity=left.severity,
        sureness=left.sureness,
    )
