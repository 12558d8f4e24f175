"""Patterns for lines: what they match, what they refuse, and that no line makes them slow."""

from __future__ import annotations

import pytest

from planproof.errors import InvalidInput
from planproof.readers.toolkit.line_patterns import LinePattern


@pytest.mark.parametrize(
    ("pattern", "line", "fields"),
    [
        ("User: {text}", "User: hi: there", {"text": "hi: there"}),
        ("User: {text}", "User: ", {"text": ""}),
        ("User: {text}", "user: hi", None),
        (
            "Action {n:number}: {name}[{input}]",
            "Action 3: Search[Paris [FR]]",
            {"n": "3", "name": "Search", "input": "Paris [FR]"},
        ),
        ("Action {n:number}: {text}", "Action x: y", None),
        ("Action {n:number}: {text}", "Action ٣: y", None),
        ("Action {n:number}: {text}", "Action : y", None),
        ("{t:word} [{l:name}] {z}", "10:00 [INFO] ok", {"t": "10:00", "l": "INFO", "z": "ok"}),
        ("{time:word} [{level:name}] {text}", "10 00 [INFO] ok", None),
        ("call {name:name}({p})", "call a.b-c_1(x=1)", {"name": "a.b-c_1", "p": "x=1"}),
        ("call {name:name}({arguments})", "call a b(x)", None),
        ("call {name:name}({arguments})", "call a(x", None),
        ("=== end ===", "=== end ===", {}),
        ("=== end ===", "=== end === x", None),
        ("a{x}aa", "aaa", {"x": ""}),
        ("a{x}aa", "aa", None),
        ("", "x", None),
    ],
)  # fmt: skip
def test_a_line_matches_or_not(pattern: str, line: str, fields: dict[str, str] | None) -> None:
    if not pattern:
        with pytest.raises(InvalidInput, match="matches every line"):
            LinePattern(pattern)
        return
    assert LinePattern(pattern).match(line) == fields


@pytest.mark.parametrize(
    ("pattern", "open_field"),
    [("User: {text}", "text"), ("a {x} b", None), ("a", None), ("{x}: {rest}", "rest")],
)
def test_the_last_field_may_stay_open(pattern: str, open_field: str | None) -> None:
    assert LinePattern(pattern).open_field == open_field


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("{a}{b}", "have nothing between them"),
        ("x{a}{b}y", "have nothing between them"),
        ("{text}", "matches every line"),
        ("{text:word}", "matches every line"),
        ("x {n:int}", "`int` is not a type of a field"),
    ],
)
def test_a_pattern_that_can_not_work_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        LinePattern(pattern)


def test_braces_that_are_no_field_are_literal() -> None:
    assert LinePattern('{"type": {rest}').match('{"type": 1}') == {"rest": "1}"}
    assert LinePattern("{Upper} x").match("{Upper} x") == {}
