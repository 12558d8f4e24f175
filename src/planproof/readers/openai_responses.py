"""OpenAI Responses: items, as a list, as the input and output of requests, or as lines."""

from __future__ import annotations

from itertools import chain, islice

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at, time_of
from planproof.core.trace import Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.chat_dialects import dialect
from planproof.readers.toolkit.entries import LOOKED_AT, entries, first_entries, listed
from planproof.readers.toolkit.repeated_prompts import Instructions, Seen, Told
from planproof.readers.toolkit.response_items import ResponseItems, is_item
from planproof.readers.toolkit.trace_builder import Transcript

_HOLDERS = ("items", "data", "responses")
_ROLES = frozenset(("user", "assistant", "system", "developer"))


class OpenAIResponsesReader:
    """Reads items of the Responses API, and requests and responses that hold them."""

    name = "openai-responses"

    def sniff(self, source: Source) -> bool:
        """Whether the source holds items, or requests and responses with items."""
        if source.form == "text":
            return False
        items: list[Json] = []
        for value in first_entries(source, _HOLDERS, _is_exchange):
            if is_object(value) and _is_exchange(value):
                return True
            if not is_item(value) and not _is_message(value):
                return False
            items.append(value)
        return _are_items(items)

    def read(self, source: Source) -> Trace:
        """The events of the items; a prompt that is sent again gives only what is new in it."""
        transcript = Transcript(source.skipped)
        reading = _Reading(transcript, alone=is_object(source.document))
        for pointer, value in entries(source, _HOLDERS, _is_exchange):
            if is_object(value) and _is_exchange(value):
                reading.exchange(value, pointer)
            else:
                reading.item(value, pointer)
        return transcript.trace(self.name)


class _Reading:
    def __init__(self, transcript: Transcript, *, alone: bool) -> None:
        self._transcript = transcript
        self._items = ResponseItems(transcript)
        self._told = Told(alone=alone)
        self._seen = Seen(transcript)
        self._instructions = Instructions(transcript)

    def item(self, value: Json, pointer: str) -> None:
        """Write one item."""
        if not is_object(value) or not self._items.take(value, pointer):
            self._transcript.skip(pointer, "is no item of a response")

    def exchange(self, value: dict[str, Json], pointer: str) -> None:
        """Write what is new in a request, and the response to it."""
        reply = value.get("response")
        if self._seen.again(text_at(reply if is_object(reply) else value, "id"), pointer):
            return
        request, response = value, value
        asked, answered = pointer, pointer
        if is_object(value.get("response")):
            response, answered = value["response"], f"{pointer}/response"
        if is_object(value.get("request")):
            request, asked = value["request"], f"{pointer}/request"
        moment = response.get("created_at")
        self._transcript.time = time_of(moment) if moment else None
        self._items.end_turn()
        holder, place = (request, asked) if "instructions" in request else (response, answered)
        self._instructions.write(text_at(holder, "instructions"), f"{place}/instructions")
        prompt = request.get("input")
        if isinstance(prompt, str):
            prompt = {"role": "user", "content": prompt}
            for _ in self._told.new_in([("", prompt)]):
                self._transcript.begin_turn()
                self._transcript.say(Kind.MESSAGE, prompt["content"], f"{asked}/input", "user")
        for place, item in self._told.new_in(listed(prompt, f"{asked}/input")):
            self.item(item, place)
        self._items.end_turn()
        for place, item in listed(response.get("output"), f"{answered}/output"):
            self._told.note(item)
            self.item(item, place)


def _is_message(value: Json) -> bool:
    role = value.get("role") if is_object(value) else None
    return isinstance(role, str) and role in _ROLES and "content" in value


def _are_items(items: list[Json]) -> bool:
    """Whether these are items, and not just the messages that many APIs have."""
    if not all(is_item(item) or _is_message(item) for item in items):
        return False
    return any(map(is_item, items)) or (bool(items) and dialect(items) == "responses")


def _is_exchange(value: dict[str, Json]) -> bool:
    for holder in (value, value.get("response"), value.get("request")):
        if is_object(holder) and (is_list(holder.get("output")) or is_list(holder.get("input"))):
            if holder.get("object") == "response":
                return True
            held = chain(listed(holder.get("output"), ""), listed(holder.get("input"), ""))
            return _are_items([item for _, item in islice(held, LOOKED_AT)])
    return False
