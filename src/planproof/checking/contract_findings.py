"""Turn the alignment of a run with a contract into findings: status, notes, extras, constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from planproof.checking.confidence import discount_unverified
from planproof.checking.contract_alignment import (
    FULL,
    NEAR,
    NONE,
    OPEN,
    ContractAlignment,
    Taken,
    are_parts_in_order,
    find_first,
    grade_step,
)
from planproof.checking.contract_candidates import ContractCandidate, ToolRoles
from planproof.checking.contract_match import MatchResult
from planproof.checking.event_text import cite, collect_strings
from planproof.checking.plan_findings import assemble_findings
from planproof.contracts.condition_check import check_condition, describe_condition
from planproof.contracts.terms import extract_terms
from planproof.contracts.value_check import is_pattern
from planproof.core.contract import (
    Contract,
    Match,
    Requirement,
    StepContract,
    Truth,
    iter_requirements,
)
from planproof.core.finding import (
    CONDITION_NOT_MET,
    Check,
    Evidence,
    Extra,
    Findings,
    Severity,
    Status,
    StepFinding,
)
from planproof.core.json_values import is_object, parse_embedded_json
from planproof.core.plan import Plan
from planproof.core.trace import Event, EventStatus, Kind, Trace

if TYPE_CHECKING:
    from planproof.checking.contract_judge import StepMatcher

_STATUS = {
    FULL: Status.EXECUTED,
    NEAR: Status.PARTIAL,
    OPEN: Status.AMBIGUOUS,
    NONE: Status.MISSING,
}
_MAX_QUOTE = 120
_MAX_RESULT = 1_000_000
_APPROXIMATE = "approximate: the search for the best assignment was stopped at its limit"
# The confidence of a finding by the form of its requirement.
_TYPED_VALUE, _TOOL_ONLY, _MESSAGE, _REASONING = 0.95, 0.85, 0.7, 0.6
_RIVAL, _UNCHECKED = 0.5, 0.5


class RunFindings:
    """The findings of one run."""

    def __init__(
        self,
        contract: Contract,
        plan: Plan,
        trace: Trace,
        roles: ToolRoles,
        matcher: StepMatcher,
        alignment: ContractAlignment,
    ) -> None:
        self._contract = contract
        self._plan = plan
        self._trace = trace
        self._roles = roles
        self._matcher = matcher
        self._candidates = matcher.candidates
        self._is_text = [candidate.is_text for candidate in matcher.candidates]
        self._alignment = alignment
        self._steps = contract.leaves
        self._index_by_number = {step.number: index for index, step in enumerate(self._steps)}
        self._refused: set[int] = set()
        """Candidates of steps whose condition did not hold."""

    def assemble(self) -> Findings:
        """Return the findings of all steps, and the extras."""
        leaves = [self._judge_step(index) for index in range(len(self._steps))]
        leaves = self._add_supporting_events(leaves)
        steps = assemble_findings(self._plan, self._trace, leaves)
        notes = () if self._alignment.is_exact else (_APPROXIMATE,)
        taken = {
            index for own in self._alignment.taken for part in own for index in part
        } - self._refused
        finder = ContractExtras(self._contract, self._roles, self._matcher)
        return Findings(steps, finder.find(steps, taken, self._refused), notes)

    def _judge_step(self, index: int) -> StepFinding:
        step, taken = self._steps[index], self._alignment.taken[index]
        if step.uncheckable is not None:
            return self._make_finding(
                step, Status.AMBIGUOUS, _UNCHECKED, note=f"not checkable: {step.uncheckable}"
            )
        aligned = self._matcher.aligned_steps[index]
        grade = grade_step(aligned, taken)
        condition = self._evaluate_condition(step)
        if condition is not None and (
            finding := self._judge_condition(step, *condition, grade, taken)
        ):
            return finding
        status = _STATUS[grade]
        results = self._list_results(index, taken)
        note = self._write_note(index, status, results)
        confidence = self._estimate_confidence(index, status, results)
        rivals = self._alignment.rivals[index]
        if len(rivals) > 1 and not self._has_equal_step(index):
            confidence = min(confidence, _RIVAL)
            if FULL in rivals:
                status = Status.AMBIGUOUS
                note = "several assignments of events to steps are equally good"
        return self._make_finding(
            step,
            status,
            confidence,
            note=note,
            taken=[candidate for candidate, _ in results],
            checks=self._list_checks(index, taken, results),
        )

    def _has_equal_step(self, index: int) -> bool:
        own = self._steps[index].all_of
        return any(step.all_of == own for i, step in enumerate(self._steps) if i != index)

    def _make_finding(
        self,
        step: StepContract,
        status: Status,
        confidence: float,
        *,
        note: str = "",
        taken: Sequence[int] = (),
        checks: tuple[Check, ...] = (),
        evidence: tuple[Evidence, ...] | None = None,
    ) -> StepFinding:
        indices = sorted(set(taken))
        candidates = [self._candidates[index] for index in indices]
        if evidence is None:
            # A step begins at its first call: text before it is covered, but not where it began.
            first = find_first((tuple(indices),), self._is_text)
            evidence = tuple(
                cite_candidate(self._candidates[index], step.text)
                for index in indices
                if first is None or index >= first
            )
        waived = (step.optional is not None and status is not Status.EXECUTED) or not step.counted
        if not step.counted:
            note = "; ".join(filter(None, (note, "not counted")))
        return StepFinding(
            number=step.number,
            text=step.text,
            status=status,
            confidence=round(confidence, 4),
            evidence=evidence,
            covers=tuple(dict.fromkeys(candidate.event.id for candidate in candidates)),
            note=note,
            parent=step.parent,
            waived=waived,
            free_order=step.free_order,
            checks=checks,
        )

    def _list_results(self, index: int, taken: Taken) -> list[tuple[int, MatchResult]]:
        return [
            (candidate, part.matches[candidate])
            for part, chosen in zip(self._matcher.get_parts(index), taken, strict=True)
            for candidate in chosen
        ]

    # Conditions

    def _evaluate_condition(self, step: StepContract) -> tuple[Truth, Event | None] | None:
        """Return whether the condition of a step holds, and the event that shows it."""
        if step.else_of is not None:
            other = self._steps[self._index_by_number[step.else_of]]
            held = self._evaluate_condition(other)
            if held is None:
                return Truth.UNKNOWN, None
            truth, event = held
            opposite = {Truth.MATCH: Truth.MISMATCH, Truth.MISMATCH: Truth.MATCH}
            return opposite.get(truth, Truth.UNKNOWN), event
        if step.when is None:
            return None
        index = self._index_by_number.get(step.when.step or "")
        if index is None:
            return Truth.UNKNOWN, None
        events = [
            self._candidates[candidate].event
            for part in self._alignment.taken[index]
            for candidate in part
        ]
        for event in reversed(events):
            if len(event.output) > _MAX_RESULT:
                continue
            value = parse_embedded_json(event.output)
            if is_object(value):
                return _check_result(step, value), event
        return Truth.UNKNOWN, None

    def _judge_condition(
        self, step: StepContract, truth: Truth, event: Event | None, grade: int, taken: Taken
    ) -> StepFinding | None:
        """Return the finding of a step whose condition does not hold, or is not known."""
        if truth is Truth.MATCH or (truth is Truth.UNKNOWN and grade == FULL):
            return None
        if truth is Truth.MISMATCH and event is not None:
            self._refused.update(index for part in taken for index in part)
            pointer = event.output_pointer or event.pointer
            quote = event.output.strip()[:_MAX_QUOTE].rstrip()
            shown = (
                Evidence(event.id, pointer, quote)
                if event.output_pointer
                else cite(event, frozenset())
            )
            return self._make_finding(
                step, Status.EXECUTED, _TOOL_ONLY, note=CONDITION_NOT_MET, evidence=(shown,)
            )
        if grade > NONE:
            return None
        note = "the trace does not show whether the condition held"
        return self._make_finding(step, Status.AMBIGUOUS, _UNCHECKED, note=note)

    # Notes and confidence

    def _write_note(
        self, index: int, status: Status, results: list[tuple[int, MatchResult]]
    ) -> str:
        if status is Status.EXECUTED:
            return ""
        notes: list[str] = []
        for _, result in results:
            wrong = [check for check in result.checks if check.result is not Truth.MATCH]
            notes += [_describe_check(check, result.requirement) for check in wrong[:2]]
        parts = self._matcher.get_parts(index)
        for part, chosen in zip(parts, self._alignment.taken[index], strict=True):
            if chosen and part.requirement.each_from is not None:
                notes.append(f"step {part.requirement.each_from} shows no single list of values")
            if len(chosen) < part.min:
                count = f"{len(chosen)} of {part.min}: " if part.min > 1 else ""
                notes.append(f"{count}{self._describe_missing(part.requirement)}")
        if not self._is_in_order(index):
            notes.insert(0, "parts in another order than the step says")
        return "; ".join(dict.fromkeys(notes[:3]))

    def _is_in_order(self, index: int) -> bool:
        taken = self._alignment.taken[index]
        return are_parts_in_order(self._matcher.aligned_steps[index], taken)

    def _describe_missing(self, requirement: Requirement) -> str:
        path, expected = _describe_requirement(requirement)
        if path != "call":
            return f"no {path} that says {expected}" if expected != "any text" else f"no {path}"
        has_others = any(
            (one.where or one.is_) and self._matcher.has_call(one)
            for one in requirement.alternatives
        )
        return f"no call of {expected}{' with these values' if has_others else ''}"

    def _list_checks(
        self, index: int, taken: Taken, results: list[tuple[int, MatchResult]]
    ) -> tuple[Check, ...]:
        checks = [check for _, result in results for check in result.checks]
        for part, chosen in zip(self._matcher.get_parts(index), taken, strict=True):
            if not chosen:
                path, expected = _describe_requirement(part.requirement)
                checks.append(
                    Check(path=path, expected=expected, found="", event=None, result=Truth.MISMATCH)
                )
        if self._steps[index].ordered and results:
            truth = Truth.MATCH if self._is_in_order(index) else Truth.MISMATCH
            checks.append(
                Check(path="ordered", expected="in this order", found="", event=None, result=truth)
            )
        return tuple(checks)

    def _estimate_confidence(
        self, index: int, status: Status, results: list[tuple[int, MatchResult]]
    ) -> float:
        requirements = [result.requirement for _, result in results] or [
            alternative for part in self._steps[index].all_of for alternative in part.alternatives
        ]
        confidence = min(map(_cap_confidence, requirements), default=_UNCHECKED)
        if status is Status.AMBIGUOUS:
            confidence = min(confidence, _MESSAGE)
        events = [self._candidates[candidate].event for candidate, _ in results]
        return discount_unverified(confidence, events)

    # Supporting events and extras

    def _add_supporting_events(self, findings: list[StepFinding]) -> list[StepFinding]:
        """Add calls of supporting tools to the step around them, or right after them."""
        positions = {event.id: index for index, event in enumerate(self._trace.events)}
        ranges = [
            (positions[finding.covers[0]], positions[finding.covers[-1]])
            if finding.covers
            else None
            for finding in findings
        ]
        covered = {event for finding in findings for event in finding.covers}
        added: dict[int, list[str]] = {}
        repeats = {
            result.event
            for step in range(len(self._steps))
            for part in self._matcher.get_parts(step)
            for result in part.matches.values()
            if result.match is Match.FULL
        }
        following: int | None = None
        for position in range(len(self._trace.events) - 1, -1, -1):
            event = self._trace.events[position]
            if event.id in covered:
                following = position
            elif event.kind is Kind.ACTION:
                # What meets a requirement and is left over is a repeat, and prepares no other step.
                at = None if event.id in repeats else following
                owner = self._find_owner(position, event, ranges, at)
                if owner is not None:
                    added.setdefault(owner, []).append(event.id)
        for index, events in added.items():
            covers = sorted({*findings[index].covers, *events}, key=positions.__getitem__)
            findings[index] = replace(findings[index], covers=tuple(covers))
        return findings

    def _find_owner(
        self,
        position: int,
        event: Event,
        ranges: list[tuple[int, int] | None],
        following: int | None,
    ) -> int | None:
        """Return the step that a call of a supporting tool belongs to.

        A tool in `with` is called between the first and the last event of its step, or before it:
        then the first event is the one `following` the call that any step covers.
        """
        name = self._roles.canonical_name(event.name or "")
        for index, span in enumerate(ranges):
            if span is None or not (span[0] < position < span[1] or span[0] == following):
                continue
            requirements = iter_requirements(self._steps[index])
            tools = {tool for requirement in requirements for tool in requirement.with_}
            if name in map(self._roles.canonical_name, tools):
                return index
        if self._roles.find_mark(event) != "supporting":
            return None
        begun = [(span[0], index) for index, span in enumerate(ranges) if span is not None]
        before = [entry for entry in begun if entry[0] < position]
        if before:
            return max(before)[1]
        return min(begun)[1] if begun else None


class ContractExtras:
    """The actions of a run that no step takes, and those that break a constraint."""

    def __init__(self, contract: Contract, roles: ToolRoles, matcher: StepMatcher) -> None:
        self._contract = contract
        self._roles = roles
        self._matcher = matcher
        self._candidates = matcher.candidates

    def find(
        self, steps: Sequence[StepFinding], taken: set[int], refused: set[int]
    ) -> tuple[Extra, ...]:
        """Return the extras in event order, at most one per event.

        `taken` are the candidates that steps take, `refused` those of steps whose condition did not
        hold. A call is a retry if the last one that met the same requirement failed. A sub-agent's
        actions have the severity of the hand-off.
        """
        covered = {event for step in steps for event in step.covers}
        taken_events = {self._candidates[index].event.id for index in taken}

        def shares(candidate: ContractCandidate) -> bool:
            """Return whether this is a command next to one that a step takes."""
            return candidate.quote is not None and candidate.event.id in taken_events

        # Only calls of these tools are compared, to find repeats.
        left_over = {
            candidate.name
            for index, candidate in enumerate(self._candidates)
            if candidate.is_accountable and index not in taken
        }
        violations = self._find_violations()
        met_parts = self._find_met_parts() if left_over else {}
        extras: dict[str, Extra] = {}
        calls: set[tuple[str, ...]] = set()
        failed: set[tuple[str, int, int]] = set()
        closed = False
        for index, candidate in enumerate(self._candidates):
            event = candidate.event
            if candidate.is_text or event.id in extras:
                continue
            is_compared = candidate.name in left_over
            call = _identify_call(candidate) if is_compared else ()
            met = met_parts.get(index, set()) if is_compared else set[tuple[str, int, int]]()
            if index in violations:
                extras[event.id] = _make_extra(candidate, violations[index], Severity.MAJOR)
            elif (
                candidate.is_accountable
                and index not in taken
                and (event.id not in covered or index in refused or shares(candidate))
            ):
                is_closing = self._roles.find_mark(event) == "closing" and not closed
                is_minor = is_closing or bool(met & failed) or call in calls
                severity = Severity.MINOR if is_minor else Severity.MAJOR
                if parent := extras.get(event.parent or ""):
                    severity = parent.severity
                extras[event.id] = _make_extra(candidate, _name_action(candidate), severity)
                closed = closed or is_closing
            calls.add(call)
            failed = failed | met if event.status is EventStatus.ERROR else failed - met
        return tuple(extras.values())

    def _find_met_parts(self) -> dict[int, set[tuple[str, int, int]]]:
        """Return the requirements that candidates meet: tool, step and part of the step."""
        met: dict[int, set[tuple[str, int, int]]] = {}
        for step in range(len(self._matcher.steps)):
            for at, part in enumerate(self._matcher.get_parts(step)):
                for index, result in part.matches.items():
                    if result.match is Match.FULL:
                        name = self._candidates[index].name
                        met.setdefault(index, set()).add((name, step, at))
        return met

    def _find_violations(self) -> dict[int, str]:
        """Return the candidates that break a constraint of the contract, with the reason."""
        violations: dict[int, str] = {}
        for constraint in self._contract.never:
            for index in self._matcher.list_matches(constraint):
                violations[index] = f"{_name_action(self._candidates[index])}, never allowed"
        for order in self._contract.before:
            firsts = self._matcher.list_matches(order.first)
            for index in self._matcher.list_matches(order.then):
                if not any(self._is_before(first, index) for first in firsts):
                    action = _name_action(self._candidates[index])
                    wanted = _name_required(order.first, self._matcher.variables)
                    violations.setdefault(index, f"{action}, without {wanted} before it")
        return violations

    def _is_before(self, first: int, later: int) -> bool:
        """Return whether one candidate was done before another, not only issued before it."""
        one, other = self._candidates[first], self._candidates[later]
        if one.event is other.event:
            # The commands of a line run one after the other.
            return first < later and None not in (one.command, other.command)
        if one.position >= other.position:
            return False
        return not one.event.turn or one.event.turn != other.event.turn


def _identify_call(candidate: ContractCandidate) -> tuple[str, ...]:
    """Return what two calls have in common if one repeats the other."""
    event, command = candidate.event, candidate.command
    program = "" if command is None else command.program
    content = candidate.quote or f"{event.text}\0{event.arguments!r}"
    return candidate.name, program, content


def _make_extra(candidate: ContractCandidate, what: str, severity: Severity) -> Extra:
    evidence = cite_candidate(candidate, "")
    return Extra(
        event=candidate.event.id,
        pointer=evidence.pointer,
        quote=evidence.quote,
        what=what,
        severity=severity,
        confidence=discount_unverified(_TOOL_ONLY, [candidate.event]),
    )


def cite_candidate(candidate: ContractCandidate, step_text: str) -> Evidence:
    """Cite the part of an event that a candidate is; else the passage most like the step."""
    event = candidate.event
    if quote := (candidate.quote or "").strip()[:_MAX_QUOTE].rstrip():
        texts = (event.text, *collect_strings(event.arguments, derived=False))
        if any(quote in text for text in texts):
            return Evidence(event.id, event.pointer, quote)
    evidence = cite(event, extract_terms(step_text))
    if candidate.is_result_only or evidence.pointer == event.pointer:
        return evidence
    return cite(event, frozenset())


def _check_result(step: StepContract, value: dict[str, object]) -> Truth:
    assert step.when is not None
    results: list[Truth] = []
    for key, condition in step.when.result.items():
        found: object = value
        for name in key.split("."):
            found = found.get(name) if is_object(found) else None
        results.append(Truth.UNKNOWN if found is None else check_condition(condition, found))
    if not results or Truth.UNKNOWN in results:
        return Truth.UNKNOWN
    return Truth.MISMATCH if Truth.MISMATCH in results else Truth.MATCH


def _cap_confidence(requirement: Requirement) -> float:
    if requirement.reasoning is not None:
        return _REASONING
    if requirement.message is not None or any(map(is_pattern, requirement.call)):
        return _MESSAGE
    return _TYPED_VALUE if requirement.where or requirement.is_ else _TOOL_ONLY


def _name_action(candidate: ContractCandidate) -> str:
    name = candidate.event.name or candidate.event.kind.value
    if candidate.command is not None and candidate.command.program:
        return f"{name}: {candidate.command.program}"
    return name if candidate.call is None else f"{name}: {candidate.call.name}"


def _describe_requirement(requirement: Requirement) -> tuple[str, str]:
    """Return the path and the expected value of a requirement that nothing matched."""
    own = requirement.alternatives[0]
    if own.names_action:
        names = dict.fromkeys(name for one in requirement.alternatives for name in one.call)
        return "call", " or ".join(names) or "any tool"
    wanted = own.message or own.reasoning
    path = "message" if own.message is not None else "reasoning"
    says = "; ".join(" or ".join(group[:4]) for group in wanted.says) if wanted else ""
    return path, says or "any text"


def _name_required(requirement: Requirement, variables: Mapping[str, str]) -> str:
    """Return what a constraint asks for: "check_policy", "bash: pg_dump", "pay with card X"."""
    names: list[str] = []
    for one in requirement.alternatives:
        parts = [
            part
            for condition in (*one.is_.values(), *one.where.values())
            for part in condition.parts
        ]
        programs = " or ".join(program for part in parts for program in part.program)
        values = [
            describe_condition(structs.replace(part, program=()), variables) for part in parts
        ]
        path, expected = _describe_requirement(one)
        called = expected if path == "call" else f"{path} that says {expected}"
        name = ": ".join(filter(None, (called, programs)))
        names.append(" with ".join(filter(None, (name, ", ".join(filter(None, values))))))
    return " or ".join(names)


def _describe_check(check: Check, requirement: Requirement) -> str:
    group, _, name = check.path.partition(".")
    condition = (requirement.is_ | requirement.where).get(name)
    expected = (condition and condition.for_) or check.expected
    if check.path == "only":
        return f"also given: {check.found}" if check.found else "arguments not shown"
    if group in {"message", "reasoning"}:
        if name.startswith("not."):
            return f"the {group} says {check.expected.removeprefix('not ')}"
        return f"the {group} does not say {check.expected}"
    if check.result is Truth.UNKNOWN:
        return f"value of {name} not shown, plan says {expected}"
    if group == "by":
        return f"done by {check.found or 'nobody named'}, plan says {expected}"
    if not check.found:
        return f"{name} not given, plan says {expected}"
    return f"called with {name}={' '.join(check.found.split())}, plan says {expected}"
