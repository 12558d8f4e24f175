"""What became of a step: its status, read off the events that explain it."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Mapping, Sequence
from itertools import islice

from planproof.checking.alignment import Explanation
from planproof.checking.candidates import Unit
from planproof.checking.confidence import signs_of_step, sureness_of
from planproof.checking.grounding import ungrounded
from planproof.checking.quoting import cite
from planproof.checking.requirements import Demand
from planproof.checking.step_conditions import evidence_against
from planproof.core.finding import Evidence, Status, StepFinding
from planproof.core.trace import EventStatus, Kind

_MOST_CITED = 3
_SECURES = re.compile(
    r"\W*(?:(?:then|and|also|next|finally)\W+)*(?:confirm|ensure|verify|make (?:quite )?sure)\b",
    re.IGNORECASE,
)
_EXPECTS_FAILURE = re.compile(
    r"\b(?:fail|error|reject|refus|den(?:y|ied)|invalid|no\b|not\b)", re.IGNORECASE
)
_KEPT = frozenset({"plan", "change", "think"})
"""Sorts of deed that a to-do list, a ledger or a think-aloud tool may do."""


def finding_of(
    step: int,
    demand: Demand,
    explanation: Explanation,
    units: Sequence[Unit],
    actors: frozenset[str],
) -> StepFinding:
    """The finding on one step, as far as it does not depend on the order of the others.

    `actors` are all who did anything, in lower case.
    """
    run = [units[index] for index in explanation.runs[step]]
    signs = signs_of_step(step, demand, explanation, units)
    if not run:
        return _without_events(demand, _when_due(step, explanation, units), signs)
    if not any(unit.counts_for(demand.folded) for unit in run):
        status, lacking = Status.AMBIGUOUS, ["the call only prints or notes it"]
    elif demand.of_deeds and not _thought(demand, run) and all(_noted(u, demand) for u in run):
        # A claim is not evidence of an action: what is only spoken of may not have been done.
        status, lacking = Status.AMBIGUOUS, ["it is only spoken of"]
    elif demand.only_says and "ask" in demand.asked and _is_thought(run):
        # Nobody hears what is only thought; what is told may stand beside a call.
        status, lacking = Status.AMBIGUOUS, ["it is only thought"]
    else:
        around = _around(explanation.runs[step], explanation.taken, units)
        lacking = ungrounded(demand, around, units, actors)
        if _not_secured(demand, run, around):
            lacking.append("what it should make sure of did not come about")
        status = Status.PARTIAL if lacking else Status.EXECUTED
    return _finding(demand, status, run, sureness_of(status, signs), "; ".join(lacking))


def _is_thought(run: Sequence[Unit]) -> bool:
    return all(unit.event.kind is Kind.REASONING for unit in run)


def _thought(demand: Demand, run: Sequence[Unit]) -> bool:
    """Whether a step that can be done in thought was; to verify something takes more than that."""
    thinks = demand.thinks and not _SECURES.match(demand.parts[-1].text)
    return thinks and any(unit.event.kind is Kind.REASONING for unit in run)


def _not_secured(demand: Demand, run: Sequence[Unit], around: Sequence[Unit]) -> bool:
    """Whether a step that is to secure an outcome ended in an error; any other attempt counts."""
    part = demand.parts[-1].text
    if not _SECURES.match(part) or _EXPECTS_FAILURE.search(part):
        return False
    tools = [unit.event.name for unit in run if unit.event.kind is Kind.ACTION]
    last = [unit.event for unit in around if tools and unit.event.name == tools[-1]][-1:]
    return any(event.status is EventStatus.ERROR for event in last)


def _noted(unit: Unit, demand: Demand) -> bool:
    """Whether a unit only speaks of the step, or ticks it off."""
    if not unit.counts_for(demand.folded):
        return True
    if unit.event.kind is not Kind.BOOKKEEPING:
        return unit.said
    named = unit.event.name is not None and unit.event.name.lower() in demand.folded
    return not named and not any(deeds & _KEPT for deeds in demand.deeds)


def _without_events(
    demand: Demand, units: Sequence[Unit], signs: Mapping[str, float]
) -> StepFinding:
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
        sureness=sureness_of(status, signs),
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
    events = {unit.event.id: unit.event for unit in run}
    cited = islice(events.values(), _MOST_CITED)
    return StepFinding(
        number=step.number,
        text=step.text,
        status=status,
        sureness=sureness,
        evidence=tuple([cite(event, demand.stems) for event in cited]),
        covers=tuple(events),
        note=note,
        parent=step.parent,
        free_order=step.free_order,
    )


def _when_due(step: int, explanation: Explanation, units: Sequence[Unit]) -> Sequence[Unit]:
    """The units from where the step before began to where the step after begins."""
    runs, begun = explanation.runs, explanation.begun
    at = bisect(begun, step)
    before = runs[begun[at - 1]][0] if at else 0
    after = runs[begun[at]][0] if at < len(begun) else len(units) - 1
    return units[before : after + 1]


def _around(run: Sequence[int], taken: frozenset[int], units: Sequence[Unit]) -> list[Unit]:
    """The units of a step and those beside them that no neighbour claims."""
    first, last = run[0], run[-1]
    while first > 0 and first - 1 not in taken:
        first -= 1
    while last + 1 < len(units) and last + 1 not in taken:
        last += 1
    own = frozenset(run)
    return [units[i] for i in range(first, last + 1) if i in own or i not in taken]
