"""What is said of a plan that was found in a trace: where, by whom, how, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from planproof.core.plan import InForce, Plan
from planproof.core.verdict import PlanSummary


class DeclarationKind(StrEnum):
    """By what sort of declaration a plan was made known."""

    TODO_LIST = "todo_list"
    """A to-do tool: TodoWrite, update_plan, write_todos and the like."""
    PLAN_MODE = "plan_mode"
    """A plan put before the user: ExitPlanMode."""
    PLANNING_STEP = "planning_step"
    """A span, a step or a ledger that its format itself marks as the plan."""
    JSON_PLAN = "json_plan"
    """A message that is a plan written as JSON, as planner agents do."""
    CHECKLIST = "checklist"
    """Items with boxes to tick."""
    ANNOUNCED_LIST = "announced_list"
    """A list that is announced ("here is my plan"), or that is all that was said."""
    PRESCRIBED_STEPS = "prescribed_steps"
    """Steps that a prompt tells the agent to follow."""
    REQUESTED_STEPS = "requested_steps"
    """What the user asked for, one thing after the other."""


class Declarer(StrEnum):
    """Who declared a plan."""

    AGENT = "agent"
    PLANNER = "planner"
    """A planner, a manager or an orchestrator, for the agents that act."""
    SCAFFOLD = "scaffold"
    """The prompt around the user's request."""
    USER = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A plan, and the event that declared it. `actor` is what the trace calls the one who did."""

    plan: Plan
    event: str
    pointer: str
    sort: DeclarationKind
    declared_by: Declarer
    actor: str | None
    before_acting: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Replan:
    """A later plan, and what of the one before it it adds, drops and says in other words.

    `plan` is the whole of it: a list that goes on from a later number leaves the others standing.
    `reordered` says that items of both stand in another order.
    """

    event: str
    pointer: str
    plan: Plan
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    reordered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A plan that the user turned down, and the event that says so."""

    declaration: Declaration
    rejected_at: str


@dataclass(frozen=True, slots=True)
class SearchedCounts:
    """How much was searched for a plan."""

    prompts: int = 0
    """System prompts and what the user wrote before the agent acted."""
    messages: int = 0
    """Messages and reasoning of the agent."""
    notes: int = 0
    """To-do lists, plan spans and other bookkeeping."""
    calls: int = 0
    """Calls of tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSearch:
    """The plan in force, if any was declared; later plans, rejected ones, and what was searched."""

    declaration: Declaration | None = None
    replans: tuple[Replan, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    searched: SearchedCounts = SearchedCounts()

    @property
    def plan(self) -> Plan | None:
        """The plan in force."""
        return self.declaration.plan if self.declaration else None


def summarize_plan(
    plan: Plan, search: PlanSearch | None, in_force: InForce = "first"
) -> PlanSummary:
    """The plan as a verdict tells of it; `located` is nothing when the plan was given."""
    bare = PlanSummary(origin=plan.origin.value, steps=len(plan.leaves))
    if search is None:
        return bare
    rejected = tuple(rejection.declaration.event for rejection in search.rejected)
    declared = search.declaration
    if declared is None:
        return replace(bare, rejected=rejected)
    return replace(
        bare,
        event=declared.event,
        pointer=declared.pointer,
        sort=declared.sort.value,
        declared_by=declared.declared_by.value,
        before_acting=declared.before_acting,
        replans=tuple(replan.event for replan in search.replans),
        rejected=rejected,
        in_force=in_force,
    )


def explain_missing_plan(search: PlanSearch) -> str:
    """Why no plan is in force: the user rejected it, or none stands anywhere in the trace."""
    if search.rejected:
        last = search.rejected[-1]
        return (
            f"The plan declared at {last.declaration.event} was rejected by the user at "
            f"{last.rejected_at} "
            "and no other was declared, so no plan was in force."
        )
    seen = search.searched
    return (
        "No plan was given, and none is declared in the trace: looked at "
        f"{_pluralize(seen.prompts, 'prompt')}, {_pluralize(seen.messages, 'message')}, "
        f"{_pluralize(seen.notes, 'note')} and {_pluralize(seen.calls, 'call')}."
    )


def _pluralize(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
