"""Test a contract with runs whose verdict is known, and with mutations of the good ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from msgspec import structs

from planproof.calibration.figures import CAUGHT_AT_MOST, PASSED_AT_LEAST
from planproof.calibration.flaws import load_material
from planproof.checking.contract_judge import ContractJudge
from planproof.contracts.condition_check import describe_condition
from planproof.core.case import Case
from planproof.core.catalogue import Catalogue
from planproof.core.content import Content, Json
from planproof.core.contract import ANY_ARGUMENT, Condition, iter_requirements
from planproof.core.finding import Findings
from planproof.core.json_values import is_list, is_object
from planproof.core.trace import Event, EventStatus, Kind, Trace
from planproof.evaluation import ReadOptions, evaluate_case, read_trace_and_task
from planproof.scoring import compute_score

_MAX_MUTATIONS = 2_000
_ANY_VALUE = describe_condition(Condition(any_value=True))


class Mutation(StrEnum):
    """What was changed in a run."""

    DROP = "drop"
    """A call was not made."""
    SWAP = "swap"
    """Two calls in a row were made in the other order."""
    CHANGE = "change"
    """A call has another value for an argument that the contract names."""
    CHANGE_OPEN = "change-open"
    """A call has another value for an argument that the contract leaves open."""
    INSERT = "insert"
    """Another tool was called as well."""
    CLAIM = "claim"
    """A call was only claimed in a message."""
    DROP_SPARE = "drop-spare"
    """A call was not made, or only claimed, that its step can do without: one of several."""


@dataclass(frozen=True, slots=True)
class MutationResult:
    """One mutation of a run, and whether the score fell."""

    mutation: Mutation
    event: str
    what: str
    score: float
    is_noticed: bool


@dataclass(frozen=True, slots=True)
class TestedRun:
    """A run whose verdict is known, the score that it got, and its mutations.

    `score` is None if the run could not be judged; `reason` says why.
    """

    __test__ = False  # pytest would take it for a class of tests

    id: str
    is_good: bool
    score: float | None
    reason: str
    mutations: tuple[MutationResult, ...] = ()

    @property
    def is_as_expected(self) -> bool:
        """True if a good run passes, or a bad one is caught."""
        if self.score is None:
            return False
        return self.score >= PASSED_AT_LEAST if self.is_good else self.score <= CAUGHT_AT_MOST


def check_runs(
    judge: ContractJudge,
    cases: Iterable[Case],
    reading: ReadOptions,
    *,
    is_good: bool,
    mutate: bool = False,
    catalogue: Catalogue | None = None,
) -> Iterator[TestedRun]:
    """Judge runs whose verdict is known; mutate those that pass as they should."""
    for number, case in enumerate(cases, 1):
        verdict = evaluate_case(case, judge=judge, options=reading)
        run = TestedRun(case.id or f"run {number}", is_good, verdict.score, verdict.reason)
        if mutate and run.is_as_expected:
            _, trace, _ = read_trace_and_task(case, reading)
            mutations = run_mutations(judge.bind(case.metadata), trace, catalogue)
            run = replace(run, mutations=tuple(mutations))
        yield run


def count_mutations(runs: Iterable[TestedRun]) -> dict[Mutation, tuple[int, int]]:
    """Return for each kind of mutation how many were noticed, and how many there were."""
    counts: dict[Mutation, tuple[int, int]] = {}
    for run in runs:
        for result in run.mutations:
            noticed, total = counts.get(result.mutation, (0, 0))
            counts[result.mutation] = (noticed + result.is_noticed, total + 1)
    return counts


def run_mutations(
    judge: ContractJudge, trace: Trace, catalogue: Catalogue | None = None
) -> list[MutationResult]:
    """Score each mutation of a run; those that score less than the run itself are noticed."""
    plan = judge.contract.to_plan()
    findings = judge.judge(Content(), plan, trace)
    score = compute_score(findings)
    results: list[MutationResult] = []
    for mutation, event, what, mutant in _iter_mutants(judge, trace, findings, catalogue):
        if len(results) == _MAX_MUTATIONS:
            break
        mutant_findings = judge.judge(Content(), plan, mutant)
        mutated = compute_score(mutant_findings)
        is_noticed = mutated < score
        is_drop = mutation in {Mutation.DROP, Mutation.CLAIM}
        is_spare = is_drop and not is_noticed and _is_spare(event, findings, mutant_findings)
        kind = Mutation.DROP_SPARE if is_spare else mutation
        results.append(MutationResult(kind, event, what, mutated, is_noticed))
    return results


def _is_spare(event: str, findings: Findings, without: Findings) -> bool:
    """Return whether every step covers the same calls without this one."""
    return all(
        {*step.covers} - {event} == {*other.covers} - {event}
        for step, other in zip(findings.steps, without.steps, strict=True)
    )


_Mutant = tuple[Mutation, str, str, Trace]


def _iter_mutants(
    judge: ContractJudge, trace: Trace, findings: Findings, catalogue: Catalogue | None
) -> Iterator[_Mutant]:
    """Yield every mutation of the calls that steps cover."""
    events = trace.events
    covered = {event for step in findings.steps for event in step.covers}
    calls = [i for i, e in enumerate(events) if e.kind is Kind.ACTION and e.id in covered]
    for index in calls:
        event, name = events[index], events[index].name or "call"
        yield (
            Mutation.DROP,
            event.id,
            name,
            _with_events(trace, [*events[:index], *events[index + 1 :]]),
        )
        yield Mutation.CLAIM, event.id, name, _replace_event(trace, index, _claim(event))
        yield from _iter_changes(trace, findings, index)
    for index, later in pairwise(calls):
        one, other = events[index], events[later]
        if one.turn and one.turn == other.turn:
            continue  # calls that were issued together have no order
        if _serve_same_step(findings, one, other) or _are_same_call(one, other):
            continue
        swapped = list(events)
        swapped[index] = structs.replace(other, turn=one.turn)
        swapped[later] = structs.replace(one, turn=other.turn)
        yield Mutation.SWAP, one.id, f"{one.name} and {other.name}", _with_events(trace, swapped)
    for position in (calls[0], calls[-1] + 1) if calls else ():
        tool = _choose_other_tool(judge, events, catalogue)
        added = Event(
            id=f"{events[min(position, len(events) - 1)].id}x",
            kind=Kind.ACTION,
            pointer="",
            name=tool,
            arguments={"reference": "spare"},
            status=EventStatus.OK,
        )
        inserted = [*events[:position], added, *events[position:]]
        yield Mutation.INSERT, added.id, tool, _with_events(trace, inserted)


def _with_events(trace: Trace, events: Sequence[Event]) -> Trace:
    return replace(trace, events=tuple(events))


def _replace_event(trace: Trace, index: int, event: Event) -> Trace:
    return _with_events(trace, [*trace.events[:index], event, *trace.events[index + 1 :]])


def _claim(event: Event) -> Event:
    """Return a message that says that a call was made."""
    said = f"I have called {event.name} with {event.arguments or event.text}."
    return Event(
        id=event.id,
        kind=Kind.MESSAGE,
        pointer=event.pointer,
        actor=event.actor,
        text=said,
        turn=event.turn,
    )


def _are_same_call(one: Event, other: Event) -> bool:
    return (one.name, one.arguments, one.text) == (other.name, other.arguments, other.text)


def _serve_same_step(findings: Findings, one: Event, other: Event) -> bool:
    return any(one.id in step.covers and other.id in step.covers for step in findings.steps)


def _choose_other_tool(
    judge: ContractJudge, events: Sequence[Event], catalogue: Catalogue | None
) -> str:
    """Return a tool that the run does not use: of the catalogue if there is one."""
    contract = judge.contract
    named = {
        name.lower()
        for step in contract.steps
        for requirement in iter_requirements(step)
        for name in (*requirement.call, *requirement.with_)
    }
    used = named | {(event.name or "").lower() for event in events} | {*contract.tools}
    tools = [tool.name for tool in catalogue.tools] if catalogue is not None else []
    return next(tool for tool in (*tools, *load_material("tools")) if tool.lower() not in used)


def _iter_changes(trace: Trace, findings: Findings, index: int) -> Iterator[_Mutant]:
    """Yield the run with one argument of a call changed, for each argument."""
    event = trace.events[index]
    constrained = _list_constrained(findings, event)
    if is_object(event.arguments):
        for name, value in event.arguments.items():
            changed = structs.replace(
                event, arguments={**event.arguments, name: _change_value(value)}
            )
            is_open = not (constrained & {name.lower(), ANY_ARGUMENT})
            mutation = Mutation.CHANGE_OPEN if is_open else Mutation.CHANGE
            yield mutation, event.id, f"{event.name}.{name}", _replace_event(trace, index, changed)
    elif event.text:
        changed = structs.replace(event, text=_change_value(event.text))
        mutation = Mutation.CHANGE if constrained else Mutation.CHANGE_OPEN
        yield mutation, event.id, f"{event.name}", _replace_event(trace, index, changed)


def _list_constrained(findings: Findings, event: Event) -> set[str]:
    """Return the arguments of a call whose values the contract names; `any` names none."""
    return {
        name.lower()
        for finding in findings.steps
        for check in finding.checks
        if check.event == event.id and check.expected != _ANY_VALUE
        for group, _, name in (check.path.partition("."),)
        if group in {"is", "where"}
    }


def _change_value(value: Json) -> Json:
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return "".join(map(_rotate, value)) or "other"
    if is_list(value):
        return [*map(_change_value, value), "other"]
    if is_object(value):
        return {name: _change_value(item) for name, item in value.items()}
    return "other"


def _rotate(character: str) -> str:
    """Return the next letter or digit; other characters stay."""
    if character.isdecimal():
        return str((int(character) + 1) % 10)
    if character.isascii() and character.isalpha():
        last = "z" if character.islower() else "Z"
        return chr(ord(character) + 1) if character != last else chr(ord(character) - 25)
    return character
