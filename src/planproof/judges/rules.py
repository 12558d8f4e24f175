"""The embedded judge: explicit rules over an alignment of plan and trace; no model, no network."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files

from planproof.alignment.affinity import affinity_of, shipped_weights
from planproof.alignment.demands import Demand, demands_of
from planproof.alignment.order import out_of_order
from planproof.alignment.explanation import explain
from planproof.alignment.terms import terms_of
from planproof.alignment.units import Unit, units_of
from planproof.content import Content
from planproof.finding import Evidence, Extra, Findings, Severity, Status, StepFinding
from planproof.judges.grounding import ungrounded
from planproof.judges.quoting import cite
from planproof.plan import Plan, Step
from planproof.trace import Kind, Trace
from planproof.vocabulary import Vocabulary

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
        explanation = explain(units, demands, affinity_of(units, demands, shipped_weights()))
        runs = explanation.runs
        moved = out_of_order(
            [
                None
                if not run or demand.step.free_order
                else (units[run[0]].position, units[run[0]].event.turn)
                for run, demand in zip(runs, demands, strict=True)
            ]
        )
        found = {
            demand.step.number: _finding(
                demand, [units[i] for i in run], _around(j, runs, units), units, moved=j in moved
            )
            for j, (demand, run) in enumerate(zip(demands, runs, strict=True))
        }
        return Findings(_with_parents(plan, found), _extras(units, explanation.left))


def _around(step: int, runs: list[list[int]], units: list[Unit]) -> list[Unit]:
    """The units of a step and those beside them that no neighbour claims."""
    run = runs[step]
    if not run:
        return []
    others = {index for k, other in enumerate(runs) if k != step for index in other}
    first, last = run[0], run[-1]
    while first > 0 and first - 1 not in others:
        first -= 1
    while last + 1 < len(units) and last + 1 not in others:
        last += 1
    return [units[i] for i in range(first, last + 1) if i in run or i not in others]


def _finding(
    demand: Demand, run: list[Unit], around: list[Unit], whole: list[Unit], *, moved: bool
) -> StepFinding:
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
    if demand.of_deeds and all(unit.said for unit in run):
        status, note = Status.AMBIGUOUS, "it is only spoken of"
    elif moved:
        status, note = Status.OUT_OF_ORDER, ""
    else:
        lacking = ungrounded(demand, around, whole)
        status = Status.PARTIAL if lacking else Status.EXECUTED
        note = "; ".join(lacking)
    return StepFinding(
        number=step.number,
        text=step.text,
        status=status,
        sureness=0.7,
        evidence=_evidence(step, run),
        covers=tuple(dict.fromkeys(unit.event.id for unit in run)),
        note=note,
        parent=step.parent,
        free_order=step.free_order,
    )


def _evidence(step: Step, run: list[Unit]) -> tuple[Evidence, ...]:
    wanted = terms_of(step.text)
    events = list({unit.event.id: unit.event for unit in run}.values())
    return tuple(cite(event, wanted) for event in events[:_MOST_CITED])


def _extras(units: list[Unit], left: list[int]) -> tuple[Extra, ...]:
    extras: list[Extra] = []
    done: set[tuple[str | None, str]] = set()
    over = set(left)
    for index, unit in enumerate(units):
        event = unit.event
        if event.kind is not Kind.ACTION:
            continue
        call = (event.name, unit.call_text)
        if index in over:
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
