from __future__ import annotations

from typing import Any

import pytest

from planproof.readers.toolkit.chat_dialects import detect_chat_api

USER = {"role": "user", "content": "Go."}


def said(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(parts), **more}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (said({"type": "text", "text": "I go."}), "openai"),
        (said({"type": "tool_use", "id": "1", "name": "go", "input": {}}), "anthropic"),
        (said({"type": "tool_use", "id": "1", "name": "go", "arguments": {}}), "openai"),
        (said({"type": "thinking", "thinking": "Hm."}), "anthropic"),
        (said({"type": "text", "text": "I go."}, stop_reason="end_turn"), "anthropic"),
        (said({"type": "output_text", "text": "I go."}), "responses"),
        (said(type="message"), "responses"),
        (said({"type": ["odd"]}), "openai"),
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
    calling = said(tool_calls=[{"id": "1"}])
    assert detect_chat_api([USER, calling], {"system": "Be good."}) == "openai"
