"""Read OpenAI Responses API items: a list, lines, requests and responses, or a stream of events."""

from __future__ import annotations

from itertools import chain, islice

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_time, text_at
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.chat_dialects import detect_chat_api
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
from planproof.readers.toolkit.trace_builder import TraceBuilder

_LIST_KEYS = ("items", "data", "responses")
_FINAL_EVENTS = frozenset(("response.completed", "response.incomplete", "response.failed"))
_ROLES = frozenset(("user", "assistant", "system", "developer"))


class OpenAIResponsesReader:
    """Reads items of the OpenAI Responses API, also inside requests and responses."""

    name = "openai-responses"

    def sniff(self, source: Source) -> bool:
        """Return whether the source contains items, or requests and responses with items."""
        items: list[Json] = []
        for value in take_first_entries(source, _LIST_KEYS, _is_exchange):
            if is_object(value) and _is_exchange(value):
                return True
            if not is_response_item(value) and not _is_message(value):
                return False
            items.append(value)
        return _are_items(items)

    def read(self, source: Source) -> Trace:
        """Return the events of the items; of a repeated prompt only what is new in it."""
        builder = TraceBuilder(source.skipped)
        writer = _ItemWriter(builder, single_prompt=is_object(source.document))
        for pointer, value in iter_entries(source, _LIST_KEYS, _is_exchange):
            if is_object(value) and _is_stream_event(value):
                writer.add_stream_event(value, pointer)
            elif is_object(value) and _is_exchange(value):
                writer.add_exchange(value, pointer)
            else:
                writer.add_item(value, pointer)
        return builder.build(self.name)


class _ItemWriter:
    def __init__(self, builder: TraceBuilder, *, single_prompt: bool) -> None:
        self._builder = builder
        self._items = ResponseItems(builder)
        self._prompt_history = PromptHistory(single_prompt=single_prompt)
        self._seen_ids = SeenIds(builder)
        self._system_prompts = SystemPrompts(builder)
        self._has_streamed_items = False

    def add_stream_event(self, value: dict[str, Json], pointer: str) -> None:
        """Add the item that an event completes, or a whole response if it had no such events."""
        kind = value["type"]
        if kind == "response.created":
            self._items.end_turn()
            self._has_streamed_items = False
        if kind == "response.output_item.done":
            self._has_streamed_items = True
            self.add_item(value.get("item"), f"{pointer}/item")
        elif kind in _FINAL_EVENTS and not self._has_streamed_items:
            self.add_exchange(value, pointer)
        else:
            self._builder.skip(pointer, "event of a stream; its item is read when it is complete")

    def add_item(self, value: Json, pointer: str) -> None:
        """Add one item."""
        if not is_object(value) or not self._items.add_item(value, pointer):
            self._builder.skip(pointer, "not a response item")

    def add_exchange(self, value: dict[str, Json], pointer: str) -> None:
        """Add what is new in a request, and the response to it."""
        request, request_pointer, response, response_pointer = split_exchange(value, pointer)
        if self._seen_ids.skip_if_seen(text_at(response, "id"), pointer):
            return
        self._builder.time = parse_time(response.get("created_at") or None)
        self._items.end_turn()
        holder, source_pointer = (
            (request, request_pointer)
            if "instructions" in request
            else (response, response_pointer)
        )
        self._system_prompts.add_prompt(
            text_at(holder, "instructions"), f"{source_pointer}/instructions"
        )
        prompt = request.get("input")
        if isinstance(prompt, str):
            self._prompt_history.add_text(prompt, f"{request_pointer}/input", self._builder)
        for source_pointer, item in self._prompt_history.iter_new(
            iter_items(prompt, f"{request_pointer}/input")
        ):
            self.add_item(item, source_pointer)
        self._items.end_turn()
        for source_pointer, item in iter_items(
            response.get("output"), f"{response_pointer}/output"
        ):
            self._prompt_history.remember(item)
            self.add_item(item, source_pointer)


def _is_message(value: Json) -> bool:
    role = value.get("role") if is_object(value) else None
    return isinstance(role, str) and role in _ROLES and "content" in value


def _are_items(items: list[Json]) -> bool:
    """Return whether these are items, and not just the messages that many APIs have."""
    if not all(is_response_item(item) or _is_message(item) for item in items):
        return False
    return any(map(is_response_item, items)) or (
        bool(items) and detect_chat_api(items) == "responses"
    )


def _is_stream_event(value: dict[str, Json]) -> bool:
    kind = value.get("type")
    return isinstance(kind, str) and kind.startswith("response.")


def _is_exchange(value: dict[str, Json]) -> bool:
    for holder in (value, value.get("response"), value.get("request")):
        if is_object(holder) and (is_list(holder.get("output")) or is_list(holder.get("input"))):
            if holder.get("object") == "response":
                return True
            items = chain(iter_items(holder.get("output"), ""), iter_items(holder.get("input"), ""))
            return _are_items([item for _, item in islice(items, SNIFF_LIMIT)])
    return False
