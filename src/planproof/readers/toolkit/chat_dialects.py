"""Whose chat messages these are: model APIs give them the same roles and other contents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at

ChatApi: TypeAlias = Literal["openai", "responses", "anthropic"]

_RESPONSES_PARTS = frozenset(("input_text", "output_text", "input_image", "input_file", "refusal"))
# A block of Anthropic's, and a key that others who use the word do not give it.
_ANTHROPIC_BLOCKS = {
    "tool_use": "input",
    "server_tool_use": "input",
    "mcp_tool_use": "input",
    "tool_result": "tool_use_id",
    "thinking": "thinking",
    "redacted_thinking": "data",
    "image": "source",
    "document": "source",
}
_ANTHROPIC_ROLES = frozenset(("user", "assistant"))
_PART_LIMIT = 20
_INSPECT_SOURCES = frozenset(("input", "generate", "operator"))


def detect_chat_api(
    messages: Sequence[dict[str, Json]], container: dict[str, Json] | None = None
) -> ChatApi:
    """The API that messages with a role come from; plain text is OpenAI's as well as anybody's.

    `around` is the object that holds them: Anthropic's has the system prompt beside the messages.
    """
    anthropic = bool(container) and bool(container.get("system"))
    for message in messages:
        if message.get("type") == "message" and "stop_reason" not in message:
            return "responses"
        anthropic = anthropic or "stop_reason" in message
        content = message.get("content")
        if not is_list(content):
            continue
        for part in content[:_PART_LIMIT]:
            kind = part.get("type") if is_object(part) else None
            if not isinstance(kind, str):
                continue
            if kind in _RESPONSES_PARTS:
                return "responses"
            anthropic = anthropic or (kind in _ANTHROPIC_BLOCKS and _ANTHROPIC_BLOCKS[kind] in part)
    return "anthropic" if anthropic and all(map(_may_be_anthropic, messages)) else "openai"


def _may_be_anthropic(message: dict[str, Json]) -> bool:
    return message.get("role") in _ANTHROPIC_ROLES and not message.get("tool_calls")


def is_inspect_message(message: dict[str, Json]) -> bool:
    """Inspect AI: a call names its function in a string, a result too, and a source is given."""
    calls = message.get("tool_calls")
    if calls and is_list(calls):
        return is_object(calls[0]) and isinstance(calls[0].get("function"), str)
    if message.get("role") == "tool":
        return isinstance(message.get("function"), str)
    return "source" in message and text_at(message, "source") in _INSPECT_SOURCES


def is_swe_agent_message(message: dict[str, Json]) -> bool:
    """SWE-agent: the agent's name stands in every message, thought and action apart in its own."""
    if not isinstance(message.get("agent"), str):
        return False
    return message.get("role") != "assistant" or ("thought" in message and "action" in message)
