"""The judge `contract`: check a run against a contract, without a model.

`check_exactly` is the whole check: candidates, matches, alignment, findings.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property

from msgspec import json as msgspec_json
from msgspec.structs import replace

from planproof.checking.candidates import remove_restatements
from planproof.checking.contract_alignment import (
    AlignedStep,
    ContractAlignment,
    Part,
    Position,
    Taken,
    align_contract,
    rank_candidates,
)
from planproof.checking.contract_candidates import (
    ContractCandidate,
    ToolRoles,
    build_contract_candidates,
)
from planproof.checking.contract_findings import RunFindings
from planproof.checking.contract_match import (
    MatchContext,
    MatchResult,
    RequirementMatcher,
    calls_tool,
)
from planproof.checking.event_text import flatten_arguments
from planproof.checking.run_check import check_run
from planproof.contracts.contract_file import contract_digest
from planproof.core.content import Content, Json
from planproof.core.contract import (
    ANY_ARGUMENT,
    Condition,
    Contract,
    Match,
    Requirement,
    StepContract,
    Times,
    Truth,
)
from planproof.core.digests import compute_fingerprint
from planproof.core.finding import Findings
from planproof.core.json_values import is_list, is_object, parse_embedded_json
from planproof.core.plan import Plan
from planproof.core.trace import Event, Trace
from planproof.core.verdict import ContractSummary
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput, did_you_mean

_MAX_EACH = 1_000
_MAX_LIST_DEPTH = 3
_GRADE = {Match.NONE: 0, Match.OPEN: 1, Match.NEAR: 2, Match.FULL: 3}


@dataclass(frozen=True, slots=True)
class ContractJudge:
    """Checks runs against one contract. Deterministic: same input, same findings, everywhere."""

    contract: Contract
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    allow_drift: bool = False
    """Judge by the contract even if the given plan is not the one that it was compiled from."""
    name: str = "contract"
    summary: ContractSummary = field(init=False)
    fingerprint: str = field(init=False)
    """Changes with the contract, the vocabulary and the variables, but not with a case."""

    def __post_init__(self) -> None:
        check_variables(self.contract, self.variables)
        summary = summarize_contract(self.contract)
        digest = compute_fingerprint(
            summary.digest, self.vocabulary.sorted_entries, sorted(self.variables.items())
        )
        object.__setattr__(self, "summary", summary)
        object.__setattr__(self, "fingerprint", digest)

    def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
        """Check the trace against the contract; its steps are the plan."""
        del task
        return check_run(self.contract, plan, trace, self.vocabulary, self.variables)

    def bind(self, metadata: Mapping[str, object]) -> ContractJudge:
        """Return this judge with its variables bound to the metadata of a case."""
        if not self.contract.variables:
            return self
        bound = bind_metadata(self.contract, metadata, self.variables)
        judge = copy(self)
        object.__setattr__(judge, "variables", bound)
        return judge


def check_exactly(
    contract: Contract,
    plan: Plan,
    trace: Trace,
    vocabulary: Vocabulary,
    variables: Mapping[str, str],
) -> Findings:
    """Check a trace against the exact requirements of a contract."""
    roles = ToolRoles(contract, vocabulary)
    candidates = build_contract_candidates(trace, remove_restatements(trace, plan), roles)
    known = dict(variables)
    matcher = StepMatcher(contract, candidates, known)
    alignment = matcher.align()
    if bound := matcher.bind_variables(alignment.taken):
        matcher = StepMatcher(contract, candidates, known | bound)
        alignment = matcher.align()
    return RunFindings(contract, plan, trace, roles, matcher, alignment).assemble()


class StepMatcher:
    """The matches of all candidates with all leaf steps of a contract."""

    def __init__(
        self,
        contract: Contract,
        candidates: list[ContractCandidate],
        variables: Mapping[str, str],
    ) -> None:
        self.contract = contract
        self.candidates = candidates
        self.steps = contract.leaves
        self.variables = variables
        self._indices_by_names: dict[tuple[str, ...], list[int]] = {}
        self._text_indices: list[int] = []
        self._thought_indices: list[int] = []
        for index, candidate in enumerate(candidates):
            if candidate.is_thought:
                self._thought_indices.append(index)
            if candidate.is_text:
                self._text_indices.append(index)
            else:
                self._indices_by_names.setdefault(candidate.names, []).append(index)
        self._index_by_number = {step.number: index for index, step in enumerate(self.steps)}
        self._parts: dict[int, tuple[Part, ...]] = {}
        self._in_progress: set[int] = set()

    def align(self) -> ContractAlignment:
        """Assign the candidates to the steps."""
        return align_contract(
            self.aligned_steps,
            self._positions,
            [c.is_accountable for c in self.candidates],
            [c.is_text for c in self.candidates],
        )

    @cached_property
    def aligned_steps(self) -> list[AlignedStep]:
        """The steps with their matches, as the alignment takes them."""
        ranks = rank_candidates(self._positions) if any(s.ordered for s in self.steps) else None
        return [
            AlignedStep(
                self.get_parts(index),
                step.free_order,
                _encode_requirements(step),
                ranks if step.ordered else None,
            )
            for index, step in enumerate(self.steps)
        ]

    @cached_property
    def _positions(self) -> list[Position]:
        return [Position(c.position, c.event.turn) for c in self.candidates]

    def get_parts(self, index: int) -> tuple[Part, ...]:
        """Return the parts of a step with the candidates that match them."""
        if index not in self._parts:
            self._in_progress.add(index)
            step = self.steps[index]
            self._parts[index] = tuple(
                replace(part, place=place) if place else part
                for place, requirement in enumerate(step.all_of)
                for part in self._match_requirement(step, requirement)
            )
            self._in_progress.discard(index)
        return self._parts[index]

    def _match_requirement(self, step: StepContract, requirement: Requirement) -> list[Part]:
        """Return the parts of a requirement; of alternatives that differ in number, the best.

        Alternatives that are taken the same number of times may be mixed.
        """
        alternatives = requirement.alternatives
        groups: dict[Times | int, list[Requirement]] = {}
        for index, one in enumerate(alternatives):
            groups.setdefault(index if _is_for_each(one) else one.times, []).append(one)
        if len(groups) == 1 and not _is_for_each(alternatives[0]):
            return [self._match_part(step, requirement, alternatives[0].times)]
        ways: list[list[Part]] = []
        for group in groups.values():
            if len(group) > 1:
                joined = Requirement(any_of=tuple(group))
                ways.append([self._match_part(step, joined, group[0].times)])
            else:
                expanded = self._expand(group[0])
                parts = [self._match_part(step, one, one.times) for one in expanded]
                if any(one.each_from is not None for one in expanded):
                    parts = list(map(_leave_open, parts))
                ways.append(parts)
        return max(ways, key=_rate_parts)

    def _expand(self, requirement: Requirement) -> list[Requirement]:
        """Return one requirement per value where it must be met for each value."""
        if requirement.each_from is None:
            return [_substitute_each(requirement, value) for value in requirement.each] or [
                requirement
            ]
        values = self._list_each_from(requirement.each_from)
        if values is None:
            return [_require_from_step(requirement, requirement.each_from)]
        return [_substitute_each(requirement, value) for value in values]

    def _list_each_from(self, number: str) -> tuple[str, ...] | None:
        """Return the values of the only list that a step returned; None if there is none."""
        for result in reversed(self._find_results(number, sys.maxsize) or []):
            lists = list(_find_value_lists(parse_embedded_json(result), _MAX_LIST_DEPTH))
            if len(lists) == 1:
                return tuple(map(str, lists[0][:_MAX_EACH]))
        return None

    def _match_part(self, step: StepContract, requirement: Requirement, times: Times) -> Part:
        best: dict[int, MatchResult] = {}
        for alternative in requirement.alternatives:
            matcher = RequirementMatcher(alternative, step.text, self._make_context())
            for index in self._list_indices(alternative):
                result = matcher.match(self.candidates[index])
                if result.match is not Match.NONE and (
                    index not in best or _GRADE[result.match] > _GRADE[best[index].match]
                ):
                    best[index] = result
        return Part(dict(sorted(best.items())), times.min, times.max, requirement)

    def _list_indices(self, requirement: Requirement) -> list[int]:
        if not requirement.names_action:
            thoughts = [] if requirement.reasoning is None else self._thought_indices
            return sorted((*self._text_indices, *thoughts))
        return sorted(
            index
            for names, indices in self._indices_by_names.items()
            if calls_tool(requirement, names)
            for index in indices
        )

    def _make_context(self) -> MatchContext:
        # Not kept: it would refer back to the matcher, and a cycle is freed only by the collector.
        return MatchContext(self.variables, self._find_results, self._find_given)

    def has_call(self, requirement: Requirement) -> bool:
        """Return whether the tool of a requirement was called, with whatever values."""
        return any(calls_tool(requirement, names) for names in self._indices_by_names)

    def _find_results(self, number: str, position: int) -> list[str] | None:
        """Return the outputs of a step's events before a position."""
        events = self._find_events(number, position)
        return None if events is None else [event.output for event in events if event.output]

    def _find_given(self, number: str, position: int) -> list[str] | None:
        """Return what a step's calls before a position were given, and their outputs."""
        events = self._find_events(number, position)
        if events is None:
            return None
        return [
            text
            for event in events
            for text in (*map(str, _list_values(event)), event.text, event.output)
            if text
        ]

    def _find_events(self, number: str, position: int) -> list[Event] | None:
        """Return the events before a position that match a step; None if it refers to itself."""
        index = self._index_by_number.get(number)
        if index is None or index in self._in_progress:
            return None
        matched = {
            candidate
            for part in self.get_parts(index)
            for candidate, result in part.matches.items()
            if result.match in {Match.FULL, Match.NEAR}
        }
        return [
            self.candidates[i].event
            for i in sorted(matched)
            if self.candidates[i].position < position
        ]

    def list_matches(self, requirement: Requirement) -> list[int]:
        """Return the candidates that a constraint of the contract is about, beyond doubt."""
        found: list[int] = []
        for alternative in requirement.alternatives:
            matcher = RequirementMatcher(alternative, "", self._make_context())
            found += [
                index
                for index in self._list_indices(alternative)
                if matcher.match(self.candidates[index]).match is Match.FULL
            ]
        return found

    def bind_variables(self, taken: Sequence[Taken]) -> dict[str, str]:
        """Return the values that unbound variables take at their first full match."""
        bound: dict[str, str] = {}
        if not self.contract.variables:
            return bound
        for index, own in enumerate(taken):
            for part, chosen in zip(self.get_parts(index), own, strict=True):
                for candidate in chosen:
                    result = part.matches[candidate]
                    if result.match is Match.FULL:
                        for name, value in self._list_variable_values(result):
                            bound.setdefault(name, value)
        return bound

    def _list_variable_values(self, result: MatchResult) -> Iterator[tuple[str, str]]:
        conditions = {
            f"{group}.{argument}": condition
            for group, named in (
                ("is", result.requirement.is_),
                ("where", result.requirement.where),
            )
            for argument, condition in named.items()
        }
        for check, checked in zip(result.checks, result.conditions, strict=True):
            condition = conditions.get(check.path)
            if condition is None or condition.var is None or check.result is not Truth.MATCH:
                continue
            # A command or code as a whole is not the value.
            is_value = not isinstance(checked.found, ContractCandidate)
            if condition.var not in self.variables and check.found and is_value:
                yield condition.var, check.found


