"""Find extra actions, which no step covers, and rate their severity."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from planproof.checking.alignment import Alignment, find_repeats
from planproof.checking.candidates import Candidate, find_empty_calls
from planproof.checking.confidence import discount_unverified
from planproof.checking.effects import find_idle_names, only_prints
from planproof.checking.event_text import cite
from planproof.checking.plan_findings import find_replies_to_user
from planproof.checking.step_status import UNRATED
from planproof.contracts.terms import extract_terms
from planproof.core.finding import Extra, Severity, StepFinding
from planproof.core.trace import Event, EventStatus, Kind, Trace

_ADDITION_PHRASE = re.compile(
    r"\b(?:I|we)(?:['’](?:ll|ve|m|re)| will| have| am| are)? (?:also|additionally)\b[^.!?\n]*"
    r"|\b(?:additionally|in addition|furthermore|besides),? (?:I|we)\b[^.!?\n]*",
    re.IGNORECASE,
)
_ADDITION_WORDS = tuple("also addition furthermore besides".split())
"""All ASCII matches of `_ADDITION_PHRASE` contain one of these; searching for them is faster."""


class _UncoveredEvent(NamedTuple):
    """An event that is an extra: its severity, its confidence, and the terms to quote."""

    severity: Severity
    confidence: float
    quote_terms: frozenset[str] = frozenset()


def find_extras(
    candidates: Sequence[Candidate],
    alignment: Alignment,
    trace: Trace,
    steps: Sequence[StepFinding],
) -> tuple[Extra, ...]:
    """Return each action that no step covers, and each announcement of additional work.

    A sub-agent's actions get the severity of the hand-off.
    """
    confidence = UNRATED
    covered = frozenset(event for step in steps for event in step.covers)
    uncovered = _find_uncovered_actions(candidates, trace, covered, confidence)
    uncovered |= _find_announced_extras(candidates, alignment, steps, confidence)
    return _build_extras(trace, uncovered)


def find_extra_actions(
    candidates: Sequence[Candidate], trace: Trace, covered: Collection[str], confidence: float
) -> tuple[Extra, ...]:
    """Return each action that is not among the `covered` events of steps.

    The candidates may be those of the actions alone.
    """
    return _build_extras(
        trace, _find_uncovered_actions(candidates, trace, frozenset(covered), confidence)
    )


def _build_extras(trace: Trace, uncovered: Mapping[str, _UncoveredEvent]) -> tuple[Extra, ...]:
    if not uncovered:
        return ()
    speakers = find_replies_to_user(trace)
    return tuple(
        _build_extra(event, speakers.get(event.id), uncovered[event.id])
        for event in trace.events
        if event.id in uncovered
    )


def _find_uncovered_actions(
    candidates: Sequence[Candidate], trace: Trace, covered: frozenset[str], confidence: float
) -> dict[str, _UncoveredEvent]:
    """Find the actions that no step covers; their severity depends on the events before them."""
    uncovered = _rate_uncovered_actions(candidates, covered, confidence)
    return uncovered | _find_idle_calls(candidates, trace, covered, confidence)


def _rate_uncovered_actions(
    candidates: Sequence[Candidate], covered: frozenset[str], confidence: float
) -> dict[str, _UncoveredEvent]:
    actions = [
        (i, candidate)
        for i, candidate in enumerate(candidates)
        if candidate.event.kind is Kind.ACTION and not candidate.is_print_only
    ]
    uncovered: dict[str, _UncoveredEvent] = {}
    if covered.issuperset([candidate.event.id for _, candidate in actions]):
        return uncovered
    repeating = find_repeats(candidates).repeat_indices
    earlier_calls: set[tuple[str | None, str]] = set()
    failed: set[str | None] = set()
    closed = False
    for index, candidate in actions:
        event, call = candidate.event, (candidate.event.name, candidate.call_text)
        if event.id not in covered:
            closing = candidate.is_closing and not closed
            retried = index in repeating and event.name in failed
            minor = closing or retried or call in earlier_calls
            own = _UncoveredEvent(Severity.MINOR if minor else Severity.MAJOR, confidence)
            uncovered[event.id] = uncovered.get(event.parent or "", own)
            closed = closed or closing
        earlier_calls.add(call)
        if event.status is EventStatus.ERROR:
            failed.add(event.name)
    return uncovered


def _find_idle_calls(
    candidates: Sequence[Candidate], trace: Trace, covered: frozenset[str], confidence: float
) -> dict[str, _UncoveredEvent]:
    """Find empty calls, and calls without effect that no step names and that do not only print."""
    compared = covered | {candidate.event.id for candidate in candidates}
    empty_calls = find_empty_calls(trace) - compared
    idle_calls = {
        event.id: _UncoveredEvent(Severity.MAJOR, confidence)
        for event in trace.events
        if event.id not in compared
        and find_idle_names(event) is not None
        and not only_prints(event)
    }
    return idle_calls | {
        event: _UncoveredEvent(Severity.MINOR, confidence) for event in empty_calls
    }


def _find_announced_extras(
    candidates: Sequence[Candidate],
    alignment: Alignment,
    steps: Sequence[StepFinding],
    confidence: float,
) -> dict[str, _UncoveredEvent]:
    """Find announcements of additional work that share no word with any step."""
    # A long message is several candidates, but it is searched only once.
    texts_by_event = {
        candidate.event.id: candidate.event.text
        for index, candidate in enumerate(candidates)
        if candidate.is_text_only and index not in alignment.assigned_indices
    }
    announcements = [
        (event, extract_terms(sentence))
        for event, text in texts_by_event.items()
        for sentence in _find_additions(text)
    ]
    if not announcements:
        return {}
    planned = frozenset[str]().union(*(extract_terms(step.text) for step in steps))
    return {
        event: _UncoveredEvent(Severity.MAJOR, confidence, words)
        for event, words in announcements
        if planned.isdisjoint(words)
    }


def _find_additions(text: str) -> list[str]:
    lowered = text.lower()
    if lowered.isascii() and not any(map(lowered.__contains__, _ADDITION_WORDS)):
        return []
    return _ADDITION_PHRASE.findall(text)


def _build_extra(event: Event, speaker: str | None, uncovered: _UncoveredEvent) -> Extra:
    evidence = cite(event, uncovered.quote_terms)
    what = event.name or event.kind.value
    return Extra(
        event=event.id,
        pointer=evidence.pointer,
        quote=evidence.quote,
        what=what if speaker is None else f"{what}, after user message {speaker}",
        severity=uncovered.severity,
        confidence=discount_unverified(uncovered.confidence, [event]),
    )
