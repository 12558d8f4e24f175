"""The plan that was found in a trace: for people, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from planproof.core.content import Json
from planproof.core.finding import Evidence
from planproof.core.plan import Plan
from planproof.planning.located_plan import Declaration, Located, Rejection, Replan
from planproof.planning.plan_summary import why_no_plan
from planproof.reports.terminal.lines import cut
from planproof.reports.wording import SORTS, Show, cost_line

if TYPE_CHECKING:
    from planproof.llm.infer_plan import InferredPlan

_LONGEST_TEXT = 240


def plan_lines(located: Located, show: Show) -> Iterator[str]:
    """The steps, where they were found and who declared them; later plans and rejected ones."""
    if located.declaration is None:
        yield why_no_plan(located)
    else:
        yield from _declared(located.declaration, show)
    for replan in located.replans:
        yield f"planned anew at {show(replan.event)}"
        yield from _changes(replan, show)
    for rejection in located.rejected:
        declared = rejection.declaration
        yield f"rejected by the user at {show(rejection.by)}: the plan at {show(declared.event)}"
        yield from _steps(declared.plan, show)


def plan_json(located: Located) -> str:
    """The same as JSON; nothing is masked or cut."""
    declared = located.declaration
    seen = located.looked_at
    value: dict[str, Json] = {
        "plan": declared and _declaration_value(declared),
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
        "rejected": [_rejection_value(rejection) for rejection in located.rejected],
        "looked_at": {name: getattr(seen, name) for name in seen.__slots__},
    }
    return json.dumps(value, indent=2)


def inferred_lines(inferred: InferredPlan, show: Show) -> Iterator[str]:
    """The steps of a plan that a model drew from the trace, each with its quote."""
    yield f"inferred by {show(inferred.model)} from what the trace shows; no plan was declared"
    if inferred.task is not None:
        yield f"task, at {show(inferred.task.event)}: {_quoted(inferred.task, show)}"
    widest = len(str(len(inferred.evidence)))
    for step, evidence in zip(inferred.plan.steps, inferred.evidence, strict=True):
        yield f"  {step.number:>{widest}}  {cut(show(step.text), _LONGEST_TEXT)}"
        yield f"  {'':>{widest}}  {show(evidence.event)} {_quoted(evidence, show)}"
    for each in inferred.rejected:
        what = "task" if each.step is None else cut(show(each.step), _LONGEST_TEXT)
        yield f"left out: {what}: {show(each.event)} {each.why}"
    yield f"asked: {cost_line(inferred.usage)}"


def inferred_json(inferred: InferredPlan) -> str:
    """The same as JSON, which `--plan` takes; nothing is masked or cut."""
    steps: list[Json] = [
        {"number": step.number, "text": step.text, **_evidence_value(evidence)}
        for step, evidence in zip(inferred.plan.steps, inferred.evidence, strict=True)
    ]
    task = inferred.task and _evidence_value(inferred.task)
    value: dict[str, Json] = {
        "plan": {"origin": inferred.plan.origin.value, "model": inferred.model, "steps": steps},
        "task": task,
        "rejected": [asdict(each) for each in inferred.rejected],
        "cost": asdict(inferred.usage),
    }
    return json.dumps(value, indent=2)


def _evidence_value(evidence: Evidence) -> dict[str, Json]:
    return {"event": evidence.event, "pointer": evidence.pointer, "quote": evidence.quote}


def _quoted(evidence: Evidence, show: Show) -> str:
    return f"“{cut(show(evidence.quote), _LONGEST_TEXT)}”"


def _declared(declared: Declaration, show: Show) -> Iterator[str]:
    how = f"{SORTS[declared.sort]} of the {declared.declared_by}"
    who = f" ({show(declared.actor)})" if declared.actor else ""
    when = "before acting" if declared.before_acting else "after acting had begun"
    yield f"{how}{who} at {show(declared.event)}, {when}"
    yield show(declared.pointer)
    yield from _steps(declared.plan, show)


def _steps(plan: Plan, show: Show) -> Iterator[str]:
    widest = max(len(step.number) for step in plan.steps)
    for step in plan.steps:
        yield f"  {show(step.number):>{widest}}  {cut(show(step.text), _LONGEST_TEXT)}"


def _changes(replan: Replan, show: Show) -> Iterator[str]:
    yield from (f"  added    {cut(show(text), _LONGEST_TEXT)}" for text in replan.added)
    yield from (f"  dropped  {cut(show(text), _LONGEST_TEXT)}" for text in replan.dropped)
    for old, new in replan.renamed:
        yield f"  renamed  {cut(show(old), _LONGEST_TEXT)}"
        yield f"       to  {cut(show(new), _LONGEST_TEXT)}"
    if replan.reordered:
        yield "  in another order"


def _declaration_value(declared: Declaration) -> dict[str, Json]:
    return {
        "origin": declared.plan.origin.value,
        "event": declared.event,
        "pointer": declared.pointer,
        "sort": declared.sort.value,
        "declared_by": declared.declared_by.value,
        "actor": declared.actor,
        "before_acting": declared.before_acting,
        "steps": [
            {"number": step.number, "text": step.text, "parent": step.parent}
            for step in declared.plan.steps
        ],
    }


def _rejection_value(rejection: Rejection) -> Json:
    return {**_declaration_value(rejection.declaration), "rejected_at": rejection.by}
