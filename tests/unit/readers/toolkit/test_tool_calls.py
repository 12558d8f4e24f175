from __future__ import annotations

from typing import Any

import pytest

from planproof.readers.toolkit.tool_calls import ToolCall, is_call_like, parse_call


@pytest.mark.parametrize(
    ("value", "call"),
    [
        (
            {"id": "1", "type": "function", "function": {"name": "a", "arguments": '{"x": 1}'}},
            ToolCall("a", {"x": 1}, "", "1"),
        ),
        (
            {"id": "1", "function": "bash", "arguments": {"cmd": "ls"}},
            ToolCall("bash", {"cmd": "ls"}, "", "1"),
        ),
        ({"name": "a", "args": {"x": 1}, "id": 7}, ToolCall("a", {"x": 1}, "", "7")),
        ({"name": "a", "input": {}}, ToolCall("a", {})),
        ({"name": "a", "arguments": "not json"}, ToolCall("a", None, "not json")),
        ({"name": "a", "arguments": "3"}, ToolCall("a", None, "3")),
        ({"name": "a", "arguments": None}, ToolCall("a")),
        ({"functionCall": {"name": "a", "args": [1]}}, ToolCall("a", [1])),
        ({"toolUse": {"toolUseId": "9", "name": "a", "input": {}}}, ToolCall("a", {}, "", "9")),
        ({"tool.name": "a", "tool.args": '{"x": 1}'}, ToolCall("a", {"x": 1})),
        ({"type": "local_shell_call", "call_id": "5"}, ToolCall("local_shell_call", None, "", "5")),
        ({"function": {}}, None),
        ({"id": True, "name": ""}, None),
        ("a", None),
        (None, None),
    ],
)
def test_the_shapes_of_a_call(value: Any, call: ToolCall | None) -> None:
    assert parse_call(value) == call


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ({"tool": "a"}, True),
        ({"name": "a", "input": "x"}, True),
        ({"name": "a", "args": {}}, True),
        ({"function": {"name": "a", "arguments": "{}"}}, True),
        ({"function": {"name": "a"}}, False),
        ({"name": "a", "description": "d", "parameters": {"type": "object"}}, False),
        ({"name": "a"}, False),
        ({"name": "a", "input": 3}, False),
        ({}, False),
    ],
)
def test_what_looks_like_a_call(value: dict[str, Any], answer: bool) -> None:
    assert is_call_like(value) is answer
