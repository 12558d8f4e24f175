"""The order of the parts of a step, values that are the same as in another one, and who acts."""

from __future__ import annotations

import pytest

from planproof import Verdict, evaluate
from planproof.contracts.contract_file import format_contract, parse_contract
from planproof.contracts.contract_validation import check_contract
from planproof.readers.decoding.source import Source
from planproof.verification import verify
from tests.trace_builders import Event, did, said, trace

THEN = """
planproof: contract/1
steps:
  - number: "1"
    text: Look up the order, then refund it
    all_of: [{call: get_order}, {call: refund_order}]
    ordered: true
  - {number: "2", text: Close the ticket, call: close_ticket}
"""
GET, REFUND, CLOSE = did("get_order"), did("refund_order"), did("close_ticket")


def check(text: str, *events: Event | tuple[Event, ...]) -> Verdict:
    contract = parse_contract(text, "test")
    document = trace(*events)
    verdict = evaluate(trace=document, contract=contract)
    assert verify(verdict.full(), Source.from_value(document), contract=contract) == ()
    return verdict


def statuses(verdict: Verdict) -> list[str]:
    return [step.status.value for step in verdict.steps]


def test_parts_in_the_order_of_the_step_are_executed() -> None:
    verdict = check(THEN, GET, REFUND, CLOSE)
    assert verdict.score == 1.0
    assert "ordered" in [item.path for item in verdict.steps[0].checks]


def test_swapped_parts_are_partial() -> None:
    verdict = check(THEN, REFUND, GET, CLOSE)
    assert statuses(verdict) == ["partial", "executed"]
    assert verdict.steps[0].note == "parts in another order than the step says"
    assert verdict.extras == ()


def test_without_ordered_parts_have_no_order() -> None:
    assert check(THEN.replace("ordered: true", ""), REFUND, GET, CLOSE).score == 1.0


def test_calls_of_one_turn_have_no_order() -> None:
    assert check(THEN, (REFUND, GET), CLOSE).score == 1.0


def test_a_later_match_that_is_in_order_is_preferred() -> None:
    verdict = check(THEN, REFUND, GET, REFUND, CLOSE)
    assert statuses(verdict) == ["executed", "executed"]
    assert [extra.severity for extra in verdict.extras] == ["major"]


def test_the_first_part_may_go_on_after_the_second_has_begun() -> None:
    several = THEN.replace("{call: get_order}", "{call: get_order, times: {min: 1}}")
    assert check(several, GET, REFUND, GET, CLOSE).score == 1.0


def test_what_may_be_absent_has_no_place() -> None:
    optional = THEN.replace("{call: get_order},", "{call: add_note, times: {min: 0}},")
    assert check(optional, REFUND, did("add_note"), CLOSE).score == 1.0


def test_a_missing_part_is_partial_whatever_the_order() -> None:
    verdict = check(THEN, REFUND, CLOSE)
    assert statuses(verdict) == ["partial", "executed"]
    assert verdict.steps[0].note == "no call of get_order"


def test_one_requirement_has_no_order() -> None:
    contract = parse_contract(
        "planproof: contract/1\nsteps: [{number: '1', text: Pay, call: pay, ordered: true}]", "test"
    )
    assert [problem.what for problem in check_contract(contract) if problem.is_error] == [
        "one requirement has no order."
    ]


def test_new_fields_are_written_and_read() -> None:
    text = """
planproof: contract/1
steps:
  - {number: "1", text: Open the file, call: open}
  - number: "2"
    text: Change that file, then report it
    all_of:
      - {call: edit, where: {path: {same_as: "1"}}, by: coder}
      - {message: {says: [[changed]], not: [refund]}}
    ordered: true
"""
    contract = parse_contract(text, "test")
    assert parse_contract(format_contract(contract), "test") == contract
    assert not [problem for problem in check_contract(contract) if problem.is_error]


SAME = """
planproof: contract/1
steps:
  - {number: "1", text: Open the settings, call: open_file}
  - {number: "2", text: Change that file, call: edit, where: {path: {same_as: "1"}}}
"""


@pytest.mark.parametrize(
    ("opened", "status"),
    [
        (did("open_file", "ok", path="a.yml"), "executed"),
        (did("open_file", "opened a.yml", name="settings"), "executed"),
        (did("open_file", "ok", path="b.yml"), "partial"),
        (did("open_file", "ok", path="a.yml.bak"), "partial"),
    ],
)
def test_a_value_is_the_same_as_in_the_call_or_result_of_a_step(opened: Event, status: str) -> None:
    verdict = check(SAME, opened, did("edit", "ok", path="a.yml"))
    assert statuses(verdict) == ["executed", status]


def test_a_value_without_an_earlier_call_is_unknown() -> None:
    verdict = check(SAME, did("edit", "ok", path="a.yml"))
    assert statuses(verdict) == ["missing", "ambiguous"]


def test_same_as_refers_to_an_earlier_step() -> None:
    contract = parse_contract(SAME.replace('same_as: "1"', 'same_as: "2"'), "test")
    assert [problem.what for problem in check_contract(contract) if problem.is_error] == [
        "refers to its own step."
    ]


TELL = """
planproof: contract/1
steps:
  - number: "1"
    text: Tell until when she has them, promising no refund
    message: {says: [[until, due]], not: [refund]}
"""


def test_what_a_message_must_not_say() -> None:
    other = did("list_loans")
    contract = TELL + '  - {number: "2", text: List, call: list_loans, }\n'
    said_well = check(contract, said("You have them until Friday."), other)
    assert statuses(said_well) == ["executed", "executed"]
    said_too_much = check(contract, said("You have them until Friday. A refund follows."), other)
    assert statuses(said_too_much) == ["partial", "executed"]
    assert said_too_much.steps[0].note == "the message says refund"
    assert statuses(check(contract, said("No comment."), other)) == ["missing", "executed"]


def test_a_message_that_only_must_not_say_something_is_an_error() -> None:
    contract = parse_contract(TELL.replace("says: [[until, due]], ", ""), "test")
    assert [problem.what for problem in check_contract(contract) if problem.is_error] == [
        "nearly any text satisfies it."
    ]


@pytest.mark.parametrize(
    ("actor", "status"),
    [
        ("Code_Reviewer", "executed"),
        ("code reviewer agent", "executed"),
        ("CodeReviewerAgent", "executed"),
        ("coder", "missing"),
        ("code_reviewer_2", "missing"),
        (None, "missing"),
    ],
)
def test_names_of_agents_are_compared_by_their_words(actor: str | None, status: str) -> None:
    text = """
planproof: contract/1
steps: [{number: "1", text: The code reviewer runs the checks, call: run, by: code reviewer}]
"""
    event = did("run", "ok")
    verdict = check(text, event if actor is None else {**event, "actor": actor})
    assert statuses(verdict) == [status]
