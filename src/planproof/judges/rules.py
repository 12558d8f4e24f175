"""The embedded judge: explicit rules over an alignment of plan and trace; no model, no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from importlib.resources import files

from planproof.alignment.affinity import affinity_of, shipped_weights
from planproof.alignment.demands import Demand, demands_of
from planproof.alignment.explanation import explain
from planproof.alignment.order import out_of_order
from planproof.alignment.units import Unit, units_of
from planproof.content import Content
from planproof.finding import Findings, Status, StepFinding
from planproof.judges.extras import extras_of
from planproof.judges.restatements import without_restatements
from planproof.judges.statuses import finding_of
from planproof.judges.turns import after_user
from planproof.plan import Plan
from planproof.trace import Trace
from planproof.vocabulary import Vocabulary

_PRESENT = frozenset({Status.EXECUTED, Status.PARTIAL})
_RESTS_ON = (
    "weights.json",
    "knowledge/commands.txt",
    "knowledge/concepts.txt",
    "knowledge/deeds.txt",
    "knowledge/places.txt",
)


@dataclass(frozen=True, slots=True)
class Rules:
    """Deterministic: the same bytes in, the same findings out, on every machine."""

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    name: str = "rules"

    @property
    def fingerprint(self) -> str:
        """Changes with the weights, the knowledge and the vocabulary that the rules rest on."""
        known = self.vocabulary
        declared = repr(
            (sorted(known.bookkeeping), sorted(known.closing), sorted(known.aliases.items()))
        )
        return sha256(f"{_fingerprint()}{declared}".encode()).hexdigest()[:12]

    def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
        """Hold the trace against the plan; the task neither adds a step nor excuses one."""
        del task
        units = units_of(without_restatements(trace, plan), self.vocabulary)
        demands = demands_of(plan, self.vocabulary)
        explanation = explain(units, demands, affinity_of(units, demands, shipped_weights()))
        actors = _actors(units, demands)
        found = [
            finding_of(step, demand, explanation, units, actors)
            for step, demand in enumerate(demands)
        ]
        steps = _with_parents(
            plan, _with_helpers(trace, _with_speakers(trace, _in_order(trace, found)))
        )
        return Findings(steps, extras_of(units, explanation, trace, steps))


def _actors(units: Sequence[Unit], demands: Sequence[Demand]) -> frozenset[str]:
    """Who did anything, and who should have: agents that the plan gives steps to by name."""
    acting = frozenset(unit.manner.actor for unit in units)
    charged = frozenset(demand.subject for demand in demands if demand.subject)
    return acting | charged if acting & charged else acting


def _in_order(trace: Trace, found: list[StepFinding]) -> list[StepFinding]:
    """The same findings, with the fewest steps out of order that would have to move."""
    places = {event.id: (place, event.turn) for place, event in enumerate(trace.events)}
    moved = out_of_order(
        [
            places[finding.evidence[0].event]
            if finding.status in _PRESENT and not finding.free_order
            else None
            for finding in found
        ]
    )
    return [
        replace(finding, status=Status.OUT_OF_ORDER, note="") if step in moved else finding
        for step, finding in enumerate(found)
    ]


def _with_speakers(trace: Trace, found: list[StepFinding]) -> list[StepFinding]:
    """The same findings; the note on a lapse says if it began right after the user spoke."""
    speakers = after_user(trace)
    noted: list[StepFinding] = []
    for finding in found:
        speaker = speakers.get(finding.covers[0]) if finding.covers else None
        if speaker is not None and finding.status is not Status.EXECUTED:
            notes = (finding.note, f"after the user spoke at {speaker}")
            noted.append(replace(finding, note="; ".join(filter(None, notes))))
        else:
            noted.append(finding)
    return noted


def _with_helpers(trace: Trace, found: list[StepFinding]) -> dict[str, StepFinding]:
    """By number; what a sub-agent did counts for the step that handed over to it."""
    owner = {event: index for index, finding in enumerate(found) for event in finding.covers}
    for event in trace.events:
        if event.parent in owner and event.id not in owner:
            index = owner[event.parent]
            owner[event.id] = index
            found[index] = replace(found[index], covers=(*found[index].covers, event.id))
    return {finding.number: finding for finding in found}


def _with_parents(plan: Plan, found: dict[str, StepFinding]) -> tuple[StepFinding, ...]:
    """The findings of all steps; a parent is executed when its leaves are."""
    for step in reversed(plan.steps):
        if step.number in found:
            continue
        below = [found[other.number] for other in plan.steps if other.parent == step.number]
        evidence = tuple(item for finding in below for item in finding.evidence)
        executed = all(finding.status is Status.EXECUTED or finding.waived for finding in below)
        found[step.number] = StepFinding(
            number=step.number,
            text=step.text,
            status=Status.EXECUTED if executed else Status.PARTIAL if evidence else Status.MISSING,
            sureness=min((finding.sureness for finding in below), default=0.0),
            evidence=evidence,
            note="as its sub-steps",
            parent=step.parent,
        )
    return tuple(found[step.number] for step in plan.steps)


@cache
def _fingerprint() -> str:
    folder = files("planproof.alignment")
    digest = sha256()
    for name in _RESTS_ON:
        digest.update(folder.joinpath(name).read_bytes())
    return digest.hexdigest()
