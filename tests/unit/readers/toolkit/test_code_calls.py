"""Calls as Python writes them."""

from __future__ import annotations

import pytest

from planproof.readers.toolkit.code_calls import (
    parse_named_arguments,
    parse_written_arguments,
    split_code_calls,
)
from planproof.readers.toolkit.tool_calls import ToolCall

TOOLS = {"goto", "put", "look"}


def _split(code: str, name: str = "python") -> list[tuple[str, object, str]]:
    calls = split_code_calls(ToolCall(name, text=code, recognition="tag"), TOOLS.__contains__)
    return [(call.name, call.arguments, call.text) for call in calls]


def test_each_line_is_a_call() -> None:
    code = 'look()\nprint(goto("desk 1"))\n\nseen = put(item="mug", place="desk 1", n=2)'
    assert _split(code) == [
        ("look", None, "look()"),
        ("goto", None, 'goto("desk 1")'),
        (
            "put",
            {"item": "mug", "place": "desk 1", "n": 2},
            'put(item="mug", place="desk 1", n=2)',
        ),
    ]
    [first, *_] = split_code_calls(
        ToolCall("python", text=code, recognition="tag"), TOOLS.__contains__
    )
    assert first.recognition == "tag"


@pytest.mark.parametrize(
    "code",
    [
        "",
        "goto(place)",  # a variable
        'goto(f"{place}")',
        'goto(look("desk"))',
        'delete("desk 1")',  # not a tool
        'goto("desk 1")\nimport os',
        'for place in places:\n    goto("desk 1")',
        'goto("desk 1"',
        'goto("desk 1"); put("a", "b")',
        "\n".join(['goto("a")'] * 200),
    ],
)
def test_other_code_stays_one_call(code: str) -> None:
    assert _split(code) == [("python", None, code)]


def test_only_python_is_split() -> None:
    assert _split('goto("a")', "sh") == [("sh", None, 'goto("a")')]


def test_named_arguments() -> None:
    assert parse_named_arguments("f(x=1, y='a b')") == {"x": 1, "y": "a b"}
    assert parse_named_arguments("f(city=Oslo)") == {"city": "Oslo"}
    for call in ("f()", "f('a', x=1)", "f(x=1", "f(x=1) or not", '{"x": 1}', "x=1"):
        assert parse_named_arguments(call) is None


def test_written_arguments() -> None:
    assert parse_written_arguments('{"x": 1}') == ({"x": 1}, "")
    assert parse_written_arguments("{'x': None}") == ({"x": None}, "")
    assert parse_written_arguments("{'x': 1} and more") == (None, "{'x': 1} and more")
    assert parse_written_arguments("{x} is a set") == (None, "{x} is a set")
