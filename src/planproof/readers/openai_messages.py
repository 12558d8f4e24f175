"""Read OpenAI chat messages: role, content, tool_calls or function_call, and their results."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_time
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.chat_dialects import (
    detect_chat_api,
    is_inspect_message,
    is_swe_agent_message,
)
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.entries import iter_entries, take_first_entries
from planproof.readers.toolkit.speakers import is_group_chat
from planproof.readers.toolkit.streamed_parts import are_chunks
from planproof.readers.toolkit.trace_builder import TraceBuilder

# Not a set: the value of `role` may be anything, including values that are not hashable.
_ROLES = ("assistant", "tool", "user", "system", "developer", "function")
# mini-SWE-agent ends its messages with one of this role.
_EXIT = "exit"
_CONTENT_KEYS = frozenset(("content", "tool_calls", "function_call"))
_LIST_KEYS = ("messages", "traj", "trajectory", "conversation", "history")


class OpenAIMessagesReader:
    """Reads messages of the Chat Completions API: a list, or under a key such as `messages`."""

    name = "openai-messages"

    def sniff(self, source: Source) -> bool:
        """Return whether the source is a list of messages with the roles of the OpenAI API."""
        if source.form == "text":
            return False
        known = take_first_entries(source, _LIST_KEYS)
        for message in known:
            if not is_object(message) or message.get("role") not in (*_ROLES, _EXIT):
                return False
            if _CONTENT_KEYS.isdisjoint(message):
                return False
            if is_inspect_message(message) or (
                "agent" in message and is_swe_agent_message(message)
            ):
                return False
        if not known or are_chunks(known) or is_group_chat(known):
            return False
        around = source.document if is_object(source.document) else None
        return detect_chat_api(known, around) == "openai"

    def read(self, source: Source) -> Trace:
        """Return the events of the messages; skip entries that are not messages."""
        builder = TraceBuilder(source.skipped)
        conversation = Conversation(builder)
        for pointer, message in chain(iter_entries(source, _LIST_KEYS), _iter_answers(source)):
            if is_object(message) and message.get("role") in _ROLES:
                timed = "timestamp" in message or "created_at" in message
                builder.time = _parse_message_time(message) if timed else None
                conversation.add_message(message, pointer)
            elif is_object(message) and message.get("role") == _EXIT:
                builder.skip(pointer, "says how the run ended")
            else:
                builder.skip(pointer, "not a chat message")
        return builder.build(self.name)


def _iter_answers(source: Source) -> Iterator[tuple[str, Json]]:
    """Yield the answer that a log of requests keeps beside the messages."""
    response = source.document.get("response") if is_object(source.document) else None
    choices = response.get("choices") if is_object(response) else None
    for index, choice in enumerate(choices if is_list(choices) else ()):
        if is_object(choice):
            yield f"/response/choices/{index}/message", choice.get("message")


def _parse_message_time(message: dict[str, Json]) -> str | None:
    moment = message.get("timestamp") or message.get("created_at")
    return parse_time(moment) if moment else None
