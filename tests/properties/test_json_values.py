"""Strict JSON is what the standard library makes of it, or nothing."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planproof.core import json_values as strict
from planproof.core.json_values import (
    NOT_STRICT_ERRORS,
    has_more_values,
    is_list,
    is_object,
    parse_strict,
)

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
# Texts that are nearly JSON: what one parser would let pass and another would not.
_PIECES = st.sampled_from(
    '{ } [ ] , : " \\ "a": "a" "\\u0041" "\\ud83d" "\\ude00" \\n \n \t \x00 \x7f 0 -0 -0.0 01 1. '
    ".5 1e5 1E+2 1e400 -1e400 5e-324 1e23 9007199254740993 18446744073709551616 NaN Infinity "
    "-Infinity true false null nul é 😀 \ufeff \xa0".split(" ")
)


def _agrees(text: str) -> None:
    try:
        value = parse_strict(text)
    except NOT_STRICT_ERRORS:
        return
    # The written form also tells 1 from 1.0 and True, and 0.0 from -0.0.
    assert repr(value) == repr(json.loads(text))


@given(_VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_what_was_written_is_read_as_the_standard_library_reads_it(
    value: Any, plain: bool, indent: int | None
) -> None:
    _agrees(json.dumps(value, ensure_ascii=plain, indent=indent))


@given(st.lists(_PIECES, max_size=9).map("".join) | st.text(max_size=20))
def test_nothing_is_read_that_the_standard_library_refuses(text: str) -> None:
    _agrees(text)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-25, 25))
def test_a_number_is_the_nearest_one(number: float, power: int) -> None:
    text = f"{number!r}" if "e" in repr(number) else f"{number!r}e{power}"
    if math.isfinite(float(text)):
        assert parse_strict(text) == float(text)


@pytest.mark.parametrize(
    "text",
    ["NaN", "[-Infinity]", "1e400", '"\\ud800"', '{"a": "\\ude00\\ud83d"}', "[" * 5000, "9" * 5000],
)
def test_what_needs_a_closer_look_is_refused(text: str) -> None:
    with pytest.raises(NOT_STRICT_ERRORS):
        parse_strict(text)


@given(_VALUES, st.booleans(), st.sampled_from([None, 1]), st.integers(1, 20))
def test_values_are_counted_as_they_are_parsed(
    value: Any, ascii_: bool, indent: int | None, block: int
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_, indent=indent)
    count = _count(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strict, "_BLOCK", block)
        assert not has_more_values(text, count)
        assert has_more_values(text, count - 1)


def _count(value: Any) -> int:
    """Count the values and keys; an empty list or object counts twice."""
    if is_object(value):
        return 1 + (sum(1 + _count(held) for held in value.values()) or 1)
    return 1 + (sum(map(_count, value)) or 1) if is_list(value) else 1
