from __future__ import annotations

import pytest

from planproof.readers.toolkit.line_patterns import LinePattern
from planproof.readers.toolkit.printed_text import PrintedValues, split_lines

MARKS = {"\x1b[32m": "[model] ", "\x1b[0m": "[program] "}


def test_lines_without_colours_and_frames() -> None:
    text = "\x1b[33mA\x1b[0m (to B):\r\n[33mC[0m\n│  framed   │\n│ table │ row │\n"
    lines = ["A (to B):", "C", "framed", "table │ row", ""]
    assert split_lines(text, {}) == list(enumerate(lines, 1))


def test_lines_are_broken_before_marks() -> None:
    text = "a\x1b[0m\x1b[32mb\x1b[0m\nThought:\x1b[32m c\x1b[0md"
    assert split_lines(text, MARKS) == [
        (1, "a"),
        (1, "[model] b"),
        (2, "Thought: c"),
        (2, "[program] d"),
    ]


def test_printed_values_and_their_places() -> None:
    printed = PrintedValues("noise\n{'a': [1,\n 2]}\n----\nf(x=3) tail\n[broken\n")
    assert [value.value for value in printed.values] == [{"a": [1, 2]}, {"@type": "f", "x": 3}]
    assert printed.locate("/0/a") == "L2-3"
    assert printed.locate("/0/a/1/deeper") == "L3:2-2"
    assert printed.locate("/1/x") == "L5:3-5"
    assert printed.outside == ["L1:1-5", "L4:1-4", "L5:7-11", "L6:1-7"]


@pytest.mark.parametrize(
    ("pattern", "line", "fields"),
    [
        (
            "{who:label} (to {to:label}):",
            "Peer Reviewer (to all):",
            {"who": "Peer Reviewer", "to": "all"},
        ),
        ("{who:label} (to {to:label}):", "f(x) (to all):", None),
        ("----{more:rule}", "--------", {"more": "----"}),
        ("----{more:rule}", "----", {"more": ""}),
        ("----{more:rule}", "---- x", None),
    ],
)
def test_types_of_fields(pattern: str, line: str, fields: dict[str, str] | None) -> None:
    assert LinePattern(pattern).match(line) == fields


def test_a_typed_field_is_not_continued() -> None:
    assert LinePattern("=={rest:rule}").open_field is None
    assert LinePattern("=={rest}").open_field == "rest"
