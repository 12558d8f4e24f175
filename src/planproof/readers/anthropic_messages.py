"""Read Anthropic messages: content blocks with calls and results, and the system prompt."""

from __future__ import annotations

from typing import TypeGuard

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_time, text_at
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.chat_dialects import detect_chat_api
from planproof.readers.toolkit.content_parts import extract_text
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.entries import iter_entries, iter_items, take_first_entries
from planproof.readers.toolkit.repeated_prompts import (
    PromptHistory,
    SeenIds,
    SystemPrompts,
    split_exchange,
)
from planproof.readers.toolkit.trace_builder import TraceBuilder

_LIST_KEYS = ("messages", "conversation", "history")
_ROLES = frozenset(("user", "assistant"))


class AnthropicMessagesReader:
    """Reads messages of the Anthropic API: lists, requests, and requests with responses."""

    name = "anthropic-messages"

    def sniff(self, source: Source) -> bool:
        """Return whether the source contains messages with Anthropic content blocks."""
        known: list[dict[str, Json]] = []
        for value in take_first_entries(source, _LIST_KEYS, _is_exchange):
            if is_object(value) and not known and _is_exchange(value):
                return True
            if not _is_message(value):
                return False
            known.append(value)
        around = source.document if is_object(source.document) else {}
        return bool(known) and detect_chat_api(known, around) == "anthropic"

    def read(self, source: Source) -> Trace:
        """Return the events of the blocks; of a repeated prompt only what is new in it."""
        builder = TraceBuilder(source.skipped)
        writer = _MessagesWriter(builder, single_prompt=is_object(source.document))
        if is_object(source.document):
            writer.add_system_prompt(source.document, "")
        for pointer, value in iter_entries(source, _LIST_KEYS, _is_exchange):
            if is_object(value) and _is_exchange(value):
                writer.add_exchange(value, pointer)
            else:
                writer.add_message(value, pointer)
        return builder.build(self.name)


class _MessagesWriter:
    def __init__(self, builder: TraceBuilder, *, single_prompt: bool) -> None:
        self._builder = builder
        self._conversation = Conversation(builder)
        self._prompt_history = PromptHistory(single_prompt=single_prompt)
        self._seen_ids = SeenIds(builder)
        self._system_prompts = SystemPrompts(builder)

    def add_message(self, value: Json, pointer: str) -> None:
        """Add one message."""
        if not _is_message(value):
            self._builder.skip(pointer, "not a message")
            return
        self._builder.time = parse_time(value.get("timestamp") or value.get("created_at"))
        self._conversation.add_message(value, pointer)

    def add_exchange(self, value: dict[str, Json], pointer: str) -> None:
        """Add what is new in a request, and the response to it."""
        exchange = split_exchange(value, pointer)
        if self._seen_ids.skip_if_seen(text_at(exchange.response, "id"), pointer):
            return
        self.add_system_prompt(exchange.request, exchange.request_pointer)
        prompt = iter_items(
            exchange.request.get("messages"), f"{exchange.request_pointer}/messages"
        )
        for message_pointer, message in self._prompt_history.iter_new(prompt):
            self.add_message(message, message_pointer)
        if is_list(exchange.response.get("content")):
            answer = {**exchange.response, "role": "assistant"}
            self._prompt_history.remember(answer)
            self.add_message(answer, exchange.response_pointer)

    def add_system_prompt(self, holder: dict[str, Json], pointer: str) -> None:
        """Add the system prompt; every request repeats it."""
        text, system_pointer, _ = extract_text(holder.get("system"), f"{pointer}/system")
        self._system_prompts.add_prompt(text, system_pointer)


def _is_message(value: Json) -> TypeGuard[dict[str, Json]]:
    role = value.get("role") if is_object(value) else None
    return isinstance(role, str) and role in _ROLES and "content" in value


def _is_exchange(value: dict[str, Json]) -> bool:
    """Return whether this is a request with its response, or a response alone."""
    response = value.get("response")
    if is_object(response):
        request = value.get("request")
        prompt_holder = request if is_object(request) else value
        return is_list(response.get("content")) and is_list(prompt_holder.get("messages"))
    is_reply = value.get("type") == "message" and "stop_reason" in value
    return is_reply and text_at(value, "role") == "assistant" and is_list(value.get("content"))
