"""Random small contracts on random small traces: what findings cite, and what alternatives add."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from planproof import evaluate
from planproof.checking.contract_candidates import ToolRoles, build_contract_candidates
from planproof.checking.contract_judge import StepMatcher
from planproof.contracts.contract_validation import check_contract
from planproof.core.contract import (
    Condition,
    Contract,
    MessageCondition,
    Requirement,
    StepContract,
    Times,
    iter_requirements,
)
from planproof.core.finding import Status, StepFinding
from planproof.core.json_values import is_object
from planproof.core.trace import Event as TraceEvent
from planproof.core.trace import Kind, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.verification import verify
from tests.trace_builders import Event, did, said, thought, trace

TOOLS = ("alpha", "beta", "gamma")
WORDS = ("red", "blue", "green")
EACH = Condition(is_each=True)
PRESENT = frozenset({Status.EXECUTED, Status.PARTIAL, Status.OUT_OF_ORDER})

words = st.sampled_from(WORDS)
value_conditions = st.builds(
    Condition, any_of=st.lists(words, min_size=1, max_size=2, unique=True).map(tuple)
)
times = st.sampled_from([Times(), Times(), Times(min=2, max=2), Times(min=1, max=None)])
calls = st.builds(
    Requirement,
    call=st.lists(st.sampled_from(TOOLS), min_size=1, max_size=2, unique=True).map(tuple),
    where=st.dictionaries(st.sampled_from("xy"), value_conditions, max_size=2),
    times=times,
)
says = st.lists(words, min_size=1, max_size=2, unique=True).map(lambda group: (tuple(group),))
text_conditions = says.map(lambda groups: MessageCondition(says=groups))
messages = st.builds(Requirement, message=text_conditions)
thoughts = st.builds(Requirement, reasoning=text_conditions)
for_each = st.sampled_from(TOOLS).map(
    lambda tool: Requirement(call=(tool,), where={"x": EACH}, each=WORDS[:2])
)
single = st.one_of(calls, calls, messages, thoughts, for_each)
requirements = single | st.lists(single, min_size=2, max_size=3).map(
    lambda alternatives: Requirement(any_of=tuple(alternatives))
)


@st.composite
def draw_contract(draw: st.DrawFn) -> Contract:
    """Draw a contract of up to four steps."""
    steps = [
        StepContract(
            number=str(number),
            text="Do it",
            all_of=tuple(draw(st.lists(requirements, min_size=1, max_size=2))),
            free_order=draw(st.integers(0, 4)) == 0,
        )
        for number in range(1, draw(st.integers(1, 4)) + 1)
    ]
    return Contract(steps=tuple(steps))


def call_tool(tool: str, given: dict[str, str]) -> Event:
    return did(tool, "ok", **given)


arguments = st.dictionaries(st.sampled_from("xyz"), words, max_size=2)
events = st.one_of(
    st.builds(call_tool, st.sampled_from(TOOLS), arguments),
    words.map(lambda word: said(f"It is {word}.")),
    words.map(lambda word: thought(f"Is it {word}?")),
)
turns = st.one_of(events, events, st.tuples(events, events))
runs = st.lists(turns, min_size=1, max_size=6)


def is_met_by(requirement: Requirement, event: TraceEvent, value: str | None = None) -> bool:
    """Return whether an event meets one requirement, without the code under test."""
    wanted = requirement.message or requirement.reasoning
    if wanted is not None:
        is_text = event.kind is Kind.MESSAGE or (
            requirement.reasoning is not None and event.kind is Kind.REASONING
        )
        return is_text and all(any(word in event.text for word in group) for group in wanted.says)
    given = event.arguments if is_object(event.arguments) else {}
    return event.name in requirement.call and all(
        given.get(name) in ((value,) if condition.is_each and value else condition.any_of)
        for name, condition in requirement.where.items()
    )


def is_related_to(requirement: Requirement, event: TraceEvent) -> bool:
    """Return whether an event is the action of a requirement, with whatever values."""
    if requirement.call:
        return event.name in requirement.call
    return any(is_met_by(requirement, event, value) for value in (None, *requirement.each))


def is_met(requirement: Requirement, cited: list[TraceEvent]) -> bool:
    """Return whether the cited events meet a requirement, in one of its ways.

    Alternatives that are taken the same number of times may be mixed.
    """
    for one in requirement.alternatives:
        if one.each:
            met = all(any(is_met_by(one, event, value) for event in cited) for value in one.each)
        else:
            equal = [o for o in requirement.alternatives if o.times == one.times and not o.each]
            count = sum(any(is_met_by(other, event) for other in equal) for event in cited)
            met = count >= one.times.min
        if met:
            return True
    return False


def list_problems(step: StepContract, finding: StepFinding, run: Trace) -> Iterator[str]:
    by_id = {event.id: event for event in run.events}
    cited = [by_id[event] for event in finding.covers]
    if not {evidence.event for evidence in finding.evidence} <= set(finding.covers):
        yield "an event is cited but not covered"
    for event in cited:
        if not any(is_related_to(one, event) for one in iter_requirements(step)):
            yield f"{event.id} does not match"
    if finding.status in PRESENT and not cited:
        yield "nothing is cited"
    if finding.status is Status.EXECUTED:
        for requirement in step.all_of:
            if not is_met(requirement, cited):
                yield "a requirement is not met"
    for check in finding.checks:
        if check.event is not None and check.event not in finding.covers:
            yield f"the check {check.path} is of another event"


@given(draw_contract(), runs)
def test_findings_cite_only_candidates_that_match(
    contract: Contract, run: list[Event | tuple[Event, ...]]
) -> None:
    assume(not any(problem.is_error for problem in check_contract(contract)))
    source = Source.from_value(trace(*run))
    verdict = evaluate(trace=trace(*run), contract=contract)
    read = read_trace(source)
    for step, finding in zip(contract.steps, verdict.steps, strict=True):
        assert list(list_problems(step, finding, read)) == []
    covered = {event for finding in verdict.steps for event in finding.covers}
    actions = {event.id for event in read.events if event.kind is Kind.ACTION}
    assert {extra.event for extra in verdict.extras} == actions - covered
    assert verify(verdict.full(), source, contract=contract) == ()


def count_met_steps(contract: Contract, run: Trace) -> int:
    candidates = build_contract_candidates(run, run, ToolRoles(contract, Vocabulary()))
    alignment = StepMatcher(contract, candidates, {}).align()
    assume(alignment.is_exact)
    return alignment.objective.full


@given(draw_contract(), runs, single, st.data())
def test_an_alternative_never_lowers_the_number_of_met_steps(
    contract: Contract,
    run: list[Event | tuple[Event, ...]],
    added: Requirement,
    data: st.DataObject,
) -> None:
    read = read_trace(Source.from_value(trace(*run)))
    at = data.draw(st.integers(0, len(contract.steps) - 1))
    step = contract.steps[at]
    part = data.draw(st.integers(0, len(step.all_of) - 1))
    alternatives = (*step.all_of[part].alternatives, added)
    # Of alternatives that differ in number one is chosen before the alignment.
    assume(len({one.times for one in alternatives}) == 1)
    assume(not any(one.each for one in alternatives))
    widened = Requirement(any_of=alternatives)
    parts = (*step.all_of[:part], widened, *step.all_of[part + 1 :])
    steps = (*contract.steps[:at], replace(step, all_of=parts), *contract.steps[at + 1 :])
    more = replace(contract, steps=steps)
    assert count_met_steps(more, read) >= count_met_steps(contract, read)
