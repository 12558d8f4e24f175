"""Dates in the usual forms, compared with dates that may be partial."""

from __future__ import annotations

import pytest

from planproof.contracts.date_values import PartialDate, check_date, parse_partial_date, read_dates
from planproof.core.contract import Truth


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-12",
        "2026-03-12T10:00:00Z",
        "2026/3/12",
        "20260312",
        "20260312T101010",
        "03122026",
        "12/03/2026",
        "03/12/2026",
        "12.03.2026",
        "3/12",
        "03-12",
        "--03-12",
        "March 12",
        "march_12",
        "Mar 12, 2026",
        "March 12th",
        "12 March 2026",
        "12th of March",
        "12MAR",
        "12-Mar-26",
        "Thu, 12 Mar 2026 10:00",
        "on March 12 10:30",
        "from 2026-03-12 to 2026-03-15",
        1773273600,
        1773273600000,
        "1773273600",
    ],
)
def test_a_date_in_any_form(value: object) -> None:
    assert check_date("--03-12", value) is Truth.MATCH
    assert check_date("--03-13", value) is Truth.MISMATCH


@pytest.mark.parametrize(
    ("wanted", "value", "truth"),
    [
        ("2026-03-12", "March 12", Truth.MATCH),
        ("2026-03-12", "2025-03-12", Truth.MISMATCH),
        ("2026-03-12", "March 2026", Truth.UNKNOWN),
        ("2026-03", "2026-03-12", Truth.MATCH),
        ("2026-03", "2026-04-12", Truth.MISMATCH),
        ("2026", "12 March 2026", Truth.MATCH),
        ("---15", "2026-03-15", Truth.MATCH),
        ("--03-15", "the 15th", Truth.UNKNOWN),
        ("--03-15", "the 16th", Truth.MISMATCH),
        ("--03-12", "tomorrow", Truth.UNKNOWN),
        ("--03-12", "next Friday", Truth.UNKNOWN),
        ("--03-12", "2026-02-30", Truth.MISMATCH),
        ("--03-12", "version 1.2.3", Truth.MISMATCH),
        ("--03-12", "May I come at 10:30?", Truth.MISMATCH),
        ("--03-12", "", Truth.MISMATCH),
        ("--03-12", None, Truth.MISMATCH),
        ("--03-12", True, Truth.MISMATCH),
        ("--03-12", 7, Truth.MISMATCH),
        ("--03-12", float("inf"), Truth.MISMATCH),
        ("12 March", "2026-03-12", Truth.MATCH),
        ("soon", "2026-03-12", Truth.UNKNOWN),
        ("2026-13-01", "2026-01-13", Truth.UNKNOWN),
    ],
)
def test_dates_are_compared_by_their_parts(wanted: str, value: object, truth: Truth) -> None:
    assert check_date(wanted, value) is truth


def test_partial_dates_are_described() -> None:
    described = {text: str(parse_partial_date(text)) for text in ("--03-12", "2026-03", "---15")}
    assert described == {"--03-12": "12 March", "2026-03": "March 2026", "---15": "day 15"}
    assert parse_partial_date("-") is None
    assert parse_partial_date("2026-03-12 to 2026-03-15") is None


def test_a_day_and_month_in_digits_have_two_readings() -> None:
    assert read_dates("03/04/26") == [(PartialDate(2026, 4, 3), PartialDate(2026, 3, 4))]
    assert read_dates("13/04/2026") == [(PartialDate(2026, 4, 13),)]
