"""Prove deviations that no continuation of a trace can undo, and the best score still possible.

The judge aligns a whole trace, and the next event may change how an earlier one is assigned. Two
things cannot change; the decision record on what a monitor proves gives the argument:

- an action that no step can cover remains an extra;
- if only steps after one that has not started can cover an action, then the action is an extra,
  or a step is missing, ambiguous or out of order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from planproof.checking.alignment import RecentCalls, find_possible_steps
from planproof.checking.candidates import Candidate, build_candidates, remove_restatements
from planproof.checking.requirements import Requirement, compile_steps
from planproof.core.finding import Severity
from planproof.core.phrases import format_steps
from planproof.core.plan import Plan
from planproof.core.trace import Event, EventStatus, Kind, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.monitor.deviation import Certainty, Deviation, DeviationKind


@dataclass(slots=True)
class _Call:
    """The properties of a call that are known when it is issued."""

    event: Event
    is_certainly_major: bool
    """True if it would be a major extra when no step covers it."""


@dataclass(slots=True)
class _ProvenCounts:
    major: int = 0
    minor: int = 0
    """Extras that are minor in the best case."""
    has_displaced_step: bool = False
    """True if a step is missing or out of order, or there is one more major extra."""


@dataclass(slots=True)
class _CallHistory:
    """The previous calls, on which the severity of the next extra depends."""

    calls: RecentCalls = field(default_factory=RecentCalls)
    issued_calls: set[int] = field(default_factory=set[int])
    failed_tools: set[str | None] = field(default_factory=set[str | None])
    """The tools with a call that failed, or that may still fail."""

    def record(self, position: int, candidate: Candidate, *, pending: bool) -> bool:
        """Record a call; return whether it is certainly major if it is an extra."""
        event = candidate.event
        # Hash collisions only make the bound less tight.
        call = hash((event.name, candidate.call_text))
        repeats = bool(self.calls.match_and_add(position, candidate))
        minor = (
            candidate.is_closing
            or call in self.issued_calls
            or (repeats and event.name in self.failed_tools)
        )
        self.issued_calls.add(call)
        if pending or event.status is EventStatus.ERROR:
            self.failed_tools.add(event.name)
        return not minor


class DeviationProver:
    """Observes the events of a trace one by one, each at constant cost."""

    def __init__(self, plan: Plan, vocabulary: Vocabulary) -> None:
        self._plan = plan
        self._vocabulary = vocabulary
        self._requirements = compile_steps(plan, vocabulary)
        self._folded_steps = [requirement.folded_text for requirement in self._requirements]
        self._binding = [_is_binding(requirement) for requirement in self._requirements]
        self._possibly_started: set[int] = set()
        """The steps that some event so far may have started."""
        self._first_pending = 0
        self._has_turns = False
        self._history = _CallHistory()
        self._waiting: dict[str, _Call] = {}
        self._extras: dict[str, Severity] = {}
        self._reported_steps: set[int] = set()
        self._tally = _ProvenCounts()
        self._event_count = 0

    @property
    def ceiling(self) -> float:
        """The best score that the table can still give."""
        counts = self._tally
        serious = counts.major + counts.has_displaced_step
        if serious:
            return 0.5 if serious == 1 else 0.25
        return (1.0, 0.75)[counts.minor] if counts.minor < 2 else 0.5

    def observe(self, event: Event, *, pending: bool) -> list[Deviation]:
        """Return what an event proves; `pending` marks a call without its result yet."""
        self._event_count += 1
        self._has_turns = self._has_turns or event.turn != 0
        candidates = self._build_candidates(event)
        steps: set[int] = set()
        for candidate in candidates:
            steps |= find_possible_steps(candidate, self._requirements, has_result=not pending)
        self._possibly_started |= steps
        if event.kind is not Kind.ACTION or not candidates:
            return []
        major = self._history.record(self._event_count, candidates[0], pending=pending)
        call = _Call(event, major)
        if pending:
            self._waiting[event.id] = call
            # If no step can cover it, no result changes that; otherwise wait for the result.
            return self._prove_extra(call) if not steps else []
        return self._prove(call, steps)

    def complete(self, event: Event) -> list[Deviation]:
        """Return what the result of a pending call proves."""
        call = self._waiting.pop(event.id, None)
        if call is None or event.id in self._extras:
            return []
        call.event = event
        steps = [
            find_possible_steps(candidate, self._requirements)
            for candidate in self._build_candidates(event)
        ]
        return self._prove(call, set[int]().union(*steps))

    def _build_candidates(self, event: Event) -> list[Candidate]:
        # Restatements of the plan are removed from each event independently of the others.
        alone = remove_restatements(Trace((event,)), self._plan)
        return build_candidates(alone, self._vocabulary, self._folded_steps)

    def _prove(self, call: _Call, steps: set[int]) -> list[Deviation]:
        if not steps:
            return self._prove_extra(call)
        if call.event.parent is not None:
            # A sub-agent's action is judged with its hand-off.
            return []
        return self._prove_out_of_order(call, steps)

    def _prove_extra(self, call: _Call) -> list[Deviation]:
        """Return the extra for an action that no step can cover."""
        event, severity = call.event, Severity.MAJOR if call.is_certainly_major else Severity.MINOR
        if event.parent is not None:
            parent_severity = self._extras.get(event.parent)
            if parent_severity is None:
                return []
            severity = Severity.MINOR if Severity.MINOR in (parent_severity, severity) else severity
        self._extras[event.id] = severity
        if severity is Severity.MAJOR:
            self._tally.major += 1
        else:
            self._tally.minor += 1
        return [
            Deviation(
                certainty=Certainty.PROVEN,
                kind=DeviationKind.EXTRA,
                severity=severity,
                event=event.id,
                step=None,
                why=f"no step can cover the call to {_format_tool_name(event)}",
            )
        ]

    def _prove_out_of_order(self, call: _Call, steps: set[int]) -> list[Deviation]:
        """Return the deviation for an action that precedes a step due before it."""
        while self._first_pending < len(self._requirements) and (
            self._first_pending in self._possibly_started or not self._binding[self._first_pending]
        ):
            self._first_pending += 1
        first = self._first_pending
        # With turns, an event of an earlier turn may still arrive and would count as earlier.
        if self._has_turns or not call.is_certainly_major or first in self._reported_steps:
            return []
        if any(step < first or self._requirements[step].step.free_order for step in steps):
            return []
        self._reported_steps.add(first)
        self._tally.has_displaced_step = True
        number = self._requirements[first].step.number
        due = format_steps([number])
        return [
            Deviation(
                certainty=Certainty.PROVEN,
                kind=DeviationKind.OUT_OF_ORDER,
                severity=Severity.MAJOR,
                event=call.event.id,
                step=number,
                why=f"the call to {_format_tool_name(call.event)} comes before {due}: it is an "
                f"extra, or {due} is missing, or one of them is out of order",
            )
        ]


def _is_binding(requirement: Requirement) -> bool:
    """Return whether the step, if executed at all, must start before the steps after it."""
    step = requirement.step
    return not (step.optional or step.free_order or step.condition is not None)


def _format_tool_name(event: Event) -> str:
    return event.name or "an unnamed tool"
