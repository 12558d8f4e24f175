"""What became of a step: its status, read off the events that explain it."""

from __future__ import annotations

from collections.abc import Sequence

from planproof.alignment.demands import Demand
from planproof.alignment.explanation import Explanation
from planproof.alignment.units import Unit
from planproof.finding import Evidence, Status, StepFinding
from planproof.judges.conditions import evidence_against
from planproof.judges.grounding import ungrounded
from planproof.judges.quoting import cite
from planproof.judges.sureness import of_execution, of_lapse
from planproof.trace import Kind

_MOST_CITED = 5
_KEPT = frozenset({"plan", "change", "think"})
"""Sorts of deed that a to-do list, a ledger or a think-aloud tool may do."""


def finding_of(
    step: int, demand: Demand, explanation: Explanation, units: Sequence[Unit]
) -> StepFinding:
    """The finding on one step, as far as it does not depend on the order of the others."""
    run = [units[index] for index in explanation.runs[step]]
    fit = max((row[step] for row in explanation.affinity), default=0)
    if not run:
        return _without_events(demand, units, fit)
    thought = demand.thinks and any(unit.event.kind is Kind.REASONING for unit in run)
    if demand.of_deeds and not thought and all(_noted(unit, demand) for unit in run):
        # A claim is not evidence of an action: what is only spoken of may not have been done.
        return _finding(demand, Status.AMBIGUOUS, run, of_lapse(fit), "it is only spoken of")
    lacking = ungrounded(demand, _around(step, explanation.runs, units), units)
    if lacking:
        return _finding(demand, Status.PARTIAL, run, of_lapse(-fit), "; ".join(lacking))
    return _finding(demand, Status.EXECUTED, run, of_execution(fit), "")


def _noted(unit: Unit, demand: Demand) -> bool:
    """Whether a unit only speaks of the step, or ticks it off."""
    if unit.event.kind is not Kind.BOOKKEEPING:
        return unit.said
    named = unit.event.name is not None and unit.event.name.lower() in demand.folded
    return not named and not any(deeds & _KEPT for deeds in demand.deeds)


def _without_events(demand: Demand, units: Sequence[Unit], fit: int) -> StepFinding:
    step = demand.step
    status, evidence, note = Status.MISSING, tuple[Evidence, ...](), ""
    if step.condition is not None:
        against = evidence_against(step.condition, units)
        if against is not None:
            status, evidence, note = Status.EXECUTED, (against,), "its condition did not hold"
        else:
            status, note = Status.AMBIGUOUS, "nothing shows whether its condition held"
    return StepFinding(
        number=step.number,
        text=step.text,
        status=status,
        sureness=of_lapse(fit),
        evidence=evidence,
        note=note,
        parent=step.parent,
        waived=step.optional and status is not Status.EXECUTED,
        free_order=step.free_order,
    )


def _finding(
    demand: Demand, status: Status, run: Sequence[Unit], sureness: float, note: str
) -> StepFinding:
    step = demand.step
    events = list({unit.event.id: unit.event for unit in run}.values())
    wanted = frozenset(stem for word in demand.words for stem in word.stems)
    return StepFinding(
        number=step.number,
        text=step.text,
        status=status,
        sureness=sureness,
        evidence=tuple(cite(event, wanted) for event in events[:_MOST_CITED]),
        covers=tuple(event.id for event in events),
        note=note,
        parent=step.parent,
        free_order=step.free_order,
    )


def _around(step: int, runs: Sequence[Sequence[int]], units: Sequence[Unit]) -> list[Unit]:
    """The units of a step and those beside them that no neighbour claims."""
    run = runs[step]
    others = {index for k, other in enumerate(runs) if k != step for index in other}
    first, last = run[0], run[-1]
    while first > 0 and first - 1 not in others:
        first -= 1
    while last + 1 < len(units) and last + 1 not in others:
        last += 1
    return [units[i] for i in range(first, last + 1) if i in run or i not in others]
