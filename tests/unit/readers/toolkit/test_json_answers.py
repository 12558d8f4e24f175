from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.readers.samples import brief, read


@pytest.mark.parametrize(
    ("answer", "events"),
    [
        (
            {"thought": "hm", "action": "search", "action_input": "cats"},
            [("reasoning", None, "hm"), ("action", "search", "cats")],
        ),
        (
            {"reasoning": ["a", "b"], "tool_call": {"name": "x", "arguments": {}}},
            [("reasoning", None, "a"), ("reasoning", None, "b"), ("action", "x", "")],
        ),
        ({"name": "x", "arguments": {"a": 1}}, [("action", "x", "")]),
        ({"thought": "hm"}, [("reasoning", None, "hm")]),
        (
            {"thoughts": {"plan": ["a", "b"]}, "action": {"name": "x"}},
            [("bookkeeping", "plan", "a\nb"), ("action", "x", "")],
        ),
        ({"thought": "none", "action": {"name": "x"}}, [("action", "x", "")]),
    ],
)
def test_other_answers_of_the_kind(answer: dict[str, Any], events: list[Any]) -> None:
    assert brief(read([{"role": "assistant", "content": json.dumps(answer)}])) == events


@pytest.mark.parametrize("answer", [{"thought": "hm", "price": 3}, {"result": 3}, {"action": "x"}])
def test_a_json_answer_of_another_kind_is_a_message(answer: dict[str, Any]) -> None:
    text = json.dumps(answer)
    assert brief(read([{"role": "assistant", "content": text}])) == [("message", None, text)]
