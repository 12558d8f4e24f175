"""Find the plan that the agent declared in a trace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from planproof.core.plan import Origin, Plan
from planproof.core.trace import Event, Kind, Trace
from planproof.planning.announcements import comes_from_manager
from planproof.planning.event_plans import (
    extract_task_item,
    find_json_plan,
    find_prompt_plan,
    find_text_plan,
    is_planning_call,
    parse_call_plan,
    parse_planning_step,
)
from planproof.planning.plan_parser import parse_plan
from planproof.planning.plan_search import (
    Declaration,
    DeclarationKind,
    Declarer,
    PlanSearch,
    Rejection,
    Replan,
    SearchedCounts,
)
from planproof.planning.plan_timeline import diff_plans, restore_earlier_steps

_PLANNERS = ("planner", "orchestrator", "manager", "planning", "supervisor")
_TEXT_KINDS = frozenset({Kind.MESSAGE, Kind.REASONING})
_PROMPT_DECLARERS = frozenset({Declarer.SCAFFOLD, Declarer.USER})


@dataclass(frozen=True, slots=True)
class _RankedDeclaration:
    """A declaration with the index of its event; `certain` if it can only be a plan."""

    declaration: Declaration
    event_index: int
    certain: bool

    @property
    def rank(self) -> int:
        """The rank of the declaration: the lowest, and among equals the first, is in force."""
        declared = self.declaration
        if declared.declared_by is Declarer.SCAFFOLD:
            return 2
        if declared.declared_by is Declarer.USER:
            return 4 if declared.sort is DeclarationKind.PRESCRIBED_STEPS else 5
        if declared.before_acting:
            return 0 if self.certain else 1
        return 3 if self.certain else 6


def find_declared_plan(trace: Trace) -> PlanSearch:
    """Return the plan in force (the first one declared), its re-plans and rejected plans."""
    declarations = [one for one in _find_declarations(trace.events) if one.declaration.plan.steps]
    rejected: dict[int, Rejection] = {}
    for one in declarations:
        by = find_rejection(trace.events, one.event_index)
        if by is not None and one.declaration.declared_by not in _PROMPT_DECLARERS:
            rejected[one.event_index] = Rejection(declaration=one.declaration, rejected_at=by)
    accepted = [one for one in declarations if one.event_index not in rejected]
    if rejected:
        # A user who rejects a plan has not made their own words the plan.
        accepted = [one for one in accepted if one.declaration.declared_by is not Declarer.USER]
    chosen = min(accepted, key=lambda one: (one.rank, one.event_index), default=None)
    return PlanSearch(
        declaration=chosen.declaration if chosen else None,
        replans=tuple(_find_replans(chosen, accepted)) if chosen else (),
        rejected=tuple(rejected.values()),
        searched=_count_searched(trace.events),
    )


def _find_declarations(events: Sequence[Event]) -> Iterator[_RankedDeclaration]:
    """Yield every declared plan, except those of sub-agents."""
    first_action = _find_first_action(events)
    first_action_index = first_action[0] if first_action else len(events)
    created: list[str] = []
    for event_index, event in enumerate(events):
        if event.parent is not None:
            continue
        before = event_index < first_action_index or (
            first_action is not None and 0 < event.turn == first_action[1]
        )
        item = extract_task_item(event)
        if item is not None:
            created.append(item)
            if event_index + 1 == len(events) or extract_task_item(events[event_index + 1]) is None:
                plan = parse_plan(created)
                yield _build_declaration(
                    plan, event, event_index, DeclarationKind.TODO_LIST, before=before, certain=True
                )
        elif event.kind is Kind.BOOKKEEPING or event.kind is Kind.ACTION:
            yield from _find_in_call(event, event_index, before=before)
        elif event.actor == "user" or event.kind is Kind.SYSTEM:
            if before and (prompt_plan := find_prompt_plan(event)) is not None:
                yield _build_declaration(
                    prompt_plan.plan,
                    event,
                    event_index,
                    prompt_plan.sort,
                    before=True,
                    certain=False,
                    by=prompt_plan.declared_by,
                )
        elif event.kind in _TEXT_KINDS:
            yield from _find_in_text(event, event_index, before=before)


def _find_in_call(event: Event, event_index: int, *, before: bool) -> Iterator[_RankedDeclaration]:
    call_plan = parse_call_plan(event)
    if call_plan is not None:
        yield _build_declaration(
            call_plan.plan, event, event_index, call_plan.sort, before=before, certain=True
        )
    elif event.kind is Kind.BOOKKEEPING and event.text:
        marked = (event.name or "").lower() == "plan"
        plan = parse_planning_step(event.text) if marked else None
        if plan is not None:
            yield _build_declaration(
                plan, event, event_index, DeclarationKind.PLANNING_STEP, before=before, certain=True
            )
        elif not marked:
            yield from _find_in_text(event, event_index, before=before)


def _find_in_text(event: Event, event_index: int, *, before: bool) -> Iterator[_RankedDeclaration]:
    if _identify_declarer(event) is Declarer.PLANNER and (json_plan := find_json_plan(event.text)):
        yield _build_declaration(
            json_plan, event, event_index, DeclarationKind.JSON_PLAN, before=before, certain=True
        )
    elif (text_plan := find_text_plan(event.text, before_acting=before)) is not None:
        certain = text_plan.certain and text_plan.sort is not DeclarationKind.ANNOUNCED_LIST
        yield _build_declaration(
            text_plan.plan, event, event_index, text_plan.sort, before=before, certain=certain
        )


def _build_declaration(
    plan: Plan,
    event: Event,
    event_index: int,
    sort: DeclarationKind,
    *,
    before: bool,
    certain: bool,
    by: Declarer | None = None,
) -> _RankedDeclaration:
    declaration = Declaration(
        plan=replace(plan, origin=Origin.DECLARED),
        event=event.id,
        pointer=event.pointer,
        sort=sort,
        declared_by=by or _identify_declarer(event),
        actor=event.actor,
        before_acting=before,
    )
    return _RankedDeclaration(declaration, event_index, certain)


def _identify_declarer(event: Event) -> Declarer:
    named = (event.actor or "").lower()
    if any(word in named for word in _PLANNERS) or comes_from_manager(event.text):
        return Declarer.PLANNER
    return Declarer.AGENT


def _find_first_action(events: Sequence[Event]) -> tuple[int, int] | None:
    """Return the event index and the turn of the first action."""
    for event_index, event in enumerate(events):
        if event.kind is Kind.ACTION and event.actor != "user" and not is_planning_call(event):
            return event_index, event.turn
    return None


def _find_replans(
    chosen: _RankedDeclaration, accepted: Sequence[_RankedDeclaration]
) -> Iterator[Replan]:
    """Yield the later plans of the agent or planner, each compared with the one before it."""
    latest = chosen.declaration.plan
    for later in accepted:
        declared = later.declaration
        if later.event_index <= chosen.event_index or declared.declared_by in _PROMPT_DECLARERS:
            continue
        plan = restore_earlier_steps(latest, declared.plan)
        changes = diff_plans(latest, plan)
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


def _count_searched(events: Sequence[Event]) -> SearchedCounts:
    prompts = messages = notes = calls = 0
    for event in events:
        if event.kind is Kind.SYSTEM or event.actor == "user":
            prompts += 1
        elif event.kind in _TEXT_KINDS:
            messages += 1
        elif event.kind is Kind.BOOKKEEPING:
            notes += 1
        elif event.kind is Kind.ACTION:
            calls += 1
    return SearchedCounts(prompts, messages, notes, calls)


_REFUSED = re.compile(
    r"\b(?:user\s+(?:doesn['’]t|does\s+not|did\s+not|didn['’]t)\s+want\s+to\s+proceed|"
    r"(?:was|been)\s+rejected|user\s+(?:has\s+)?(?:rejected|declined|denied|cancelled|canceled)|"
    r"rejected\s+by\s+(?:the\s+)?user|plan\s+(?:was\s+)?rejected|not\s+approved|"
    r"user\s+chose\s+to\s+stay\s+in\s+plan\s+mode|keep\s+planning)\b",
    re.IGNORECASE,
)
_INTERRUPTED = re.compile(
    r"\W{0,5}request\s+(?:was\s+)?interrupted\s+by\s+(?:the\s+)?user", re.IGNORECASE
)
_LONGEST = 2_000


def find_rejection(events: Sequence[Event], event_index: int) -> str | None:
    """Return the id of the event in which the user rejected the plan declared at this index."""
    event = events[event_index]
    if _REFUSED.search(event.output[:_LONGEST]):
        return event.id
    for index in range(event_index + 1, len(events)):
        later = events[index]
        if later.actor == "user":
            return later.id if _INTERRUPTED.match(later.text) else None
        if later.kind is Kind.ACTION or later.kind is Kind.MESSAGE:
            return None
    return None
