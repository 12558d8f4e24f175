"""Read messages of model APIs: OpenAI chat completions and responses, and Anthropic messages.

Input: lists or lines of messages or items, requests with their responses, and streams of responses.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_time, text_at
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.chat_dialects import (
    ChatApi,
    detect_chat_api,
    is_inspect_message,
    is_swe_agent_message,
)
from planproof.readers.toolkit.content_parts import extract_text
from planproof.readers.toolkit.entries import (
    SNIFF_LIMIT,
    iter_entries,
    iter_items,
    take_first_entries,
)
from planproof.readers.toolkit.repeated_prompts import (
    PromptHistory,
    SeenIds,
    SystemPrompts,
    split_exchange,
)
from planproof.readers.toolkit.response_items import ResponseItems, is_response_item
from planproof.readers.toolkit.speakers import is_group_chat
from planproof.readers.toolkit.streamed_parts import are_chunks
from planproof.readers.toolkit.trace_builder import TraceBuilder

# Not a set: the value of `role` may be anything, including values that are not hashable.
_ROLES = ("assistant", "tool", "user", "system", "developer", "function")
# mini-SWE-agent ends its messages with one of this role.
_EXIT = "exit"
_CONTENT_KEYS = frozenset(("content", "tool_calls", "function_call"))
_FINAL_EVENTS = frozenset(("response.completed", "response.incomplete", "response.failed"))
# The keys of the system prompt and of the messages in a request.
_REQUEST_KEYS = {"responses": ("instructions", "input")}


class _ChatReader:
    """Reads the messages of one API; those under a key are in one of `list_keys`."""

    name: str
    api: ChatApi
    list_keys: tuple[str, ...]

    def sniff(self, source: Source) -> bool:
        """Return whether the source contains messages, items or exchanges of this API."""
        known: list[dict[str, Json]] = []
        for value in take_first_entries(source, self.list_keys, _is_exchange):
            if not is_object(value):
                return False
            if api := _detect_exchange(value):
                return api == self.api
            if not is_response_item(value) and not _is_message(value):
                return False
            known.append(value)
        if not known or any(map(is_response_item, known)):
            return bool(known) and self.api == "responses"
        around = source.document if is_object(source.document) else None
        return detect_chat_api(known, around) == self.api and (
            self.api != "openai" or not _is_other_chat(known)
        )

    def read(self, source: Source) -> Trace:
        """Return the events of the messages; of a repeated prompt only what is new in it."""
        builder = TraceBuilder(source.skipped)
        writer = _ChatWriter(builder, self.api, single_prompt=is_object(source.document))
        if self.api == "anthropic" and is_object(source.document):
            writer.add_system_prompt(source.document, "", "system")
        entries = iter_entries(source, self.list_keys, _is_exchange)
        for pointer, value in chain(entries, _iter_answers(source)):
            if not is_object(value):
                builder.skip(pointer, "not a chat message")
                continue
            timed = "timestamp" in value or "created_at" in value
            moment = (value.get("timestamp") or value.get("created_at")) if timed else None
            builder.time = parse_time(moment) if moment else None
            if self.api == "openai":
                writer.add_message(value, pointer)
            else:
                writer.add_entry(value, pointer)
        return builder.build(self.name)


class OpenAIMessagesReader(_ChatReader):
    """Reads messages of the Chat Completions API: a list, or under a key such as `messages`."""

    name = "openai-messages"
    api = "openai"
    list_keys = ("messages", "traj", "trajectory", "conversation", "history")


class AnthropicMessagesReader(_ChatReader):
    """Reads messages of the Anthropic API: lists, requests, and requests with responses."""

    name = "anthropic-messages"
    api = "anthropic"
    list_keys = ("messages", "conversation", "history")


class OpenAIResponsesReader(_ChatReader):
    """Reads items of the OpenAI Responses API, also inside requests, responses and streams."""

    name = "openai-responses"
    api = "responses"
    list_keys = ("items", "data", "responses")


class _ChatWriter:
    def __init__(self, builder: TraceBuilder, api: ChatApi, *, single_prompt: bool) -> None:
        self._builder = builder
        self._api = api
        self._items = ResponseItems(builder)
        self._prompt_history = PromptHistory(single_prompt=single_prompt)
        self._seen_ids = SeenIds(builder)
        self._system_prompts = SystemPrompts(builder)
        self._has_streamed_items = False

    def add_entry(self, value: dict[str, Json], pointer: str) -> None:
        """Add a message, an exchange, or an event of a stream."""
        kind = text_at(value, "type") or ""
        if kind.startswith("response."):
            self._add_stream_event(kind, value, pointer)
        elif _detect_exchange(value):
            self._add_exchange(value, pointer)
        else:
            self.add_message(value, pointer)

    def add_message(self, value: Json, pointer: str) -> None:
        """Add one message or item."""
        role = value.get("role") if is_object(value) else None
        if self._api == "responses" and is_object(value):
            if not self._items.add_item(value, pointer):
                self._builder.skip(pointer, "not a response item")
        elif role in _ROLES:
            self._items.conversation.add_message(value, pointer)
        else:
            reason = "says how the run ended" if role == _EXIT else "not a chat message"
            self._builder.skip(pointer, reason)

    def add_system_prompt(self, holder: dict[str, Json], pointer: str, key: str) -> None:
        """Add the system prompt; every request repeats it."""
        text, text_pointer, _ = extract_text(holder.get(key), f"{pointer}/{key}")
        self._system_prompts.add_prompt(text, text_pointer)

    def _add_stream_event(self, kind: str, value: dict[str, Json], pointer: str) -> None:
        """Add the item that an event completes, or a whole response if it had no such events."""
        if kind == "response.created":
            self._items.end_turn()
            self._has_streamed_items = False
        if kind == "response.output_item.done":
            self._has_streamed_items = True
            self.add_message(value.get("item"), f"{pointer}/item")
        elif kind in _FINAL_EVENTS and not self._has_streamed_items:
            self._add_exchange(value, pointer)
        else:
            self._builder.skip(pointer, "event of a stream; its item is read when it is complete")

    def _add_exchange(self, value: dict[str, Json], pointer: str) -> None:
        """Add what is new in a request, and the response to it."""
        request, request_pointer, response, response_pointer = split_exchange(value, pointer)
        if self._seen_ids.skip_if_seen(text_at(response, "id"), pointer):
            return
        system_key, prompt_key = _REQUEST_KEYS.get(self._api, ("system", "messages"))
        self._builder.time = parse_time(response.get("created_at") or None) or self._builder.time
        self._items.end_turn()
        if system_key in request:
            self.add_system_prompt(request, request_pointer, system_key)
        else:
            self.add_system_prompt(response, response_pointer, system_key)
        prompt, prompt_pointer = request.get(prompt_key), f"{request_pointer}/{prompt_key}"
        if isinstance(prompt, str):
            self._prompt_history.add_text(prompt, prompt_pointer, self._builder)
        for where, message in self._prompt_history.iter_new(iter_items(prompt, prompt_pointer)):
            self.add_message(message, where)
        self._items.end_turn()
        answers = iter_items(response.get("output"), f"{response_pointer}/output")
        if self._api == "anthropic" and is_list(response.get("content")):
            answers = iter([(response_pointer, {**response, "role": "assistant"})])
        for where, answer in answers:
            self._prompt_history.remember(answer)
            self.add_message(answer, where)


def _iter_answers(source: Source) -> Iterator[tuple[str, Json]]:
    """Yield the answer that a log of requests keeps beside the messages."""
    response = source.document.get("response") if is_object(source.document) else None
    choices = response.get("choices") if is_object(response) else None
    for pointer, choice in iter_items(choices, "/response/choices"):
        if is_object(choice):
            yield f"{pointer}/message", choice.get("message")


def _is_message(value: dict[str, Json]) -> bool:
    return value.get("role") in (*_ROLES, _EXIT) and not _CONTENT_KEYS.isdisjoint(value)


def _is_other_chat(messages: list[dict[str, Json]]) -> bool:
    """Return whether these are messages of formats that have readers of their own."""
    return (
        are_chunks(messages)
        or is_group_chat(messages)
        or any(is_inspect_message(m) or is_swe_agent_message(m) for m in messages)
    )


def _is_exchange(value: dict[str, Json]) -> bool:
    return bool(_detect_exchange(value))


def _detect_exchange(value: dict[str, Json]) -> ChatApi | None:
    """Return the API of a request with its response, or of a response alone."""
    request, response = value.get("request"), value.get("response")
    if is_object(response) and is_list(response.get("content")):
        prompt_holder = request if is_object(request) else value
        return "anthropic" if is_list(prompt_holder.get("messages")) else None
    is_reply = value.get("type") == "message" and "stop_reason" in value
    if is_reply and text_at(value, "role") == "assistant" and is_list(value.get("content")):
        return "anthropic"
    for holder in (value, response, request):
        if is_object(holder) and (is_list(holder.get("output")) or is_list(holder.get("input"))):
            if holder.get("object") == "response" or _has_items(holder):
                return "responses"
            return None
    return None


def _has_items(holder: dict[str, Json]) -> bool:
    """Return whether input and output are items, and not just messages that many APIs have."""
    parts = chain(iter_items(holder.get("output"), ""), iter_items(holder.get("input"), ""))
    items = [item for _, item in islice(parts, SNIFF_LIMIT)]
    if not all(is_object(item) and (is_response_item(item) or _is_message(item)) for item in items):
        return False
    return any(map(is_response_item, items)) or (
        bool(items) and detect_chat_api(items) == "responses"
    )
