"""Conditions on the values of arguments."""

from __future__ import annotations

from typing import Any

import pytest

from planproof.contracts.condition_check import check_condition, describe_condition
from planproof.contracts.value_check import all_true, any_true, format_scalar, matches_glob
from planproof.core.contract import Condition, SqlCondition, Truth

MATCH, MISMATCH, UNKNOWN = Truth.MATCH, Truth.MISMATCH, Truth.UNKNOWN


@pytest.mark.parametrize(
    ("condition", "value", "truth"),
    [
        (Condition(any_of=("LIS", "Lisbon")), "lisbon", MATCH),
        (Condition(any_of=("LIS", "Lisbon")), "Berlin", MISMATCH),
        (Condition(any_of=("LIS",)), "Lisb\u2026", UNKNOWN),
        (Condition(any_of=("LIS",)), "[REDACTED]", UNKNOWN),
        (Condition(any_of=("12",)), 12.0, MATCH),
        (Condition(any_of=("12",)), 112, MISMATCH),
        (Condition(any_of=("yes",)), True, MATCH),
        (Condition(any_of=("yes",)), False, MISMATCH),
        (Condition(any_of=("company",), not_=("personal",)), "company card", MATCH),
        (Condition(any_of=("card",), not_=("personal",)), "personal card", MISMATCH),
        (Condition(equals="Open  Order"), "open order", MATCH),
        (Condition(equals="open"), "open order", MISMATCH),
        (Condition(equals="2.10"), 2.1, MATCH),
        (Condition(equals="2.10"), "2.1", MISMATCH),
        (Condition(equals="x"), 2.1, MISMATCH),
        (Condition(equals="true"), True, MATCH),
        (Condition(glob="report-*.csv"), "report-2026.CSV", MATCH),
        (Condition(glob="report-*.csv"), "report-2026.csv.bak", MISMATCH),
        (Condition(number=3), "three", MATCH),
        (Condition(number=3), "four", MISMATCH),
        (Condition(min=3, max=5), 4, MATCH),
        (Condition(min=3), 2, MISMATCH),
        (Condition(date="--03-12"), "12 March", MATCH),
        (Condition(date="--03-12"), {"year": 2026, "month": 3, "day": 12}, MATCH),
        (Condition(date="--03-12"), {"month": "3", "day": "13"}, MISMATCH),
        (Condition(path="a/b.txt"), "/x/a/b.txt", MATCH),
        (Condition(url="x.com"), "https://x.com/", MATCH),
        (Condition(any_value=True), "", MATCH),
        (Condition(any_value=True), None, MISMATCH),
        (Condition(any_of=("a",)), None, MISMATCH),
        (Condition(not_=("a",)), None, MATCH),
        (Condition(not_=("a",)), [], MATCH),
        (Condition(), "anything", MATCH),
        (Condition(any_of=("a",), number=3), "a 3", MATCH),
        (Condition(any_of=("a",), number=3), "a 4", MISMATCH),
    ],
)
def test_a_condition_on_one_value(condition: Condition, value: Any, truth: Truth) -> None:
    assert check_condition(condition, value) is truth


@pytest.mark.parametrize(
    ("condition", "value", "truth"),
    [
        (Condition(any_of=("a@x.com", "b@x.com")), ["a@x.com"], MATCH),
        (Condition(any_of=("a@x.com", "b@x.com")), ["b@x.com", "a@x.com"], MATCH),
        (Condition(any_of=("a@x.com",)), ["a@x.com", "eve@evil.org"], MISMATCH),
        (Condition(any_of=("a@x.com",)), "a@x.com, eve@evil.org", MISMATCH),
        (Condition(any_of=("a@x.com",)), "a@x.com; eve@evil.org", MISMATCH),
        (Condition(any_of=("a@x.com",)), "a@x.com and eve@evil.org", MISMATCH),
        (Condition(any_of=("a@x.com",)), "a@x.com eve@evil.org", MISMATCH),
        (Condition(any_of=("a@x.com",)), "Anna <a@x.com>, Eve <eve@evil.org>", MISMATCH),
        (Condition(any_of=("a@x.com",)), "Anna <a@x.com>", MATCH),
        (Condition(any_of=("a@x.com",)), "write to a@x.com or call b@x.com", MATCH),
        (Condition(any_of=("a",)), [], MISMATCH),
        (Condition(any_of=("a",)), [["a"], ["a"]], MATCH),
        (Condition(any_of=("a",)), [["a"], ["b"]], MISMATCH),
        (Condition(not_=("b",)), ["a", "b"], MISMATCH),
        (Condition(number=3), [3, "three"], MATCH),
        (Condition(number=3), [3, 4], MISMATCH),
        (Condition(equals='["a", 1]'), ["a", 1], MATCH),
        (Condition(equals='["a", 1]'), ["a", 2], MISMATCH),
        (Condition(any_of=("Ann",)), {"name": "Ann", "age": 3}, MATCH),
        (Condition(any_of=("Ann",), not_=("Bob",)), {"name": "Ann", "with": "Bob"}, MISMATCH),
        (Condition(any_of=("Ann",)), {"name": "Bob", "friends": [{"n": "Eve"}]}, MISMATCH),
        (Condition(any_of=("Ann",)), [{"name": "Ann"}, {"name": "Bob"}], MISMATCH),
        (Condition(any_of=("a",)), ["a"] * 20_000, UNKNOWN),
        (Condition(any_of=("a",)), {str(n): "a" for n in range(20_000)}, UNKNOWN),
    ],
)
def test_lists_are_closed_and_objects_are_open(
    condition: Condition, value: Any, truth: Truth
) -> None:
    assert check_condition(condition, value) is truth


