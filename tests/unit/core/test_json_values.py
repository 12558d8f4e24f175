from __future__ import annotations

from typing import Any

import pytest

from planproof.core.json_values import format_value, is_deeper_than, parse_embedded_json, parse_time


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        (" \n[1]", [1]),
        ("[NaN]", ["NaN"]),
        ("3", None),
        ('"a"', None),
        ("", None),
        ("{broken", None),
        (deep(250), None),
        (deep(100_000), None),
        (f"[{'1' * 5000}]", None),
    ],
)
def test_json_in_a_string(text: str, value: Any) -> None:
    assert parse_embedded_json(text) == value


def test_many_brackets_are_not_yet_deep() -> None:
    assert parse_embedded_json("[" + ",".join(["[]"] * 300) + "]") == [[]] * 300


@pytest.mark.parametrize(
    ("value", "limit", "answer"),
    [(1, 0, False), ([], 0, True), ([], 1, False), ([[1]], 1, True), ({"a": {"b": 1}}, 2, False)],
)
def test_depth(value: Any, limit: int, answer: bool) -> None:
    assert is_deeper_than(value, limit) is answer


@pytest.mark.parametrize(
    ("value", "time"),
    [
        ("2025-03-19T16:49:26Z", "2025-03-19T16:49:26Z"),
        (1_758_026_599, "2025-09-16T12:43:19+00:00"),
        (1_758_026_599.5, "2025-09-16T12:43:19.500000+00:00"),
        (1_758_026_599_000, "2025-09-16T12:43:19+00:00"),
        ("1758026599000000000", "2025-09-16T12:43:19+00:00"),
        ("x" * 100, "x" * 64),
        ("²", "²"),
        ("", None),
        (True, None),
        (None, None),
        (float("nan"), None),
        (10**400, None),
    ],
)
def test_times(value: Any, time: str | None) -> None:
    assert parse_time(value) == time


@pytest.mark.parametrize(
    ("value", "text"), [("a", "a"), (None, ""), ({"é": 1}, '{"é": 1}'), ([], "[]"), (0, "0")]
)
def test_a_value_as_the_text_of_an_event(value: Any, text: str) -> None:
    assert format_value(value) == text