def _encode_requirements(step: StepContract) -> bytes | None:
    """Return a key that is equal for steps with equal requirements."""
    if not step.all_of:
        return None
    return msgspec_json.encode((step.all_of, step.ordered), order="deterministic")


def _list_values(event: Event) -> list[Json]:
    """Return the values that a call was given."""
    return [value for _, value in flatten_arguments(event.arguments) if value is not None]


def _find_value_lists(value: Json, depth: int) -> Iterator[list[Json]]:
    """Yield the lists of texts and numbers in a result."""
    if is_list(value):
        if value and all(isinstance(item, str | int | float) for item in value):
            yield value
        return
    if is_object(value) and depth:
        for item in value.values():
            yield from _find_value_lists(item, depth - 1)


def _require_from_step(requirement: Requirement, number: str) -> Requirement:
    """Return a requirement for values that a step returned, if it is not known which ones."""

    def require(conditions: Mapping[str, Condition]) -> dict[str, Condition]:
        return {
            name: _replace_each(condition, Condition(from_step=number))
            for name, condition in conditions.items()
        }

    return replace(
        requirement,
        is_=require(requirement.is_),
        where=require(requirement.where),
        times=Times(min=1, max=None),
    )


def _leave_open(part: Part) -> Part:
    """Return a part whose matches count as unknown: some value may have been left out."""
    matches = {
        index: replace(result, match=Match.OPEN) if result.match is Match.FULL else result
        for index, result in part.matches.items()
    }
    return replace(part, matches=matches)