@pytest.mark.parametrize(
    ("condition", "value", "truth"),
    [
        (Condition(program=("pg_dump",)), "sudo pg_dump payments", MATCH),
        (Condition(program=("pg_dump",), argument=("payments",)), "pg_dump payments", MATCH),
        (
            Condition(program=("pg_dump",), argument=("payments",)),
            "pg_dump a; ls payments",
            MISMATCH,
        ),
        (Condition(program=("pg_dump",), argument=("payments",)), "pg_dump $DB", UNKNOWN),
        (Condition(program=("git push",)), ["bash", "-lc", "git push origin main"], MATCH),
        (Condition(program=("pytest",)), "import subprocess\nsubprocess.run(['pytest'])", MATCH),
        (Condition(program=("pytest",)), "!pytest -q\nx = 1", MATCH),
        (Condition(program=("pytest",)), "print('pytest')", MISMATCH),
        (Condition(program=("pytest",)), 7, MISMATCH),
        (Condition(program=("sleep",)), "sleep 5", MATCH),
        (Condition(calls=("read_csv",)), "import pandas as pd\npd.read_csv('x')", MATCH),
        (Condition(calls=("read_csv",)), "# pd.read_csv('x')", MISMATCH),
        (Condition(calls=("read_csv",)), "def (", UNKNOWN),
        (Condition(calls=("read_csv",)), ["x"], MISMATCH),
        (Condition(sql=SqlCondition(verb="select")), "select 1", MATCH),
        (Condition(sql=SqlCondition(verb="select")), 1, MISMATCH),
    ],
)
def test_conditions_on_code(condition: Condition, value: Any, truth: Truth) -> None:
    assert check_condition(condition, value) is truth


@pytest.mark.parametrize(
    ("condition", "described"),
    [
        (Condition(any_of=("LIS", "Lisbon")), "LIS or Lisbon"),
        (Condition(min=3), ">= 3"),
        (Condition(min=3, max=5.5), ">= 3, <= 5.5"),
        (Condition(number=49.9, tolerance=0.1), "49.9 \u00b1 0.1"),
        (Condition(number=1_000_000), "1000000"),
        (Condition(date="--03-12"), "12 March"),
        (Condition(date="soon"), "soon"),
        (Condition(path="a/b"), "a/b"),
        (
            Condition(any_of=("card",), not_=("personal", "private")),
            "card, not personal or private",
        ),
        (
            Condition(program=("pg_dump",), argument=("payments",)),
            "program pg_dump, argument payments",
        ),
        (Condition(calls=("pandas.read_csv",)), "a call of pandas.read_csv"),
        (
            Condition(sql=SqlCondition(verb="select", tables=("a", "b"), columns=("c",))),
            "SQL SELECT table a, b and column c",
        ),
        (Condition(sql=SqlCondition(tables=("a",))), "SQL table a"),
        (Condition(from_step="1"), "from step 1"),
        (Condition(var="user"), "$user"),
        (Condition(is_each=True), "each value"),
        (Condition(any_value=True), "any value"),
    ],
)
def test_a_condition_is_described(condition: Condition, described: str) -> None:
    assert describe_condition(condition) == described


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("*", "", True),
        ("a*", "abc", True),
        ("*c", "abc", True),
        ("a*c", "ac", True),
        ("a*a", "a", False),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("*b?d*", "aabcdd", True),
        ("*b?d*", "aabdd", True),
        ("*b?d*", "aabxxd", False),
        ("*a*b*a*", "ccaccbcca", True),
        ("*a*b*a*", "ccacca", False),
        ("[ab]", "a", False),
        ("", "", True),
    ],
)
def test_globs(pattern: str, text: str, fits: bool) -> None:
    assert matches_glob(pattern, text) is fits


def test_three_values_are_combined() -> None:
    assert all_true([MATCH, UNKNOWN]) is UNKNOWN
    assert all_true([UNKNOWN, MISMATCH]) is MISMATCH
    assert all_true([]) is MATCH
    assert any_true([MISMATCH, UNKNOWN]) is UNKNOWN
    assert any_true([UNKNOWN, MATCH]) is MATCH
    assert any_true([]) is MISMATCH


def test_a_number_of_too_many_digits_is_no_text() -> None:
    assert check_condition(Condition(any_of=("1",)), 10**5_000) is MISMATCH


def test_numbers_as_text() -> None:
    assert [format_scalar(value) for value in (3, 3.0, 2.5, True, "x")] == [
        *("3", "3", "2.5", "true", "x")
    ]
