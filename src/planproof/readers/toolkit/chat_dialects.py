"""Detect the API of chat messages: the roles are the same, the contents differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at

ChatApi: TypeAlias = Literal["openai", "responses", "anthropic", "other"]

_RESPONSES_PARTS = frozenset(("input_text", "output_text", "input_image", "input_file", "refusal"))
# Anthropic's blocks, each with a key that others who use the same type do not have.
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
_GOOSE_PARTS = frozenset(("toolRequest", "toolResponse"))
# Cline and Roo Code write results and context as texts of the user.
_CLINE_CONTEXT = "<environment_details>"
_PART_LIMIT = 20
_INSPECT_SOURCES = frozenset(("input", "generate", "operator"))


def detect_chat_api(
    messages: Sequence[dict[str, Json]], container: dict[str, Json] | None = None
) -> ChatApi:
    """Detect the API of messages with a role; plain text counts as OpenAI's.

    "other" are messages of assistants with a profile of their own.

    `container` is the object around them: Anthropic's has the system prompt next to the messages.
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
            if kind in _GOOSE_PARTS or (
                kind == "text" and (text_at(part, "text") or "").startswith(_CLINE_CONTEXT)
            ):
                return "other"
            anthropic = anthropic or (kind in _ANTHROPIC_BLOCKS and _ANTHROPIC_BLOCKS[kind] in part)
    return "anthropic" if anthropic and all(map(_may_be_anthropic, messages)) else "openai"


def _may_be_anthropic(message: dict[str, Json]) -> bool:
    return message.get("role") in _ANTHROPIC_ROLES and not message.get("tool_calls")


def is_inspect_message(message: dict[str, Json]) -> bool:
    """Return whether a message is from Inspect AI, by its `function` strings or its `source`."""
    calls = message.get("tool_calls")
    if calls and is_list(calls):
        return is_object(calls[0]) and isinstance(calls[0].get("function"), str)
    if message.get("role") == "tool":
        return isinstance(message.get("function"), str)
    return "source" in message and text_at(message, "source") in _INSPECT_SOURCES


def is_swe_agent_message(message: dict[str, Json]) -> bool:
    """Return whether a message is from SWE-agent.

    All its messages have the agent's name; the agent's own have separate thought and action.
    """
    if not isinstance(message.get("agent"), str):
        return False
    return message.get("role") != "assistant" or ("thought" in message and "action" in message)
