from __future__ import annotations

from typing import Any

import pytest

from planproof.readers.toolkit.chat_dialects import detect_chat_api

USER = {"role": "user", "content": "Go."}


def assistant_message(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(parts), **more}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (assistant_message({"type": "text", "text": "I go."}), "openai"),
        (
            assistant_message({"type": "tool_use", "id": "1", "name": "go", "input": {}}),
            "anthropic",
        ),
        (
            assistant_message({"type": "tool_use", "id": "1", "name": "go", "arguments": {}}),
            "openai",
        ),
        (assistant_message({"type": "thinking", "thinking": "Hm."}), "anthropic"),
        (assistant_message({"type": "text", "text": "I go."}, stop_reason="end_turn"), "anthropic"),
        (assistant_message({"type": "output_text", "text": "I go."}), "responses"),
        (assistant_message(type="message"), "responses"),
        (assistant_message({"type": ["odd"]}), "openai"),
        ({"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "1"}]}, "openai"),
    ],
)
def test_whose_messages_these_are(message: dict[str, Any], expected: str) -> None:
    assert detect_chat_api([USER, message]) == expected


def test_a_system_prompt_beside_the_messages_is_anthropics() -> None:
    assert detect_chat_api([USER], {"system": "Be good."}) == "anthropic"
    assert (
        detect_chat_api([USER, {"role": "system", "content": "x"}], {"system": "Be good."})
        == "openai"
    )
    calling = assistant_message(tool_calls=[{"id": "1"}])
    assert detect_chat_api([USER, calling], {"system": "Be good."}) == "openai"
