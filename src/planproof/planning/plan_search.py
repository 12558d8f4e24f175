"""The result of searching a trace for a plan: its declaration, re-plans and rejections."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from planproof.core.plan import InForce, Plan
from planproof.core.verdict import PlanSummary


class DeclarationKind(StrEnum):
    """The kind of declaration by which a plan was found."""

    TODO_LIST = "todo_list"
    """A to-do tool: TodoWrite, update_plan, write_todos and the like."""
    PLAN_MODE = "plan_mode"
    """A plan submitted to the user: ExitPlanMode."""
    PLANNING_STEP = "planning_step"
    """A span, step or ledger that its format marks as the plan."""
    JSON_PLAN = "json_plan"
    """A message that is a plan written as JSON, as by planner agents."""
    CHECKLIST = "checklist"
    """Items with checkboxes."""
    ANNOUNCED_LIST = "announced_list"
    """A list that is announced ("here is my plan"), or that is the whole message."""
    PRESCRIBED_STEPS = "prescribed_steps"
    """Steps that a prompt tells the agent to follow."""
    REQUESTED_STEPS = "requested_steps"
    """Steps that the user requested, in order."""


class Declarer(StrEnum):
    """The author of a plan declaration."""

    AGENT = "agent"
    PLANNER = "planner"
    """A planner, manager or orchestrator, on behalf of the acting agents."""
    SCAFFOLD = "scaffold"
    """The prompt around the user's request."""
    USER = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A plan and the event that declared it. `actor` is the name of the declarer in the trace."""

    plan: Plan
    event: str
    pointer: str
    sort: DeclarationKind
    declared_by: Declarer
    actor: str | None
    before_acting: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Replan:
    """A later plan, and the items that it adds, drops or rewords.

    `plan` is complete: a list that continues from a later number keeps the steps before it.
    `reordered`: items of both plans are in a different order.
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
    """A plan that the user rejected, and the event in which they did."""

    declaration: Declaration
    rejected_at: str


@dataclass(frozen=True, slots=True)
class SearchedCounts:
    """The number of events that were searched for a plan."""

    prompts: int = 0
    """System prompts and user messages before the agent acted."""
    messages: int = 0
    """Messages and reasoning of the agent."""
    notes: int = 0
    """To-do lists, plan spans and other bookkeeping."""
    calls: int = 0
    """Tool calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSearch:
    """The plan in force, if any was declared; re-plans, rejected plans and search counts."""

    declaration: Declaration | None = None
    replans: tuple[Replan, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    searched: SearchedCounts = SearchedCounts()

    @property
    def plan(self) -> Plan | None:
        """The plan in force."""
        return self.declaration.plan if self.declaration else None


def summarize_plan(plan: Plan, search: PlanSearch, in_force: InForce = "first") -> PlanSummary:
    """Return a plan that was searched for in the trace, as reported in a verdict."""
    bare = PlanSummary(origin=plan.origin.value, steps=len(plan.leaves))
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
    """Explain why no plan is in force: the user rejected it, or the trace declares none."""
    if search.rejected:
        last = search.rejected[-1]
        return (
            f"The plan declared at {last.declaration.event} was rejected by the user at "
            f"{last.rejected_at}, and no other plan was declared."
        )
    seen = search.searched
    return (
        "No plan was given, and none was found in the trace (searched "
        f"{_pluralize(seen.prompts, 'prompt')}, {_pluralize(seen.messages, 'message')}, "
        f"{_pluralize(seen.notes, 'note')} and {_pluralize(seen.calls, 'call')})."
    )


def _pluralize(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
