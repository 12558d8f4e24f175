"""What no continuation of a trace can undo, and the best score that is left.

The judge explains a whole trace, and the next event may change what an earlier one is taken for.
Two things it can't change; the decision record on what a monitor proves has the argument:

- an action that no step can cover is an extra for ever;
- an action that only steps behind one that has not begun can cover is an extra, or a step is
  missing, ambiguous or out of order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from planproof.checking.candidates import Unit, units_of
from planproof.checking.possible_steps import steps_possible
from planproof.checking.repeated_actions import LastCalls
from planproof.checking.requirements import Demand, demands_of
from planproof.checking.restatements import without_restatements
from planproof.core.finding import Severity
from planproof.core.phrases import steps_named
from planproof.core.plan import Plan
from planproof.core.trace import Event, EventStatus, Kind, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.monitor.deviation import Certainty, Deviation, Sort


@dataclass(slots=True)
class _Call:
    """What is known of a call when it is issued."""

    event: Event
    surely_major: bool
    """Whether it would be a major extra if no step covered it."""


@dataclass(slots=True)
class _Tally:
    major: int = 0
    minor: int = 0
    """Extras that are minor at best."""
    displaced: bool = False
    """Whether a step is lost or out of order, or there is one major extra more."""


@dataclass(slots=True)
class _Past:
    """What the severity of the next extra depends on: the calls before it."""

    calls: LastCalls = field(default_factory=LastCalls)
    issued: set[int] = field(default_factory=set[int])
    failed: set[str | None] = field(default_factory=set[str | None])
    """The tools of which a call failed, or may yet."""

    def taking_in(self, place: int, unit: Unit, *, pending: bool) -> bool:
        """Whether a call is surely major if it is an extra. From now on it is in the past."""
        event = unit.event
        # Calls whose hashes are the same by chance only make for a bound that is less tight.
        call = hash((event.name, unit.call_text))
        repeats = bool(self.calls.repeated_by(place, unit))
        minor = unit.closing or call in self.issued or (repeats and event.name in self.failed)
        self.issued.add(call)
        if pending or event.status is EventStatus.ERROR:
            self.failed.add(event.name)
        return not minor


class Proof:
    """Takes the events of a trace one by one; each costs the same, however many came before."""

    def __init__(self, plan: Plan, vocabulary: Vocabulary) -> None:
        self._plan = plan
        self._vocabulary = vocabulary
        self._demands = demands_of(plan, vocabulary)
        self._steps = [demand.folded for demand in self._demands]
        self._binding = [_binds(demand) for demand in self._demands]
        self._begun: set[int] = set()
        """The steps that some event so far may have begun."""
        self._first = 0
        self._turns = False
        self._past = _Past()
        self._waiting: dict[str, _Call] = {}
        self._extras: dict[str, Severity] = {}
        self._told: set[int] = set()
        self._tally = _Tally()
        self._seen = 0

    @property
    def ceiling(self) -> float:
        """The best score that the table could still give."""
        found = self._tally
        grave = found.major + found.displaced
        if grave:
            return 0.5 if grave == 1 else 0.25
        return (1.0, 0.75)[found.minor] if found.minor < 2 else 0.5

    def observe(self, event: Event, *, pending: bool) -> list[Deviation]:
        """What an event proves; a `pending` one is a call whose result is yet to come."""
        self._seen += 1
        self._turns = self._turns or event.turn != 0
        units = self._units(event)
        steps: set[int] = set()
        for unit in units:
            steps |= steps_possible(unit, self._demands, answered=not pending)
        self._begun |= steps
        if event.kind is not Kind.ACTION or not units:
            return []
        major = self._past.taking_in(self._seen, units[0], pending=pending)
        call = _Call(event, major)
        if pending:
            self._waiting[event.id] = call
            # What no result could change is known already; the rest has to wait for it.
            return self._extra(call) if not steps else []
        return self._proven(call, steps)

    def complete(self, event: Event) -> list[Deviation]:
        """What is proven by the result of a call that was pending."""
        call = self._waiting.pop(event.id, None)
        if call is None or event.id in self._extras:
            return []
        call.event = event
        steps = [steps_possible(unit, self._demands) for unit in self._units(event)]
        return self._proven(call, set[int]().union(*steps))

    def _units(self, event: Event) -> list[Unit]:
        # What restates the plan is left out of each event by itself, whatever the others say.
        alone = without_restatements(Trace((event,)), self._plan)
        return units_of(alone, self._vocabulary, self._steps)

    def _proven(self, call: _Call, steps: set[int]) -> list[Deviation]:
        if not steps:
            return self._extra(call)
        if call.event.parent is not None:
            # A sub-agent's action shares the lot of the hand-off.
            return []
        return self._displaced(call, steps)

    def _extra(self, call: _Call) -> list[Deviation]:
        """The extra that an action is which no step can cover."""
        event, severity = call.event, Severity.MAJOR if call.surely_major else Severity.MINOR
        if event.parent is not None:
            handed_over = self._extras.get(event.parent)
            if handed_over is None:
                return []
            severity = Severity.MINOR if Severity.MINOR in (handed_over, severity) else severity
        self._extras[event.id] = severity
        if severity is Severity.MAJOR:
            self._tally.major += 1
        else:
            self._tally.minor += 1
        return [
            Deviation(
                certainty=Certainty.PROVEN,
                sort=Sort.EXTRA,
                severity=severity,
                event=event.id,
                step=None,
                why=f"no step can cover the call of {_name(event)}",
            )
        ]

    def _displaced(self, call: _Call, steps: set[int]) -> list[Deviation]:
        """What an action means that comes before a step which must come first."""
        while self._first < len(self._demands) and (
            self._first in self._begun or not self._binding[self._first]
        ):
            self._first += 1
        first = self._first
        # An event of a turn that began earlier may still come, and would count as early.
        if self._turns or not call.surely_major or first in self._told:
            return []
        if any(step < first or self._demands[step].step.free_order for step in steps):
            return []
        self._told.add(first)
        self._tally.displaced = True
        number = self._demands[first].step.number
        due = steps_named([number])
        return [
            Deviation(
                certainty=Certainty.PROVEN,
                sort=Sort.OUT_OF_ORDER,
                severity=Severity.MAJOR,
                event=call.event.id,
                step=number,
                why=f"the call of {_name(call.event)} comes before {due}: it is an extra, or "
                f"{due} is missing, or one of them is out of order",
            )
        ]


def _binds(demand: Demand) -> bool:
    """Whether a step must begin before the steps behind it do, if at all."""
    step = demand.step
    return not (step.optional or step.free_order or step.condition is not None)


def _name(event: Event) -> str:
    return event.name or "no named tool"
