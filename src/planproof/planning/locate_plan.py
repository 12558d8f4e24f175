"""Finding, in a trace, the plan that the agent declared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from planproof.core.plan import Origin, Plan
from planproof.core.trace import Event, Kind, Trace
from planproof.planning.announcements import comes_from_manager
from planproof.planning.located_plan import (
    Declaration,
    Declarer,
    Located,
    LookedAt,
    Rejection,
    Replan,
    Sort,
)
from planproof.planning.plan_changes import changes_between, continued
from planproof.planning.plan_parser import parse_plan
from planproof.planning.plans_in_calls import is_about_planning, item_of_call, plan_of_call
from planproof.planning.plans_in_prompts import plan_in_prompt
from planproof.planning.plans_in_text import json_plan_in, plan_in_words, plan_of_planning_step
from planproof.planning.rejections import rejection_of

_PLANNERS = ("planner", "orchestrator", "manager", "planning", "supervisor")
_SPOKEN = frozenset({Kind.MESSAGE, Kind.REASONING})
_PROMPTS = frozenset({Declarer.SCAFFOLD, Declarer.USER})


@dataclass(frozen=True, slots=True)
class _Found:
    """A declaration, its place among the events, and whether it can be nothing but a plan."""

    declaration: Declaration
    place: int
    certain: bool

    @property
    def rank(self) -> int:
        """The lower, the rather it is the plan in force; among equals the first one is."""
        declared = self.declaration
        if declared.declared_by is Declarer.SCAFFOLD:
            return 2
        if declared.declared_by is Declarer.USER:
            return 4 if declared.sort is Sort.PRESCRIBED_STEPS else 5
        if declared.before_acting:
            return 0 if self.certain else 1
        return 3 if self.certain else 6


def locate(trace: Trace) -> Located:
    """The plan in force, which is the first that was declared; and what became of it later."""
    found = [one for one in _declarations(trace.events) if one.declaration.plan.steps]
    rejected: dict[int, Rejection] = {}
    for one in found:
        by = rejection_of(trace.events, one.place)
        if by is not None and one.declaration.declared_by not in _PROMPTS:
            rejected[one.place] = Rejection(declaration=one.declaration, by=by)
    standing = [one for one in found if one.place not in rejected]
    if rejected:
        # Whoever refuses a plan has not thereby made his own words the plan.
        standing = [one for one in standing if one.declaration.declared_by is not Declarer.USER]
    chosen = min(standing, key=lambda one: (one.rank, one.place), default=None)
    return Located(
        declaration=chosen.declaration if chosen else None,
        replans=tuple(_replans(chosen, standing)) if chosen else (),
        rejected=tuple(rejected.values()),
        looked_at=_looked_at(trace.events),
    )


def _declarations(events: Sequence[Event]) -> Iterator[_Found]:
    """Every plan that is declared anywhere, sub-agents' own left aside."""
    acting = _first_action(events)
    opening = acting[0] if acting else len(events)
    created: list[str] = []
    for place, event in enumerate(events):
        if event.parent is not None:
            continue
        before = place < opening or (acting is not None and 0 < event.turn == acting[1])
        item = item_of_call(event)
        if item is not None:
            created.append(item)
            if place + 1 == len(events) or item_of_call(events[place + 1]) is None:
                plan = parse_plan(created)
                yield _made(plan, event, place, Sort.TODO_LIST, before=before, certain=True)
        elif event.kind is Kind.BOOKKEEPING or event.kind is Kind.ACTION:
            yield from _noted(event, place, before=before)
        elif event.actor == "user" or event.kind is Kind.SYSTEM:
            if before and (put := plan_in_prompt(event)) is not None:
                yield _made(
                    put.plan, event, place, put.sort, before=True, certain=False, by=put.declared_by
                )
        elif event.kind in _SPOKEN:
            yield from _said(event, place, before=before)


def _noted(event: Event, place: int, *, before: bool) -> Iterator[_Found]:
    called = plan_of_call(event)
    if called is not None:
        yield _made(called.plan, event, place, called.sort, before=before, certain=True)
    elif event.kind is Kind.BOOKKEEPING and event.text:
        marked = (event.name or "").lower() == "plan"
        plan = plan_of_planning_step(event.text) if marked else None
        if plan is not None:
            yield _made(plan, event, place, Sort.PLANNING_STEP, before=before, certain=True)
        elif not marked:
            yield from _said(event, place, before=before)


def _said(event: Event, place: int, *, before: bool) -> Iterator[_Found]:
    if _declarer(event) is Declarer.PLANNER and (written := json_plan_in(event.text)):
        yield _made(written, event, place, Sort.JSON_PLAN, before=before, certain=True)
    elif (spoken := plan_in_words(event.text, before_acting=before)) is not None:
        certain = spoken.certain and spoken.sort is not Sort.ANNOUNCED_LIST
        yield _made(spoken.plan, event, place, spoken.sort, before=before, certain=certain)


def _made(
    plan: Plan,
    event: Event,
    place: int,
    sort: Sort,
    *,
    before: bool,
    certain: bool,
    by: Declarer | None = None,
) -> _Found:
    declaration = Declaration(
        plan=replace(plan, origin=Origin.DECLARED),
        event=event.id,
        pointer=event.pointer,
        sort=sort,
        declared_by=by or _declarer(event),
        actor=event.actor,
        before_acting=before,
    )
    return _Found(declaration, place, certain)


def _declarer(event: Event) -> Declarer:
    named = (event.actor or "").lower()
    if any(word in named for word in _PLANNERS) or comes_from_manager(event.text):
        return Declarer.PLANNER
    return Declarer.AGENT


def _first_action(events: Sequence[Event]) -> tuple[int, int] | None:
    """The place and the turn of the first thing that was done."""
    for place, event in enumerate(events):
        if event.kind is Kind.ACTION and event.actor != "user" and not is_about_planning(event):
            return place, event.turn
    return None


def _replans(chosen: _Found, standing: Sequence[_Found]) -> Iterator[Replan]:
    """The later plans of whoever plans, each compared with the one before it."""
    latest = chosen.declaration.plan
    for later in standing:
        declared = later.declaration
        if later.place <= chosen.place or declared.declared_by in _PROMPTS:
            continue
        plan = continued(latest, declared.plan)
        changes = changes_between(latest, plan)
        if changes:
            yield Replan(
                event=declared.event,
                pointer=declared.pointer,
                plan=plan,
                added=changes.added,
                dropped=changes.dropped,
                renamed=changes.renamed,
                reordered=changes.reordered,
            )
            latest = plan


def _looked_at(events: Sequence[Event]) -> LookedAt:
    prompts = messages = notes = calls = 0
    for event in events:
        if event.kind is Kind.SYSTEM or event.actor == "user":
            prompts += 1
        elif event.kind in _SPOKEN:
            messages += 1
        elif event.kind is Kind.BOOKKEEPING:
            notes += 1
        elif event.kind is Kind.ACTION:
            calls += 1
    return LookedAt(prompts, messages, notes, calls)
