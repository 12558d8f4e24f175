"""What a step asks for and its events do not show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from planproof.checking.grounding import find_unmet_requirements
from tests.trace_builders import Event, did, said, thought
from tests.unit.checking.judge_cases import make_candidates, make_requirement


def find_unmet(step: str, *events: Event, beside: Sequence[Event] = ()) -> list[str]:
    """What a step lacks that is explained by these events, in a trace with others beside them."""
    whole = make_candidates(*events, *beside)
    actors = frozenset(unit.signature.actor for unit in whole)
    return find_unmet_requirements(make_requirement(step), whole[: len(events)], whole, actors)


@pytest.mark.parametrize(
    ("step", "event", "lacks"),
    [
        # values
        ("Read report-12.txt", did("read_file", path="report-12.txt"), ""),
        ("Read report-12.txt", did("read_file", path="report-13.txt"), "12.txt” not found"),
        ("Read report-12.txt", did("read_file", "report-12.txt", path="x"), ""),
        ("Cancel reservation K1NW8N", did("cancel", "K1NW8N gone", id="K1NW9N"), "8N” not found"),
        ("Find a table for 12 guests", did("find_table", "table for 12"), ""),
        ("Find a table for 12 guests", did("find_table", "table for 120"), "“12” not found"),
        ("Book the flight on May 3", did("book_flight", date="2024-05-03"), ""),
        ("Book the flight on May 3", did("book_flight", date="2024-05-04"), "“May 3” not found"),
        # steps written as calls
        ('read_file({"path": "a.txt"})', did("read_file", path="a.txt"), ""),
        ('read_file({"path": "a.txt"})', did("read_file", path="b.txt"), "b.txt, plan says a.txt"),
        # keeping
        ("Fetch the page and save it", did("fetch_page"), "no call for “save it”"),
        ("Fetch the page and save it", did("write_file", page="x"), ""),
        ("Fetch the page and save it", said("Here is the page."), ""),
        # later parts
        (
            "Open the page and delete the draft",
            did("open_page", page="draft"),
            "no call for “delete the draft”",
        ),
        ("Open the page and delete the draft", did("delete_page", page="draft"), ""),
        ("Open the page and delete the draft", said("The draft page is open."), ""),
        # alternatives
        ("Mail it to ann@a.org or bo@b.org", did("send_mail", to="bo@b.org"), ""),
        ("Mail it to ann@a.org or bo@b.org", did("send_mail", to="cy@c.org"), "and “bo@b.org” not"),
        ("Print the page or save it", did("print_page"), ""),
    ],
)  # fmt: skip
def test_what_one_event_does_not_show(step: str, event: Event, lacks: str) -> None:
    found = "; ".join(find_unmet(step, event))
    assert lacks in found if lacks else not found


def test_a_value_may_come_from_another_event_of_the_run() -> None:
    found = did("find_user", "ann_1", name="Ann"), did("book_flight", user="ann_1", flight="HAT030")
    assert find_unmet("Find the user Ann, then book flight HAT030", *found) == []


def test_words_may_speak_of_a_value_that_only_the_trace_knows() -> None:
    step, told = "Tell Ann that order 4711 has arrived", said("It has arrived, Ann.")
    assert find_unmet(step, told, beside=[did("get_order", id=4711)]) == []
    assert find_unmet(step, told) == ["value “4711” not found in any event of this step"]


def test_a_code_must_be_in_the_action_that_reports_it() -> None:
    step, sent = "Tell Ann the code K1NW8N", did("send_message", to="Ann")
    assert find_unmet(step, sent, beside=[did("get_code", "K1NW8N")]) == [
        "value “K1NW8N” not found in any call of this step"
    ]


def test_a_name_may_be_left_unsaid_where_the_trace_knows_it() -> None:
    step, call = "Look up the hotels in Paris", did("find_hotels")
    assert find_unmet(step, call, beside=[did("find_city", city="Paris")]) == []
    assert find_unmet(step, call) == ["value “Paris” not found in any call of this step"]


def test_a_call_without_a_recorded_output_may_have_returned_the_value() -> None:
    known = [did("list_files", "app.log db.log")]
    assert find_unmet("Read app.log", did("read_next_file", ""), beside=known) == []
    assert find_unmet("Read app.log", did("read_file", "", path="db.log"), beside=known) == [
        "value “app.log” not found in any call of this step"
    ]


def test_somebody_else_did_it() -> None:
    by_coder = {**thought("2 and 2 are 4."), "actor": "Programmer"}
    by_checker = {**thought("It is 4."), "actor": "Checker"}
    step = "The Checker compares the sums"
    assert find_unmet(step, by_coder, beside=[by_checker]) == ["no event by checker"]
    assert find_unmet(step, by_checker, beside=[by_coder]) == []


def test_a_number_may_count_the_calls() -> None:
    days = [did("get_weather", station="K", day=f"d{n}") for n in "abc"]
    step = "Fetch the weather at station K for {} days"
    assert find_unmet(step.format(3), *days) == []
    assert find_unmet(step.format(4), *days) == ["value “4” not found in any call of this step"]
    assert find_unmet(step.format(1), days[0]) == ["value “1” not found in any call of this step"]


def test_an_amount_of_money_must_be_in_the_message() -> None:
    paid = did("pay", amount="$414")
    step = "Tell Ann that $414 went back"
    assert find_unmet(step, said("It went back, Ann."), beside=[paid]) == [
        "value “$414” not found in any event of this step"
    ]
    assert find_unmet(step, said("$414 went back, Ann."), beside=[paid]) == []


def test_an_agent_that_the_step_gives_the_work_to_must_have_a_part_in_it() -> None:
    searched = {**said("Here is the list from the web."), "actor": "WebSurfer"}
    step = make_requirement("**Assistant**: once WebSurfer has the list, sort it out")
    run = make_candidates(searched)
    assert find_unmet_requirements(step, run, run, frozenset({"websurfer", "assistant"})) == [
        "no event by assistant"
    ]
    assert find_unmet_requirements(step, run, run, frozenset({"websurfer"})) == []


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("ls -r /tmp", ["value “-R” not found in any call of this step"]),
        ("ls -R /tmp", []),
        ("ls -aR /tmp", []),
    ],
)
def test_options_keep_their_case(command: str, found: list[str]) -> None:
    assert (
        find_unmet("List the folder with `ls` and its option `-R`", did("ls", c=command)) == found
    )


def test_who_is_handed_over_to_has_a_part_in_the_hand_over() -> None:
    handed = did("transfer_to_delivery_desk", to_agent="Delivery desk")
    beside = {**did("book_slot"), "actor": "Delivery desk"}
    assert find_unmet("Hand over to the delivery desk", handed, beside=[beside]) == []


@pytest.mark.parametrize(
    ("step", "call"),
    [
        ("Refund 49.90", did("refund", amount=49.9)),
        ("Refund 1,250.00 to the card", did("refund", amount=1250, to="card")),
        ("Create a meeting with Mira and Tom", did("create_meeting", people=["Mira", "Tom"])),
        ("Edit dates.py so that parse_day strips spaces", did("edit_file", path="dates.py")),
    ],
)
def test_a_value_may_be_written_as_programs_write_it(step: str, call: Event) -> None:
    assert find_unmet(step, call) == []


@pytest.mark.parametrize(
    ("step", "call", "absent"),
    [
        ("Refund 49.90", did("refund", amount=49.95), "49.90"),
        ("Create a meeting with Mira and Tom", did("create_meeting", who=["Mira"]), "Mira and Tom"),
    ],
)
def test_another_value_is_another_value(step: str, call: Event, absent: str) -> None:
    assert find_unmet(step, call) == [f"value “{absent}” not found in any call of this step"]


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        ({"account": "payroll", "sum": 5}, "called with account=payroll, plan says operations"),
        ({"sum": 5}, "called without account, plan says operations"),
        ({"account": "operations", "sum": None}, "called with sum=null, plan says 5"),
        ({"account": "operations", "sum": 5, "test": True}, "called with test, not in the plan"),
        ({"account": "a (b). C", "sum": 5}, "called with account=“a (b). C”, plan says operations"),
    ],
)
def test_the_note_on_other_arguments_names_the_first(arguments: dict[str, Any], note: str) -> None:
    step = 'transfer({"account": "operations", "sum": 5})'
    assert find_unmet(step, did("transfer", **arguments)) == [note]


def test_a_planned_call_of_another_tool_has_other_arguments() -> None:
    step = 'transfer({"account": "operations"})'
    assert find_unmet(step, said("Transferred.")) == ["called with other arguments than planned"]


@pytest.mark.parametrize("said_so", ["I did not transfer 500 EUR.", "Sent 500."])
def test_what_the_agent_says_does_not_show_what_a_call_was_made_with(said_so: str) -> None:
    transfer = did("transfer", to="DE99", amount=50)
    for events, beside in (((transfer,), (said(said_so),)), ((transfer, thought(said_so)), ())):
        (note,) = find_unmet("Transfer 500 EUR to DE99", *events, beside=beside)
        assert "“500” not found" in note
    booked = did("book_flight", passenger="Anna Lee", flight="UA12")
    (note,) = find_unmet(
        "Book flight UA12 for Marco Rossi", booked, beside=[said("Booked for Marco Rossi.")]
    )
    assert "Marco" in note


def test_a_code_that_another_call_returned_may_stand_for_an_id() -> None:
    pay = did("pay", payment="credit_card_9969263")
    cards = did("get_user", '{"id": "credit_card_9969263", "last_four": "7334"}', user="ann")
    assert find_unmet("Pay with the card ending in 7334", pay, beside=[cards]) == []
    (note,) = find_unmet("Pay with the card ending in 7334", pay, beside=[said("7334, then.")])
    assert "“7334” not found" in note


@pytest.mark.parametrize(
    ("step", "acts"),
    [
        ("Send Anna the invoice", True),
        ("Forward the mail to legal@example.com", True),
        ("Send the customer the booking details", False),
        ("Send the termination word in return", False),
    ],
)
def test_sending_to_someone_other_than_the_user_takes_a_call(step: str, *, acts: bool) -> None:
    assert make_requirement(step).requires_action is acts
