from __future__ import annotations

from typing import Any

import pytest

from planproof.readers.toolkit.python_repr import parse_repr

VALUES: list[tuple[str, Any]] = [
    (
        "{'a': 1, \"b\": [None, True, -2.5e3], 'c': ()}",
        {"a": 1, "b": [None, True, -2500.0], "c": []},
    ),
    ("'it\\'s\\n\\x41\\u00e9'", "it's\nAé"),
    ("r'a\\n' 'b'", "a\\nb"),
    ("'''two\nlines'''", "two\nlines"),
    ("{1, 2}", [1, 2]),
    (
        "Call(id='c', f(1, x=None))",
        {"@type": "Call", "id": "c", "@args": [{"@type": "f", "@args": [1], "x": None}]},
    ),
    ("[<Thing at 0x1>, Kind.A, ...]", ["<Thing at 0x1>", "Kind.A", "..."]),
    ("1e999", "1e999"),
    ("'\\ud800'", "\ufffd"),
]


@pytest.mark.parametrize(("text", "value"), VALUES, ids=[text for text, _ in VALUES])
def test_values(text: str, value: Any) -> None:
    parsed = parse_repr(text)
    assert parsed is not None
    assert (parsed.value, parsed.end) == (value, len(text))


@pytest.mark.parametrize(
    "text", ["", "[1", "'open", "{'a' 1}", "f(", "<", "[" * 1000, "+", "[1 2]", "'a\\"]
)
def test_what_is_no_value(text: str) -> None:
    assert parse_repr(text) is None


def test_the_range_of_a_value_includes_its_name() -> None:
    text = "x = Step(tool='a', steps=[(1, {'k': 'v'})])"
    parsed = parse_repr(text, 4)
    assert parsed is not None
    found = {pointer: text[start:end] for pointer, (start, end) in parsed.ranges.items()}
    assert found["/tool"] == "tool='a'"
    assert found["/steps/0"] == "(1, {'k': 'v'})"
    assert found["/steps/0/1/k"] == "'k': 'v'"


def test_nothing_is_run() -> None:
    parsed = parse_repr("__import__('os').system('x')")
    assert parsed is not None
    assert parsed.value == {"@type": "__import__", "@args": ["os"]}
