"""The timeline of plans in a trace: which plan was active at each event, and how plans differ."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from planproof.core.plan import InForce, Origin, Plan, Step
from planproof.core.trace import Kind, Trace
from planproof.planning.plan_search import PlanSearch

_NEVER = 1 << 62


@dataclass(frozen=True, slots=True)
class PlanTimeline:
    """The active plans in order, and the events from the first of them on.

    `plan_index_by_event` maps an event to the index of the plan that was active. `numbers` maps,
    for each plan, the numbers of its leaves to numbers that are unique across all plans: a step of
    the last plan keeps its own, the second step of a plan that was declared at e7 and later dropped
    is `e7/2`. `active_ranges` maps a step to the plans that contain it. A given plan is the only
    one and needs none of these.
    """

    plans: tuple[Plan, ...]
    trace: Trace
    plan_index_by_event: Mapping[str, int] = field(default_factory=dict[str, int])
    numbers: tuple[Mapping[str, str], ...] = ({},)
    active_ranges: Mapping[str, range] = field(default_factory=dict[str, range])

    @property
    def last_plan(self) -> Plan:
        """The plan that was active at the end."""
        return self.plans[-1]

    def slice_trace(self, plan_index: int, context: Iterable[str]) -> Trace:
        """Return the events of one plan, with earlier events as context."""
        context_ids = set(context)
        events = (
            event
            for event in self.trace.events
            if self.plan_index_by_event[event.id] == plan_index or event.id in context_ids
        )
        return replace(self.trace, events=tuple(events))

    def merge_plans(self, start_plan_by_step: Mapping[str, int]) -> Plan:
        """Return the plan to judge by: the last one, plus dropped steps that had been started.

        `start_plan_by_step` maps each started step to the index of the plan in which it started.
        Where the plans differ in order, a step keeps the position that it had in that plan.
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
                # Steps planned before it that have not started are late, whatever follows.
                while due and rank.get(due[0], _NEVER) < rank[number]:
                    order.append(due.popleft())
                order.append(number)
            order += due
        known = {step.number: step for step in self.last_plan.steps}
        for plan, numbers in zip(reversed(self.plans), reversed(self.numbers), strict=True):
            for step in plan.leaves:
                number = numbers[step.number]
                # The parent was dropped and is not reported, so the step has no parent.
                known.setdefault(number, replace(step, number=number, parent=None))
        return replace(self.last_plan, steps=_insert_parents(known, order))


def build_timeline(trace: Trace, search: PlanSearch, in_force: InForce) -> PlanTimeline:
    """Return the timeline of the first declared plan, or also of those that followed."""
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


def move_steps_first(plan: Plan, numbers: Iterable[str]) -> Plan:
    """Return the plan with the leaves of these numbers in front, in this order."""
    known = {step.number: step for step in plan.steps}
    order = dict.fromkeys((*numbers, *(step.number for step in plan.leaves)))
    return replace(plan, steps=_insert_parents(known, order))


def _insert_parents(known: Mapping[str, Step], leaves: Iterable[str]) -> tuple[Step, ...]:
    """Return the steps of these numbers, each parent before its first sub-step."""
    steps: dict[str, Step] = {}
    for number in leaves:
        above = [known[number]]
        while (parent := above[-1].parent) is not None:
            above.append(known[parent])
        for step in reversed(above):
            steps.setdefault(step.number, step)
    return tuple(steps.values())


def _map_events_to_plans(trace: Trace, starts: Sequence[str]) -> dict[str, int]:
    """Map each event to the index of the active plan; omit events before the first plan.

    A call issued in the same turn as a plan counts as being after it, and the events of a sub-agent
    belong to the plan of the hand-off.
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
    """Map, for each plan, the numbers of its leaves to unique ones; see `PlanTimeline`."""
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
# Above this, comparing all pairs costs more than it is worth.
_MAX_COMPARED = 200


@dataclass(frozen=True, slots=True)
class PlanChanges:
    """The texts of the items that were added, dropped or reworded (old, new).

    `reordered`: the items that both plans contain are in a different order.
    """

    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    reordered: bool = False

    def __bool__(self) -> bool:
        return bool(self.added or self.dropped or self.renamed or self.reordered)


def diff_plans(old: Plan, new: Plan) -> PlanChanges:
    """Return the items that differ, ignoring case and spacing."""
    unchanged = match_unchanged_steps(old.steps, new.steps)
    dropped = [step.text for step in old.steps if step.number not in unchanged]
    unchanged_numbers = set(unchanged.values())
    added = [step.text for step in new.steps if step.number not in unchanged_numbers]
    renamed: list[tuple[str, str]] = []
    if len(dropped) <= _MAX_COMPARED and len(added) <= _MAX_COMPARED:
        for text in tuple(dropped):
            nearest = max(
                added, key=lambda other: _compute_word_similarity(text, other), default=None
            )
            if nearest is not None and _compute_word_similarity(text, nearest) >= _MIN_SIMILARITY:
                renamed.append((text, nearest))
                dropped.remove(text)
                added.remove(nearest)
    positions = {step.number: position for position, step in enumerate(new.steps)}
    now = [positions[number] for number in unchanged.values()]
    return PlanChanges(tuple(added), tuple(dropped), tuple(renamed), reordered=now != sorted(now))


def match_unchanged_steps(old: Sequence[Step], new: Sequence[Step]) -> dict[str, str]:
    """Map the numbers of old steps to those of new steps with the same text.

    If a text occurs fewer times in the new list, the first old steps with it are unmatched.
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
    """Return the new plan with the earlier steps that it continues.

    Agents print only the remaining steps under their old numbers: a list that starts at 5 drops
    none of the steps before it.
    """
    numbers = [step.number for step in old.steps]
    new_numbers = [step.number for step in new.steps]
    last = numbers.index(new_numbers[0]) if new_numbers and new_numbers[0] in numbers else 0
    earlier_steps = tuple(step for step in old.steps[:last] if step.number not in new_numbers)
    return replace(new, steps=(*earlier_steps, *new.steps)) if earlier_steps else new


def normalize_text(text: str) -> str:
    """Return a text in the form used for comparison: lower-case letters and digits only."""
    return " ".join(_WORD.findall(text.lower()))


def _group_by_text(steps: Sequence[Step]) -> dict[str, list[Step]]:
    groups: defaultdict[str, list[Step]] = defaultdict(list)
    for step in steps:
        groups[normalize_text(step.text)].append(step)
    return groups


def _compute_word_similarity(one: str, other: str) -> float:
    words, others = set(normalize_text(one).split()), set(normalize_text(other).split())
    return len(words & others) / max(len(words | others), 1)
