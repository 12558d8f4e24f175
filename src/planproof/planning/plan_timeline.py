"""The plans in force one after another, and the events that each of them answers for."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from planproof.core.plan import InForce, Origin, Plan, Step
from planproof.core.trace import Kind, Trace
from planproof.planning.located_plan import PlanSearch

_NEVER = 1 << 62


@dataclass(frozen=True, slots=True)
class PlanTimeline:
    """Plans in turn, and the events from the first of them on.

    `homes` says during which plan, by its place, an event happened. `numbers` gives the leaves of
    each plan, by their numbers there, the numbers that tell them apart from those of all the
    others: a step of the last plan keeps its own, the second step of one that was declared at e7
    and left behind is `e7/2`. `stands` says during which plans a step stood. A plan that was given
    is the only one, and needs none of them.
    """

    plans: tuple[Plan, ...]
    trace: Trace
    plan_index_by_event: Mapping[str, int] = field(default_factory=dict[str, int])
    numbers: tuple[Mapping[str, str], ...] = ({},)
    active_ranges: Mapping[str, range] = field(default_factory=dict[str, range])

    @property
    def last_plan(self) -> Plan:
        """The plan that was in force in the end."""
        return self.plans[-1]

    def slice_trace(self, plan_index: int, context: Iterable[str]) -> Trace:
        """What happened while a plan was in force, and events from before it as context."""
        context_ids = set(context)
        events = (
            event
            for event in self.trace.events
            if self.plan_index_by_event[event.id] == plan_index or event.id in context_ids
        )
        return replace(self.trace, events=tuple(events))

    def merge_plans(self, start_plan_by_step: Mapping[str, int]) -> Plan:
        """All that the trace is held to: the last plan, and the steps left behind that had begun.

        `began` says of each step that did so during which plan it began. Where the plans differ in
        order, a step keeps the place that it had in the plan under which it began.
        """
        if len(self.plans) == 1:
            return self.last_plan
        order = list(self.numbers[0].values())
        for plan_index, numbers in enumerate(self.numbers[1:], 1):
            rank = {number: at for at, number in enumerate(order)}
            started = [
                number for number in order if start_plan_by_step.get(number, _NEVER) < plan_index
            ]
            due = deque[str](
                n for n in numbers.values() if start_plan_by_step.get(n, _NEVER) >= plan_index
            )
            order = list[str]()
            for number in started:
                # What was to come before it and is still due came too late, whatever comes now.
                while due and rank.get(due[0], _NEVER) < rank[number]:
                    order.append(due.popleft())
                order.append(number)
            order += due
        known = {step.number: step for step in self.last_plan.steps}
        for plan, numbers in zip(reversed(self.plans), reversed(self.numbers), strict=True):
            for step in plan.leaves:
                number = numbers[step.number]
                # A parent that was left behind is not told: what refined it stands alone.
                known.setdefault(number, replace(step, number=number, parent=None))
        return replace(self.last_plan, steps=_insert_parents(known, order))


def build_timeline(trace: Trace, search: PlanSearch, in_force: InForce) -> PlanTimeline:
    """The plans that a trace is held to: the first one declared, or also those that followed."""
    declared = search.declaration
    if declared is None:
        return PlanTimeline((Plan((), Origin.DECLARED),), trace)
    later = search.replans if in_force == "latest" else ()
    plans = (declared.plan, *(replan.plan for replan in later))
    events = (declared.event, *(replan.event for replan in later))
    plan_index_by_event = _map_events_to_plans(trace, events)
    numbers = _assign_unique_numbers(plans, events)
    active_ranges: dict[str, range] = {}
    for plan_index, known in enumerate(numbers):
        for number in known.values():
            first = active_ranges[number].start if number in active_ranges else plan_index
            active_ranges[number] = range(first, plan_index + 1)
    judged = tuple(event for event in trace.events if event.id in plan_index_by_event)
    return PlanTimeline(
        plans, replace(trace, events=judged), plan_index_by_event, numbers, active_ranges
    )


def with_steps_first(plan: Plan, numbers: Iterable[str]) -> Plan:
    """The same plan with the leaves of these numbers in front, in this order."""
    known = {step.number: step for step in plan.steps}
    order = dict.fromkeys((*numbers, *(step.number for step in plan.leaves)))
    return replace(plan, steps=_insert_parents(known, order))


def _insert_parents(known: Mapping[str, Step], leaves: Iterable[str]) -> tuple[Step, ...]:
    """The steps of these numbers, each parent before the first step that refines it."""
    steps: dict[str, Step] = {}
    for number in leaves:
        above = [known[number]]
        while (parent := above[-1].parent) is not None:
            above.append(known[parent])
        for step in reversed(above):
            steps.setdefault(step.number, step)
    return tuple(steps.values())


def _map_events_to_plans(trace: Trace, starts: Sequence[str]) -> dict[str, int]:
    """During which plan each event happened; what came before the first plan is left out.

    A call that was issued together with a plan is not earlier than it, and what a sub-agent did
    belongs where it was handed over to.
    """
    plan_index_by_declaration = {event: current_plan for current_plan, event in enumerate(starts)}
    plan_index_by_turn = {
        event.turn: plan_index_by_declaration[event.id]
        for event in trace.events
        if event.id in plan_index_by_declaration and event.turn > 0
    }
    plan_index_by_event: dict[str, int] = {}
    current_plan = -1
    for event in trace.events:
        if event.id in plan_index_by_declaration:
            current_plan = plan_index_by_declaration[event.id]
            continue
        plan_index = plan_index_by_event.get(event.parent or "", current_plan)
        if event.kind is Kind.ACTION and event.parent is None:
            plan_index = max(plan_index, plan_index_by_turn.get(event.turn, -1))
        if plan_index >= 0:
            plan_index_by_event[event.id] = plan_index
    return plan_index_by_event


def _assign_unique_numbers(
    plans: Sequence[Plan], events: Sequence[str]
) -> tuple[Mapping[str, str], ...]:
    """What the leaves of each plan are called, which is what they are called in the end."""
    named = {step.number: step.number for step in plans[-1].leaves}
    numbers_by_plan: deque[Mapping[str, str]] = deque([named])
    for plan_index in range(len(plans) - 2, -1, -1):
        leaves = plans[plan_index].leaves
        unchanged = match_unchanged_steps(leaves, plans[plan_index + 1].leaves)
        named = {
            number: named[unchanged[number]]
            if number in unchanged
            else f"{events[plan_index]}/{number}"
            for number in (step.number for step in leaves)
        }
        numbers_by_plan.appendleft(named)
    return tuple(numbers_by_plan)


_WORD = re.compile(r"\w+")
_MIN_SIMILARITY = 0.5
# Beyond this a comparison of all with all would cost more than it tells.
_MAX_COMPARED = 200


@dataclass(frozen=True, slots=True)
class PlanChanges:
    """The texts of the items that were added, dropped, and said in other words (old, new).

    `reordered` says that items which stand in both come one after another in another way.
    """

    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    reordered: bool = False

    def __bool__(self) -> bool:
        return bool(self.added or self.dropped or self.renamed or self.reordered)


def diff_plans(old: Plan, new: Plan) -> PlanChanges:
    """The items that differ; the same words in another case or spacing are the same item."""
    unchanged = match_unchanged_steps(old.steps, new.steps)
    dropped = [step.text for step in old.steps if step.number not in unchanged]
    unchanged_numbers = set(unchanged.values())
    added = [step.text for step in new.steps if step.number not in unchanged_numbers]
    renamed: list[tuple[str, str]] = []
    if len(dropped) <= _MAX_COMPARED and len(added) <= _MAX_COMPARED:
        for text in tuple(dropped):
            nearest = max(added, key=lambda other: _word_similarity(text, other), default=None)
            if nearest is not None and _word_similarity(text, nearest) >= _MIN_SIMILARITY:
                renamed.append((text, nearest))
                dropped.remove(text)
                added.remove(nearest)
    positions = {step.number: position for position, step in enumerate(new.steps)}
    now = [positions[number] for number in unchanged.values()]
    return PlanChanges(tuple(added), tuple(dropped), tuple(renamed), reordered=now != sorted(now))


def match_unchanged_steps(old: Sequence[Step], new: Sequence[Step]) -> dict[str, str]:
    """The numbers of the old steps that stand among the new in the same words -> their new numbers.

    Of several in the same words it is the first that a shorter list leaves out.
    """
    before, after = _group_by_text(old), _group_by_text(new)
    new_numbers: dict[str, str] = {}
    for words, steps in before.items():
        others = after.get(words, [])
        staying = steps[max(0, len(steps) - len(others)) :]
        new_numbers |= {
            one.number: other.number for one, other in zip(staying, others, strict=False)
        }
    return {step.number: new_numbers[step.number] for step in old if step.number in new_numbers}


def restore_earlier_steps(old: Plan, new: Plan) -> Plan:
    """The new plan with the steps that it leaves standing: a list that goes on from 5 drops none.

    Agents print only what is still to do, under the numbers that it had.
    """
    numbers = [step.number for step in old.steps]
    new_numbers = [step.number for step in new.steps]
    last = numbers.index(new_numbers[0]) if new_numbers and new_numbers[0] in numbers else 0
    earlier_steps = tuple(step for step in old.steps[:last] if step.number not in new_numbers)
    return replace(new, steps=(*earlier_steps, *new.steps)) if earlier_steps else new


def normalize_text(text: str) -> str:
    """A text as it is compared: letters and digits alone."""
    return " ".join(_WORD.findall(text.lower()))


def _group_by_text(steps: Sequence[Step]) -> dict[str, list[Step]]:
    groups: defaultdict[str, list[Step]] = defaultdict(list)
    for step in steps:
        groups[normalize_text(step.text)].append(step)
    return groups


def _word_similarity(one: str, other: str) -> float:
    words, others = set(normalize_text(one).split()), set(normalize_text(other).split())
    return len(words & others) / max(len(words | others), 1)
