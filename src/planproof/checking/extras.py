"""What was done besides: the actions that no step covers, and how grave they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from planproof.checking.alignment import OTHER_CALL, Explanation
from planproof.checking.candidates import Unit
from planproof.checking.confidence import signs_of_extra, sureness_of
from planproof.checking.effects import idle_names, only_prints
from planproof.checking.quoting import cite
from planproof.checking.repeated_actions import repeats_of
from planproof.checking.user_turns import after_user
from planproof.contracts.terms import terms_of
from planproof.core.finding import Extra, Severity, StepFinding
from planproof.core.trace import Event, EventStatus, Kind, Trace

_BESIDES = re.compile(
    r"\b(?:I|we)(?:['’](?:ll|ve|m|re)| will| have| am| are)? (?:also|additionally)\b[^.!?\n]*"
    r"|\b(?:additionally|in addition|furthermore|besides),? (?:I|we)\b[^.!?\n]*",
    re.IGNORECASE,
)
_MARKS = ("also", "addition", "furthermore", "besides")
"""One of them stands in whatever `_BESIDES` finds in ASCII; to look for them is far quicker."""


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
    left = _left_over(units, explanation, covered) | _undertakings(units, explanation, steps)
    left |= _idle_calls(units, explanation, trace, steps, covered)
    if not left:
        return ()
    speakers = after_user(trace)
    return tuple(
        _extra(event, speakers.get(event.id), left[event.id])
        for event in trace.events
        if event.id in left
    )


def _left_over(
    units: Sequence[Unit], explanation: Explanation, covered: set[str]
) -> dict[str, _Left]:
    """The actions that no step covers; what came before them tells how grave they are."""
    actions = [
        (i, unit)
        for i, unit in enumerate(units)
        if unit.event.kind is Kind.ACTION and not unit.aside
    ]
    left: dict[str, _Left] = {}
    if covered.issuperset([unit.event.id for _, unit in actions]):
        return left
    repeating = repeats_of(units).repeating
    done: set[tuple[str | None, str]] = set()
    failed: set[str | None] = set()
    closed = False
    for index, unit in actions:
        event, call = unit.event, (unit.event.name, unit.call_text)
        if event.id not in covered:
            closing = unit.closing and not closed
            retried = index in repeating and event.name in failed
            minor = closing or retried or call in done
            sureness = _sureness(explanation, index)
            own = _Left(Severity.MINOR if minor else Severity.MAJOR, sureness)
            left[event.id] = left.get(event.parent or "", own)
            closed = closed or closing
        done.add(call)
        if event.status is EventStatus.ERROR:
            failed.add(event.name)
    return left


def _idle_calls(
    units: Sequence[Unit],
    explanation: Explanation,
    trace: Trace,
    steps: Sequence[StepFinding],
    covered: set[str],
) -> dict[str, _Left]:
    """The calls without effect that no step names, but for what only prints."""
    compared = covered.union(unit.event.id for unit in units)
    unlike = signs_of_extra([OTHER_CALL] * len(steps), explanation.nearness)
    return {
        event.id: _Left(Severity.MAJOR, sureness_of("extra", unlike))
        for event in trace.events
        if event.id not in compared and idle_names(event) is not None and not only_prints(event)
    }


def _sureness(explanation: Explanation, index: int) -> float:
    signs = signs_of_extra(explanation.affinity[index], explanation.nearness)
    return sureness_of("extra", signs)


def _undertakings(
    units: Sequence[Unit], explanation: Explanation, steps: Sequence[StepFinding]
) -> dict[str, _Left]:
    """What the agent says that it does besides, where it has no word in common with any step."""
    # A long message is several units, but it is searched only once.
    said = {
        unit.event.id: (index, unit.event.text)
        for index, unit in enumerate(units)
        if unit.said and index not in explanation.taken
    }
    besides = [
        (event, index, terms_of(sentence))
        for event, (index, text) in said.items()
        for sentence in _besides(text)
    ]
    if not besides:
        return {}
    planned = frozenset[str]().union(*(terms_of(step.text) for step in steps))
    return {
        event: _Left(Severity.MAJOR, _sureness(explanation, index), words)
        for event, index, words in besides
        if planned.isdisjoint(words)
    }


def _besides(text: str) -> list[str]:
    lowered = text.lower()
    if lowered.isascii() and not any(map(lowered.__contains__, _MARKS)):
        return []
    return _BESIDES.findall(text)


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
