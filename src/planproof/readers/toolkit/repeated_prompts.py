"""Find the new messages in repeated prompts, each of which contains the conversation so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at
from planproof.core.trace import Kind
from planproof.readers.toolkit.tool_calls import get_call_id
from planproof.readers.toolkit.trace_builder import TraceBuilder

_CALL_ID_KEYS = ("call_id", "tool_call_id", "tool_use_id")
_CONTENT_KEYS = ("text", "thinking", "content", "arguments", "output", "encrypted_content", "data")


class PromptHistory:
    """Remembers messages, so that only the new ones in a prompt become events.

    `single_prompt` means that there is only one prompt, so nothing is repeated.
    """

    def __init__(self, *, single_prompt: bool = False) -> None:
        self._counts: Counter[Hashable] = Counter()
        self._single_prompt = single_prompt

    def remember(self, message: Json) -> None:
        """Remember a message from outside a prompt, such as the model's answer."""
        if not self._single_prompt:
            self._counts[_fingerprint(message)] += 1

    def add_text(self, prompt: str, pointer: str, builder: TraceBuilder) -> None:
        """Add a prompt that is only a text of the user, if it is new."""
        for _ in self.iter_new([(pointer, {"role": "user", "content": prompt})]):
            builder.begin_turn()
            builder.add_message(Kind.MESSAGE, prompt, pointer, "user")

    def iter_new(self, prompt: Iterable[tuple[str, Json]]) -> Iterator[tuple[str, Json]]:
        """Yield the messages of a prompt that are new; the same text may be sent twice."""
        if self._single_prompt:
            yield from prompt
            return
        here: Counter[Hashable] = Counter()
        for pointer, message in prompt:
            key = _fingerprint(message)
            here[key] += 1
            if here[key] > self._counts[key]:
                self._counts[key] = here[key]
                yield pointer, message


class Exchange(NamedTuple):
    """A request and the response to it, with their pointers; a record may itself be either."""

    request: dict[str, Json]
    request_pointer: str
    response: dict[str, Json]
    response_pointer: str


def split_exchange(value: dict[str, Json], pointer: str) -> Exchange:
    """Return the parts of a record under `request` and `response`, or the record for them."""
    request, response = value.get("request"), value.get("response")
    return Exchange(
        *((request, f"{pointer}/request") if is_object(request) else (value, pointer)),
        *((response, f"{pointer}/response") if is_object(response) else (value, pointer)),
    )


class SeenIds:
    """Detects duplicates in a file by their id."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._ids: set[str] = set()

    def skip_if_seen(self, identity: str | None, pointer: str) -> bool:
        """Return whether this id occurred before; if so, record the part as skipped."""
        if identity is None:
            return False
        if identity in self._ids:
            self._builder.skip(pointer, "duplicate", repeats=True)
            return True
        self._ids.add(identity)
        return False


class SystemPrompts:
    """Adds the system prompts of requests, each only where it changes."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._last = ""

    def add_prompt(self, text: str | None, pointer: str) -> None:
        """Add a system prompt unless it equals the last one."""
        if text and text != self._last:
            self._last = text
            self._builder.begin_turn()
            self._builder.add_message(Kind.SYSTEM, text, pointer, "system")


def _fingerprint(message: Json) -> Hashable:
    """Return the identity of a message, the same in an answer and in the next prompt."""
    if not is_object(message):
        return message if isinstance(message, str) else None
    calls = message.get("tool_calls")
    return (
        text_at(message, "role", "type"),
        text_at(message, *_CALL_ID_KEYS),
        tuple(get_call_id(call) for call in calls if is_object(call)) if is_list(calls) else (),
        _content_fingerprint(message),
    )


def _content_fingerprint(message: dict[str, Json]) -> Hashable:
    content = message.get("content")
    if is_list(content):
        return tuple(
            text_at(part, *_CALL_ID_KEYS, "id", *_CONTENT_KEYS) or text_at(part, "type")
            if is_object(part)
            else str(part)
            for part in content
        )
    # A bare text and a single part with that text are equal.
    text = text_at(message, *_CONTENT_KEYS) or text_at(message, "id")
    return (text,) if text is not None else ()
