"""Check the findings of a contract again, without the search that produced them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from planproof.checking.candidates import remove_restatements
from planproof.checking.contract_alignment import Taken
from planproof.checking.contract_candidates import (
    ContractCandidate,
    ToolRoles,
    build_contract_candidates,
)
from planproof.checking.contract_findings import ContractExtras, cite_candidate
from planproof.checking.contract_judge import StepMatcher
from planproof.checking.event_text import QuoteLocator
from planproof.core.contract import Contract, Match
from planproof.core.finding import CONDITION_NOT_MET, EQUATED, Extra, Status, StepFinding
from planproof.core.trace import Trace
from planproof.core.vocabulary import Vocabulary


def recheck_findings(
    contract: Contract,
    trace: Trace,
    steps: Sequence[StepFinding],
    extras: Sequence[Extra],
    vocabulary: Vocabulary,
    variables: Mapping[str, str],
    quotes: QuoteLocator,
) -> Iterator[str]:
    """Yield what is wrong with the findings of a contract: conditions, statuses, extras."""
    roles = ToolRoles(contract, vocabulary)
    evidence = remove_restatements(trace, contract.to_plan())
    candidates = build_contract_candidates(trace, evidence, roles)
    findings = {step.number: step for step in steps}
    matcher = StepMatcher(contract, candidates, variables)
    if bound := matcher.bind_variables(_find_taken(matcher, findings, quotes)):
        matcher = StepMatcher(contract, candidates, {**variables, **bound})
    taken = _find_taken(matcher, findings, quotes)
    by_number = {step.number: (at, step) for at, step in enumerate(steps)}
    for index, step in enumerate(matcher.steps):
        if step.number in by_number:
            at, finding = by_number[step.number]
            yield from _check_status(matcher, index, finding, taken[index], f"/steps/{at}")
            yield from _check_conditions(matcher, index, finding, f"/steps/{at}")
    used = {candidate for own in taken for chosen in own for candidate in chosen}
    yield from _check_extras(ContractExtras(contract, roles, matcher), steps, extras, used)


def _find_taken(
    matcher: StepMatcher, findings: Mapping[str, StepFinding], quotes: QuoteLocator
) -> list[Taken]:
    """Return for each step the candidates that its finding names and that match it.

    A call or text is named by its event, a command or a call in code by its quote as well.
    """
    taken: list[Taken] = []
    used: set[int] = set()
    for index, step in enumerate(matcher.steps):
        parts = matcher.get_parts(index)
        finding = findings.get(step.number)
        named = set[int]()
        if finding is not None:
            matches = [item for part in parts for item in part.matches.items()]
            full = {candidate for candidate, result in matches if result.match is Match.FULL}
            order = sorted(dict(matches), key=lambda c: (c in used, c not in full, c))
            named = _find_named(matcher.candidates, order, finding, quotes)
            used |= named
        taken.append(tuple(tuple(c for c in part.matches if c in named) for part in parts))
    return taken


def _find_named(
    candidates: Sequence[ContractCandidate],
    matched: Sequence[int],
    finding: StepFinding,
    quotes: QuoteLocator,
) -> set[int]:
    """Return the candidates that a finding names; of commands with equal quotes the first ones."""
    cited = Counter((evidence.event, evidence.quote) for evidence in finding.evidence)
    named: set[int] = set()
    for index in matched:
        candidate = candidates[index]
        if candidate.event.id not in finding.covers:
            continue
        if candidate.quote is not None:
            evidence = quotes.locate(cite_candidate(candidate, finding.text), finding.text)
            quote = (evidence.event, evidence.quote)
            if not cited[quote]:
                continue
            cited[quote] -= 1
        named.add(index)
    return named


def _check_status(
    matcher: StepMatcher, index: int, finding: StepFinding, taken: Taken, where: str
) -> Iterator[str]:
    """Check that the cited events meet the requirements as the status says."""
    if finding.note.startswith(CONDITION_NOT_MET):
        if matcher.steps[index].when is None and matcher.steps[index].else_of is None:
            yield f"{where}/note: the step has no condition."
        return
    matches = [
        [part.matches[candidate].match for candidate in chosen]
        for part, chosen in zip(matcher.get_parts(index), taken, strict=True)
    ]
    parts = zip(matcher.get_parts(index), matches, strict=True)
    met = [found.count(Match.FULL) >= part.min for part, found in parts]
    if finding.status is Status.EXECUTED and not (met and all(met)):
        yield f"{where}/status: executed, but the cited events do not meet every requirement."
    if finding.status is Status.EXECUTED and not _can_be_in_order(matcher, index, taken):
        yield f"{where}/status: executed, but the cited events are not in the order of the step."
    present = any(match in {Match.FULL, Match.NEAR} for found in matches for match in found)
    if finding.status in {Status.PARTIAL, Status.OUT_OF_ORDER} and not present:
        yield f"{where}/status: {finding.status}, but no cited event matches the step."


def _can_be_in_order(matcher: StepMatcher, index: int, taken: Taken) -> bool:
    """Return whether the requirements of a step can have begun in their order, by what is cited."""
    step = matcher.aligned_steps[index]
    if step.ranks is None:
        return True
    reached = -1
    starts: dict[int, set[int]] = {}
    for part, chosen in zip(step.parts, taken, strict=True):
        if part.min:
            full = {i for i in chosen if part.matches[i].match is Match.FULL}
            starts.setdefault(part.place, set()).update(step.ranks[i] for i in full)
    for place in sorted(starts):
        reached = min((rank for rank in starts[place] if rank >= reached), default=-2)
        if reached == -2:
            return False
    return True


def _check_conditions(
    matcher: StepMatcher, index: int, finding: StepFinding, where: str
) -> Iterator[str]:
    """Check that every recorded condition gives the recorded result again."""
    known = {
        check
        for part in matcher.get_parts(index)
        for result in part.matches.values()
        for check in result.checks
    }
    for number, check in enumerate(finding.checks):
        if check.path != EQUATED and check.event is not None and check not in known:
            place = f"{where}/checks/{number}"
            yield f"{place}: {check.path} does not give this result at {check.event}."


def _check_extras(
    finder: ContractExtras,
    steps: Sequence[StepFinding],
    extras: Sequence[Extra],
    taken: set[int],
) -> Iterator[str]:
    """Check that the extras are the actions that the steps leave over, with their severity."""
    expected = {extra.event: extra for extra in finder.find(steps, taken, set())}
    recorded = {extra.event: index for index, extra in enumerate(extras)}
    for event in expected.keys() - recorded.keys():
        yield f"/extras: action {event} is neither covered by a step nor an extra."
    for event, index in recorded.items():
        if event not in expected:
            yield f"/extras/{index}: {event} is not an extra by this contract."
        elif extras[index].severity is not expected[event].severity:
            yield f"/extras/{index}/severity: expected {expected[event].severity}."
