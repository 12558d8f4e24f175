"""The plans in force one after another, and the events that each of them answers for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from planproof.core.plan import InForce, Origin, Plan, Step
from planproof.core.trace import Kind, Trace
from planproof.planning.located_plan import Located
from planproof.planning.plan_changes import kept_steps

_NEVER = 1 << 62


@dataclass(frozen=True, slots=True)
class Succession:
    """Plans in turn, and the events from the first of them on.

    `homes` says during which plan, by its place, an event happened. `numbers` gives the leaves of
    each plan, by their numbers there, the numbers that tell them apart from those of all the
    others: a step of the last plan keeps its own, the second step of one that was declared at e7
    and left behind is `e7/2`. `stands` says during which plans a step stood. A plan that was given
    is the only one, and needs none of them.
    """

    plans: tuple[Plan, ...]
    trace: Trace
    homes: Mapping[str, int] = field(default_factory=dict[str, int])
    numbers: tuple[Mapping[str, str], ...] = ({},)
    stands: Mapping[str, range] = field(default_factory=dict[str, range])

    @property
    def last(self) -> Plan:
        """The plan that was in force in the end."""
        return self.plans[-1]

    def part(self, place: int, context: Iterable[str]) -> Trace:
        """What happened while a plan was in force, and events from before it as context."""
        wanted = set(context)
        events = (
            event
            for event in self.trace.events
            if self.homes[event.id] == place or event.id in wanted
        )
        return replace(self.trace, events=tuple(events))

    def merged(self, began: Mapping[str, int]) -> Plan:
        """All that the trace is held to: the last plan, and the steps left behind that had begun.

        `began` says of each step that did so during which plan it began. Where the plans differ in
        order, a step keeps the place that it had in the plan under which it began.
        """
        if len(self.plans) == 1:
            return self.last
        order = list(self.numbers[0].values())
        for place, numbers in enumerate(self.numbers[1:], 1):
            rank = {number: at for at, number in enumerate(order)}
            begun = [number for number in order if began.get(number, _NEVER) < place]
            due = deque[str](n for n in numbers.values() if began.get(n, _NEVER) >= place)
            order = list[str]()
            for number in begun:
                # What was to come before it and is still due came too late, whatever comes now.
                while due and rank.get(due[0], _NEVER) < rank[number]:
                    order.append(due.popleft())
                order.append(number)
            order += due
        known = {step.number: step for step in self.last.steps}
        for plan, numbers in zip(reversed(self.plans), reversed(self.numbers), strict=True):
            for step in plan.leaves:
                number = numbers[step.number]
                # A parent that was left behind is not told: what refined it stands alone.
                known.setdefault(number, replace(step, number=number, parent=None))
        return replace(self.last, steps=_with_parents(known, order))


def succession_of(trace: Trace, located: Located, in_force: InForce) -> Succession:
    """The plans that a trace is held to: the first one declared, or also those that followed."""
    declared = located.declaration
    if declared is None:
        return Succession((Plan((), Origin.DECLARED),), trace)
    later = located.replans if in_force == "latest" else ()
    plans = (declared.plan, *(replan.plan for replan in later))
    events = (declared.event, *(replan.event for replan in later))
    homes = _homes(trace, events)
    numbers = _numbers(plans, events)
    stands: dict[str, range] = {}
    for place, known in enumerate(numbers):
        for number in known.values():
            first = stands[number].start if number in stands else place
            stands[number] = range(first, place + 1)
    judged = tuple(event for event in trace.events if event.id in homes)
    return Succession(plans, replace(trace, events=judged), homes, numbers, stands)


def with_first(plan: Plan, numbers: Iterable[str]) -> Plan:
    """The same plan with the leaves of these numbers in front, in this order."""
    known = {step.number: step for step in plan.steps}
    order = dict.fromkeys((*numbers, *(step.number for step in plan.leaves)))
    return replace(plan, steps=_with_parents(known, order))


def _with_parents(known: Mapping[str, Step], leaves: Iterable[str]) -> tuple[Step, ...]:
    """The steps of these numbers, each parent before the first step that refines it."""
    steps: dict[str, Step] = {}
    for number in leaves:
        above = [known[number]]
        while (parent := above[-1].parent) is not None:
            above.append(known[parent])
        for step in reversed(above):
            steps.setdefault(step.number, step)
    return tuple(steps.values())


def _homes(trace: Trace, starts: Sequence[str]) -> dict[str, int]:
    """During which plan each event happened; what came before the first plan is left out.

    A call that was issued together with a plan is not earlier than it, and what a sub-agent did
    belongs where it was handed over to.
    """
    places = {event: place for place, event in enumerate(starts)}
    turns = {
        event.turn: places[event.id]
        for event in trace.events
        if event.id in places and event.turn > 0
    }
    homes: dict[str, int] = {}
    place = -1
    for event in trace.events:
        if event.id in places:
            place = places[event.id]
            continue
        home = homes.get(event.parent or "", place)
        if event.kind is Kind.ACTION and event.parent is None:
            home = max(home, turns.get(event.turn, -1))
        if home >= 0:
            homes[event.id] = home
    return homes


def _numbers(plans: Sequence[Plan], events: Sequence[str]) -> tuple[Mapping[str, str], ...]:
    """What the leaves of each plan are called, which is what they are called in the end."""
    named = {step.number: step.number for step in plans[-1].leaves}
    found: deque[Mapping[str, str]] = deque([named])
    for place in range(len(plans) - 2, -1, -1):
        leaves = plans[place].leaves
        kept = kept_steps(leaves, plans[place + 1].leaves)
        named = {
            number: named[kept[number]] if number in kept else f"{events[place]}/{number}"
            for number in (step.number for step in leaves)
        }
        found.appendleft(named)
    return tuple(found)
