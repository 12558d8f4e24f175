from __future__ import annotations

from typing import Any

import pytest

from planproof.readers.toolkit.nested_messages import parse_messages


def list_messages(value: Any) -> list[tuple[str, str, str]]:
    return [
        (piece.kind, piece.role, piece.call.name if piece.call else piece.text)
        for piece in parse_messages(value, "/x")
    ]


CALL = {"id": "1", "type": "function", "function": {"name": "go", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("just text", [("text", "", "just text")]),
        ('{"role": "user", "content": "hi"}', [("text", "user", "hi")]),
        (
            {"role": "assistant", "content": None, "tool_calls": [CALL, 7]},
            [("call", "agent", "go")],
        ),
        (
            {"role": "assistant", "content": "x", "reasoning_content": "y"},
            [("thought", "agent", "y"), ("text", "agent", "x")],
        ),
        (
            {"role": "tool", "tool_call_id": "1", "content": [{"text": "a"}, {"text": "b"}]},
            [("result", "tool", "a\nb")],
        ),
        ({"role": "tool", "content": [7]}, [("result", "tool", "[7]")]),
        (
            {
                "role": "user",
                "parts": [{"type": "tool_call_response", "id": "1", "result": {"a": 1}}],
            },
            [("result", "tool", '{"a": 1}')],
        ),
        (
            {
                "role": "assistant",
                "parts": [{"type": "thinking", "content": "hm"}, {"type": "blob"}],
            },
            [("thought", "agent", "hm")],
        ),
        (
            {"role": "user", "content": '[{"text": "in a string"}]'},
            [("text", "user", "in a string")],
        ),
        ({"role": "user", "content": "[{not json"}, [("text", "user", "[{not json")]),
        ([{"tool.name": "go", "tool.args": "{}"}], [("call", "", "go")]),
        (
            {"choices": [{"message": {"role": "assistant", "content": "x"}}]},
            [("text", "agent", "x")],
        ),
        ({"generations": [[{"message": {"kwargs": {"content": "x"}}}]]}, [("text", "", "x")]),
        (
            {"output": [{"type": "function_call", "name": "go", "arguments": "{}"}]},
            [("call", "", "go")],
        ),
        ({"role": "assistant", "tool_calls": '[{"name": "go"}]'}, [("call", "agent", "go")]),
        ([[[[[[[[{"content": "too deep"}]]]]]]]], []),
        (7, []),
        ([], []),
    ],
)
def test_what_messages_say(value: Any, says: list[tuple[str, str, str]]) -> None:
    assert list_messages(value) == says
