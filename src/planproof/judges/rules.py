"""The embedded judge: explicit rules over an alignment of plan and trace; no model, no network."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files

from planproof.alignment.affinity import affinities, shipped_weights
from planproof.alignment.demands import Demand, demands_of
from planproof.alignment.literals import Literal, LiteralKind
from planproof.alignment.order import out_of_order
from planproof.alignment.segmentation import freely, in_order
from planproof.alignment.terms import terms_of
from planproof.alignment.units import Unit, units_of
from planproof.content import Content
from planproof.finding import Evidence, Extra, Findings, Severity, Status, StepFinding
from planproof.judges.quoting import cite
from planproof.plan import Plan, Step
from planproof.trace import Kind, Trace
from planproof.vocabulary import Vocabulary

_LEAVE = {Kind.ACTION: 400, Kind.MESSAGE: 100}
_SKIP = 200
_JUMP = 70
_DISORDER = 450
_MOST_CITED = 5


@dataclass(frozen=True, slots=True)
class Rules:
    """Deterministic: the same bytes in, the same findings out, on every machine."""

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    name: str = "rules"

    @property
    def fingerprint(self) -> str:
        """Changes with the weights and the knowledge that the rules rest on."""
        return _fingerprint()

    def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
        """Hold the trace against the plan; the task neither adds a step nor excuses one."""
        del task
        units = units_of(trace, self.vocabulary)
        demands = demands_of(plan, self.vocabulary)
        assigned = _align(units, demands)
        runs = _runs(assigned, len(demands))
        moved = out_of_order(
            [
                None
                if not run or demand.step.free_order
                else (units[run[0]].position, units[run[0]].event.turn)
                for run, demand in zip(runs, demands, strict=True)
            ]
        )
        found = {
            demand.step.number: _finding(demand, [units[i] for i in run], moved=j in moved)
            for j, (demand, run) in enumerate(zip(demands, runs, strict=True))
        }
        return Findings(_with_parents(plan, found), _extras(units, assigned))


def _align(units: list[Unit], demands: list[Demand]) -> list[int]:
    affinity = affinities(units, demands, shipped_weights())
    leave = [_LEAVE.get(unit.event.kind, 0) for unit in units]
    ordered = in_order(affinity, leave, _SKIP, len(demands))
    free = freely(affinity, leave, _JUMP, len(demands))
    return free.steps if free.worth - ordered.worth > _DISORDER else ordered.steps


def _runs(assigned: list[int], steps: int) -> list[list[int]]:
    runs: list[list[int]] = [[] for _ in range(steps)]
    for index, step in enumerate(assigned):
        if step >= 0:
            runs[step].append(index)
    return runs


def _finding(demand: Demand, run: list[Unit], *, moved: bool) -> StepFinding:
    step = demand.step
    if not run:
        return StepFinding(
            number=step.number,
            text=step.text,
            status=Status.MISSING,
            sureness=0.7,
            parent=step.parent,
            waived=step.optional,
            free_order=step.free_order,
            note="no event shows it",
        )
    absent = _absent(demand, run)
    status = Status.OUT_OF_ORDER if moved else Status.PARTIAL if absent else Status.EXECUTED
    note = f"no event of it has {absent[0].text}" if absent and not moved else ""
    return StepFinding(
        number=step.number,
        text=step.text,
        status=status,
        sureness=0.7,
        evidence=_evidence(step, run),
        covers=tuple(unit.event.id for unit in run),
        note=note,
        parent=step.parent,
        free_order=step.free_order,
    )


def _absent(demand: Demand, run: list[Unit]) -> list[Literal]:
    """The values that the step names and that stand in none of its events."""
    return [
        literal
        for literal in demand.literals
        if literal.kind is not LiteralKind.NAME
        and not any(
            form in unit.call_text or form in unit.output_text
            for unit in run
            for form in literal.forms
        )
    ]


def _evidence(step: Step, run: list[Unit]) -> tuple[Evidence, ...]:
    wanted = terms_of(step.text)
    return tuple(cite(unit.event, wanted) for unit in run[:_MOST_CITED])


def _extras(units: list[Unit], assigned: list[int]) -> tuple[Extra, ...]:
    extras: list[Extra] = []
    done: set[tuple[str | None, str]] = set()
    for unit, step in zip(units, assigned, strict=True):
        event = unit.event
        if event.kind is not Kind.ACTION:
            continue
        call = (event.name, unit.call_text)
        if step < 0:
            repeat = call in done
            evidence = cite(event, frozenset())
            extras.append(
                Extra(
                    event=event.id,
                    pointer=evidence.pointer,
                    quote=evidence.quote,
                    what=event.name or "action",
                    severity=Severity.MINOR if repeat or unit.closing else Severity.MAJOR,
                    sureness=0.7,
                )
            )
        done.add(call)
    return tuple(extras)


def _with_parents(plan: Plan, found: dict[str, StepFinding]) -> tuple[StepFinding, ...]:
    """The findings of all steps; a parent is executed when its leaves are."""
    findings: dict[str, StepFinding] = dict(found)
    for step in reversed(plan.steps):
        if step.number in findings:
            continue
        leaves = [findings[s.number] for s in plan.steps if s.parent == step.number]
        executed = all(leaf.status is Status.EXECUTED or leaf.waived for leaf in leaves)
        evidence = tuple(item for leaf in leaves for item in leaf.evidence)
        findings[step.number] = StepFinding(
            number=step.number,
            text=step.text,
            status=Status.EXECUTED if executed else Status.PARTIAL if evidence else Status.MISSING,
            sureness=min((leaf.sureness for leaf in leaves), default=0.0),
            evidence=evidence[:_MOST_CITED],
            parent=step.parent,
            note="as its sub-steps",
        )
    return tuple(findings[step.number] for step in plan.steps)


@cache
def _fingerprint() -> str:
    digest = sha256()
    folder = files("planproof.alignment")
    for name in (
        "weights.json",
        "knowledge/concepts.txt",
        "knowledge/commands.txt",
        "knowledge/deeds.txt",
    ):
        digest.update(folder.joinpath(name).read_bytes())
    return digest.hexdigest()[:12]
