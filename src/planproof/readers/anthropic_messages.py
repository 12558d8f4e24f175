"""Anthropic messages: content blocks, with calls and results among them, and the system prompt."""

from __future__ import annotations

from typing import TypeGuard

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at, time_of
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.chat_dialects import dialect
from planproof.readers.toolkit.content_parts import plain_text
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.entries import entries, first_entries, listed
from planproof.readers.toolkit.repeated_prompts import Instructions, Seen, Told
from planproof.readers.toolkit.trace_builder import Transcript

_HOLDERS = ("messages", "conversation", "history")
_ROLES = frozenset(("user", "assistant"))


class AnthropicMessagesReader:
    """Reads messages, requests that hold them, and requests with their responses."""

    name = "anthropic-messages"

    def sniff(self, source: Source) -> bool:
        """Whether the source holds messages with the content blocks of the Anthropic API."""
        if source.form == "text":
            return False
        known: list[dict[str, Json]] = []
        for value in first_entries(source, _HOLDERS, _is_exchange):
            if is_object(value) and not known and _is_exchange(value):
                return True
            if not _is_message(value):
                return False
            known.append(value)
        around = source.document if is_object(source.document) else {}
        return bool(known) and dialect(known, around) == "anthropic"

    def read(self, source: Source) -> Trace:
        """The events of the blocks; a prompt that is sent again gives only what is new in it."""
        transcript = Transcript(source.skipped)
        reading = _Reading(transcript, alone=is_object(source.document))
        if is_object(source.document):
            reading.instruct(source.document, "")
        for pointer, value in entries(source, _HOLDERS, _is_exchange):
            if is_object(value) and _is_exchange(value):
                reading.exchange(value, pointer)
            else:
                reading.message(value, pointer)
        return transcript.trace(self.name)


class _Reading:
    def __init__(self, transcript: Transcript, *, alone: bool) -> None:
        self._transcript = transcript
        self._conversation = Conversation(transcript)
        self._told = Told(alone=alone)
        self._seen = Seen(transcript)
        self._instructions = Instructions(transcript)

    def message(self, value: Json, pointer: str) -> None:
        """Write one message."""
        if not _is_message(value):
            self._transcript.skip(pointer, "is no message")
            return
        moment = value.get("timestamp") or value.get("created_at")
        self._transcript.time = time_of(moment) if moment else None
        self._conversation.message(value, pointer)

    def exchange(self, value: dict[str, Json], pointer: str) -> None:
        """Write what is new in a request, and the response to it."""
        reply = value.get("response")
        if self._seen.again(text_at(reply if is_object(reply) else value, "id"), pointer):
            return
        request, asked = value, pointer
        if is_object(value.get("request")):
            request, asked = value["request"], f"{pointer}/request"
        self.instruct(request, asked)
        prompt = request.get("messages")
        for place, message in self._told.new_in(listed(prompt, f"{asked}/messages")):
            self.message(message, place)
        response = value.get("response")
        answered = f"{pointer}/response" if is_object(response) else pointer
        answer = response if is_object(response) else value
        if is_list(answer.get("content")):
            self._told.note({**answer, "role": "assistant"})
            self.message({**answer, "role": "assistant"}, answered)

    def instruct(self, holder: dict[str, Json], pointer: str) -> None:
        """Write the system prompt; every request carries it again."""
        text, place, _ = plain_text(holder.get("system"), f"{pointer}/system")
        self._instructions.write(text, place)


def _is_message(value: Json) -> TypeGuard[dict[str, Json]]:
    role = value.get("role") if is_object(value) else None
    return isinstance(role, str) and role in _ROLES and "content" in value


def _is_exchange(value: dict[str, Json]) -> bool:
    """Whether this is a request with its response, or a response alone."""
    response = value.get("response")
    if is_object(response):
        request = value.get("request")
        asked = request if is_object(request) else value
        return is_list(response.get("content")) and is_list(asked.get("messages"))
    is_reply = value.get("type") == "message" and "stop_reason" in value
    return is_reply and text_at(value, "role") == "assistant" and is_list(value.get("content"))
