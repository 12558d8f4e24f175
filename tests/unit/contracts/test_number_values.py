"""Numbers as people and programs write them."""

from __future__ import annotations

import pytest

from planproof.contracts.number_values import check_number, normalize_number, read_numbers
from planproof.core.contract import Truth


@pytest.mark.parametrize(
    ("value", "readings"),
    [
        (3, [(3.0,)]),
        (2.5, [(2.5,)]),
        ("3", [(3.0,)]),
        ("-3", [(-3.0,)]),
        ("1,200.50", [(1200.5,)]),
        ("1.200,50", [(1200.5,)]),
        ("49,90", [(49.9,)]),
        ("1 000 000", [(1_000_000.0,)]),
        ("$49.90", [(49.9,)]),
        ("-$5", [(-5.0,)]),
        ("EUR 12", [(12.0,)]),
        ("12kg", [(12.0,)]),
        ("10%", [(10.0, 0.1)]),
        ("5k", [(5000.0,)]),
        ("5m", [(5.0, 5e6)]),
        ("2 million", [(2e6,)]),
        ("1e3", [(1000.0,)]),
        ("three", [(3.0,)]),
        ("Twenty-one nights", [(21.0,)]),
        ("two hundred and five", [(205.0,)]),
        ("two thousand and ten", [(2010.0,)]),
        ("a dozen", [(12.0,)]),
        ("3 adults, 2 children", [(3.0,), (2.0,)]),
        ("v1.2.3", []),
        ("ORD-7x", []),
        ("often", []),
        ("", []),
        (True, []),
        (None, []),
        (float("nan"), []),
        (10**400, []),
        ("9" * 20_000, []),
    ],
)
def test_numbers_are_read(value: object, readings: list[tuple[float, ...]]) -> None:
    assert read_numbers(value) == readings


@pytest.mark.parametrize(
    ("value", "truth"),
    [
        (3, Truth.MATCH),
        ("three nights", Truth.MATCH),
        (3.0000000001, Truth.MATCH),
        (4, Truth.MISMATCH),
        ("none", Truth.MISMATCH),
        ("3 adults, 2 children", Truth.UNKNOWN),
    ],
)
def test_a_number_is_compared(value: object, truth: Truth) -> None:
    assert check_number(value, number=3, tolerance=0, low=None, high=None) is truth


def test_a_range_and_a_tolerance() -> None:
    assert check_number("10%", number=0.1, tolerance=0, low=None, high=None) is Truth.MATCH
    assert check_number(104, number=100, tolerance=5, low=None, high=None) is Truth.MATCH
    assert check_number(106, number=100, tolerance=5, low=None, high=None) is Truth.MISMATCH
    assert check_number(5, number=None, tolerance=0, low=5, high=None) is Truth.MATCH
    assert check_number(5, number=None, tolerance=0, low=1, high=4.9) is Truth.MISMATCH


@pytest.mark.parametrize(
    ("word", "normal"),
    [
        ("1,200.50", "1200.5"),
        ("12.0", "12"),
        ("0", "0"),
        ("007", None),
        ("1,20", None),
        ("a", None),
    ],
)
def test_plain_numbers_have_one_form(word: str, normal: str | None) -> None:
    assert normalize_number(word) == normal