def _is_for_each(requirement: Requirement) -> bool:
    return bool(requirement.each) or requirement.each_from is not None


def _rate_parts(parts: list[Part]) -> tuple[float, float]:
    """Rate an alternative by the share of it that candidates meet: in full, then at all."""
    full = sum(
        sum(result.match is Match.FULL for result in part.matches.values()) >= part.min
        for part in parts
    )
    return full / len(parts), sum(bool(part.matches) for part in parts) / len(parts)


def _substitute_each(requirement: Requirement, value: str) -> Requirement:
    """Return a requirement for one value of its `each`."""

    def substitute(conditions: Mapping[str, Condition]) -> dict[str, Condition]:
        return {
            argument: _replace_each(condition, Condition(any_of=(value,)))
            for argument, condition in conditions.items()
        }

    where = substitute(requirement.where)
    is_ = substitute(requirement.is_)
    if where == requirement.where and is_ == requirement.is_ and requirement.call:
        wanted = Condition(any_of=(value,))
        if other := where.get(ANY_ARGUMENT):
            wanted = replace(wanted, all_of=(other,))
        where = {**where, ANY_ARGUMENT: wanted}
    message = requirement.message
    if message is not None:
        message = replace(message, values=(*message.values, Condition(any_of=(value,))))
    return replace(
        requirement, where=where, is_=is_, message=message, each=(), each_from=None, times=Times()
    )


