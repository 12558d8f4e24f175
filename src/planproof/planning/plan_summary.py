"""What it means for a verdict that its plan was found in the trace, or that none was."""

from __future__ import annotations

from dataclasses import replace

from planproof.core.plan import InForce, Plan
from planproof.core.verdict import PlanSummary
from planproof.planning.located_plan import PlanSearch


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
