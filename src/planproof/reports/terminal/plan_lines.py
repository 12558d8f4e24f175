"""Plans found in or inferred from a trace, for the terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from planproof.core.content import Json
from planproof.core.finding import Evidence
from planproof.core.plan import Plan
from planproof.planning.plan_search import (
    Declaration,
    PlanSearch,
    Rejection,
    Replan,
    explain_missing_plan,
)
from planproof.reports.terminal.lines import truncate
from planproof.reports.wording import DECLARATION_LABELS, TextSanitizer, format_cost

if TYPE_CHECKING:
    from planproof.llm.infer_plan import InferredPlan

_MAX_TEXT_LENGTH = 240


def format_located_plan(located: PlanSearch, show: TextSanitizer) -> Iterator[str]:
    """Format the steps, where and by whom they were declared; later plans and rejected ones."""
    if located.declaration is None:
        yield explain_missing_plan(located)
    else:
        yield from _format_declaration(located.declaration, show)
    for replan in located.replans:
        yield f"replanned at {show(replan.event)}"
        yield from _format_replan_changes(replan, show)
    for rejection in located.rejected:
        declaration = rejection.declaration
        yield (
            f"rejected by the user at {show(rejection.rejected_at)}: the plan at "
            f"{show(declaration.event)}"
        )
        yield from _format_steps(declaration.plan, show)


def located_plan_to_json(located: PlanSearch) -> str:
    """Return a located plan as JSON; nothing is masked or truncated."""
    declaration = located.declaration
    search_counts = located.searched
    value: dict[str, Json] = {
        "plan": declaration and _declaration_to_dict(declaration),
        "replans": [
            {
                "event": replan.event,
                "pointer": replan.pointer,
                "added": list(replan.added),
                "dropped": list(replan.dropped),
                "renamed": [list(pair) for pair in replan.renamed],
                "reordered": replan.reordered,
            }
            for replan in located.replans
        ],
        "rejected": [_rejection_to_dict(rejection) for rejection in located.rejected],
        "looked_at": {name: getattr(search_counts, name) for name in search_counts.__slots__},
    }
    return json.dumps(value, indent=2)


def format_inferred_plan(inferred: InferredPlan, show: TextSanitizer) -> Iterator[str]:
    """Format the steps of a plan that a model inferred from the trace, each with its quote."""
    yield f"inferred by {show(inferred.model)} from the trace; no plan was declared"
    if inferred.task is not None:
        yield f"task, at {show(inferred.task.event)}: {_format_quote(inferred.task, show)}"
    widest = len(str(len(inferred.evidence)))
    for step, evidence in zip(inferred.plan.steps, inferred.evidence, strict=True):
        yield f"  {step.number:>{widest}}  {truncate(show(step.text), _MAX_TEXT_LENGTH)}"
        yield f"  {'':>{widest}}  {show(evidence.event)} {_format_quote(evidence, show)}"
    for rejection in inferred.rejected:
        subject = (
            "task" if rejection.step is None else truncate(show(rejection.step), _MAX_TEXT_LENGTH)
        )
        yield f"left out: {subject}: {show(rejection.event)} {rejection.why}"
    yield f"model usage: {format_cost(inferred.usage)}"


def inferred_plan_to_json(inferred: InferredPlan) -> str:
    """Return an inferred plan as JSON, as read by `--plan`; nothing is masked or truncated."""
    steps: list[Json] = [
        {"number": step.number, "text": step.text, **_evidence_to_dict(evidence)}
        for step, evidence in zip(inferred.plan.steps, inferred.evidence, strict=True)
    ]
    task = inferred.task and _evidence_to_dict(inferred.task)
    value: dict[str, Json] = {
        "plan": {"origin": inferred.plan.origin.value, "model": inferred.model, "steps": steps},
        "task": task,
        "rejected": [asdict(rejection) for rejection in inferred.rejected],
        "cost": asdict(inferred.usage),
    }
    return json.dumps(value, indent=2)


def _evidence_to_dict(evidence: Evidence) -> dict[str, Json]:
    return {"event": evidence.event, "pointer": evidence.pointer, "quote": evidence.quote}


def _format_quote(evidence: Evidence, show: TextSanitizer) -> str:
    return f"“{truncate(show(evidence.quote), _MAX_TEXT_LENGTH)}”"


def _format_declaration(declaration: Declaration, show: TextSanitizer) -> Iterator[str]:
    source = f"{DECLARATION_LABELS[declaration.sort]} of the {declaration.declared_by}"
    actor = f" ({show(declaration.actor)})" if declaration.actor else ""
    when = "before acting" if declaration.before_acting else "after acting began"
    yield f"{source}{actor} at {show(declaration.event)}, {when}"
    yield show(declaration.pointer)
    yield from _format_steps(declaration.plan, show)


def _format_steps(plan: Plan, show: TextSanitizer) -> Iterator[str]:
    widest = max(len(step.number) for step in plan.steps)
    for step in plan.steps:
        yield f"  {show(step.number):>{widest}}  {truncate(show(step.text), _MAX_TEXT_LENGTH)}"


def _format_replan_changes(replan: Replan, show: TextSanitizer) -> Iterator[str]:
    yield from (f"  added    {truncate(show(text), _MAX_TEXT_LENGTH)}" for text in replan.added)
    yield from (f"  dropped  {truncate(show(text), _MAX_TEXT_LENGTH)}" for text in replan.dropped)
    for old, new in replan.renamed:
        yield f"  renamed  {truncate(show(old), _MAX_TEXT_LENGTH)}"
        yield f"       to  {truncate(show(new), _MAX_TEXT_LENGTH)}"
    if replan.reordered:
        yield "  reordered"


def _declaration_to_dict(declaration: Declaration) -> dict[str, Json]:
    return {
        "origin": declaration.plan.origin.value,
        "event": declaration.event,
        "pointer": declaration.pointer,
        "sort": declaration.sort.value,
        "declared_by": declaration.declared_by.value,
        "actor": declaration.actor,
        "before_acting": declaration.before_acting,
        "steps": [
            {"number": step.number, "text": step.text, "parent": step.parent}
            for step in declaration.plan.steps
        ],
    }


def _rejection_to_dict(rejection: Rejection) -> Json:
    return {**_declaration_to_dict(rejection.declaration), "rejected_at": rejection.rejected_at}
