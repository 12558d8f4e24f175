"""Values that a step is to tell."""

from __future__ import annotations

import pytest

from planproof.checking.grounding import find_missing_reported_values
from tests.trace_builders import Event, did, said
from tests.unit.checking.judge_cases import make_candidates, make_requirement


@pytest.mark.parametrize(
    ("step", "event", "sort"),
    [
        ("Tell Ann the price of the room", said("It is a nice room."), "amount of money"),
        ("Tell Ann the price of the room", said("It is $40."), None),
        ("Tell Ann the price of the room", said("It is 40 euros."), None),
        ("Decline it, quoting its cost", said("I can't."), "amount of money"),
        ("Say no, naming its cost", said("I can't."), "amount of money"),
        ("Report the date of the trip", said("It is booked."), "date"),
        ("Report the date of the trip", said("It is on May 3."), None),
        ("Give the phone number of the shop", said("Call the shop."), "telephone number"),
        ("Give the phone number of the shop", said("Call 555 123 4567."), None),
        ("Write notes.md with a link to the source", did("write_file", text="Facts."), "link"),
        ("Write notes.md with a link to the source", did("write_file", text="https://a.b"), None),
        ("Tell Ann how many rooms are left", said("There are some left."), "number"),
        ("Tell Ann how many rooms are left", said("Three rooms are left."), None),
        ("Tell Ann the departure time", said("It leaves soon."), "time of day"),
        ("Tell Ann the departure time", said("It leaves at 10:30."), None),
        ("Tell Ann the e-mail address of the shop", said("Write to them."), "e-mail address"),
        ("Give a summary of the findings", said("FINAL ANSWER: 20"), "summary"),
        ("Give a summary of the findings", said("We found " + "one more " * 5), None),
        ("Write a summary of the findings", did("write_file", text="Rain."), None),
        # What is told is about the value, or somebody is to do something with it.
        ("Tell Ann that the price is too high", said("It is too much."), None),
        ("Tell Ann to follow the links", said("Please go on."), None),
        ("Explain why the fare rules it out", said("The rules say no."), None),
        ("Ask Ann for the price", said("What is it?"), None),
        ("Search for the price", did("search", q="room"), None),
    ],
)
def test_a_value_that_must_be_reported(step: str, event: Event, sort: str | None) -> None:
    assert find_missing_reported_values(make_requirement(step), make_candidates(event)) == (
        [f"no {sort} reported"] if sort else []
    )


def test_any_event_of_the_step_may_report_it() -> None:
    told = make_candidates(said("It is a nice room."), said("It is $40."))
    assert (
        find_missing_reported_values(make_requirement("Tell Ann the price of the room"), told) == []
    )