def _replace_each(condition: Condition, wanted: Condition) -> Condition:
    """Return a condition with another one for the current value of `each`, also in its `all_of`."""
    further = tuple(_replace_each(part, wanted) for part in condition.all_of)
    if condition.is_each:
        further = (*further, replace(wanted, for_=condition.for_))
    return replace(condition, is_each=False, all_of=further)


def summarize_contract(contract: Contract) -> ContractSummary:
    """Return what a verdict says about the contract that a trace was checked against."""
    origin = contract.origin
    return ContractSummary(
        digest=contract_digest(contract),
        name=contract.name,
        plan=origin.plan.value,
        catalogue=origin.catalogue,
        compiler=origin.compiler,
    )


def check_variables(contract: Contract, given: Iterable[str]) -> None:
    """Raise an error if a value is given for a variable that the contract does not have."""
    for name in given:
        if name not in contract.variables:
            known = contract.variables
            raise InvalidInput(
                f"the contract has no variable `{name}`.",
                advice=did_you_mean(name, known) if known else "It has no variables at all.",
            )


def bind_metadata(
    contract: Contract, metadata: Mapping[str, object], given: Mapping[str, str]
) -> dict[str, str]:
    """Return the values of variables: those that are given, and those from a case's metadata."""
    check_variables(contract, given)
    bound = dict(given)
    for name, variable in contract.variables.items():
        if variable.from_ is None or name in bound:
            continue
        key = variable.from_.removeprefix("metadata.")
        value = metadata.get(key)
        if not isinstance(value, str | int | float):
            raise InvalidInput(
                f"the contract's variable `{name}` needs `{key}` in the metadata of the case.",
                advice=f"Add it to the case, or pass --var {name}=VALUE.",
            )
        bound[name] = str(value)
    return bound
