"""Parse messages in other records: nested in a value, or flattened into span attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from planproof.core.content import Json
from planproof.core.json_values import (
    format_value,
    is_list,
    is_object,
    parse_embedded_json,
    text_at,
)
from planproof.readers.toolkit.content_parts import parse_parts
from planproof.readers.toolkit.conversation import (
    AGENT_ROLES,
    SYSTEM_ROLES,
    TOOL_ROLES,
    USER_ROLES,
    get_role,
)
from planproof.readers.toolkit.tool_calls import (
    ToolCall,
    get_call_id,
    is_call_like,
    parse_arguments,
    parse_call,
)

if TYPE_CHECKING:
    from planproof.readers.toolkit.span import Span

MessagePartKind: TypeAlias = Literal["text", "thought", "call", "result"]
SpeakerRole: TypeAlias = Literal["user", "agent", "tool", "system", ""]

_MAX_WRAPPER_DEPTH = 6
_WRAPPER_KEYS = ("choices", "generations", "messages", "message", "kwargs", "output")
_CONTENT_KEYS = ("content", "contents", "parts", "text")
_THOUGHT_KEYS = ("reasoning_content", "reasoning", "thinking")
_RESULT_KEYS = ("result", "response", "content", "output")
_MAX_INDEX = 100_000
_FLAT_THOUGHT_TYPES = frozenset(("reasoning", "thinking"))
_CALL_ID_KEYS = ("tool_call_id", "tool_use_id", "call_id", "id")


@dataclass(slots=True)
class MessagePart:
    """One part of a message, and the pointer to the record that contains the message."""

    kind: MessagePartKind
    role: SpeakerRole
    text: str
    pointer: str
    call: ToolCall | None = None
    call_id: str | None = None


def parse_messages(value: Json, pointer: str, *, skip_agent: bool = False) -> Iterator[MessagePart]:
    """Yield the parts of an answer or a prompt: a text, a message, or nested messages.

    `skip_agent` skips the agent's messages, which a prompt repeats.
    """
    if isinstance(value, str):
        inner = parse_embedded_json(value)
        if inner is None:
            yield MessagePart("text", "", value, pointer)
            return
        value = inner
    for message in _iter_messages(value, _MAX_WRAPPER_DEPTH):
        if not skip_agent or normalize_role(get_role(message)) != "agent":
            yield from parse_message(message, pointer)


def parse_message(message: dict[str, Json], pointer: str) -> Iterator[MessagePart]:
    """Yield the parts of one message, in order."""
    role = normalize_role(get_role(message))
    if role == "tool":
        text = _get_text(message)
        yield MessagePart("result", role, text, pointer, call_id=text_at(message, *_CALL_ID_KEYS))
        return
    if "tool.name" in message:
        yield from _parse_calls([message], role, pointer)
    thought = text_at(message, *_THOUGHT_KEYS)
    if thought is not None:
        yield MessagePart("thought", role, thought, pointer)
    content = _get_content(message)
    if content is None and not role:
        content = message  # a single part among messages
    elif isinstance(content, str) and content.startswith("[{"):
        content = parse_embedded_json(content) or content
    parts, _ = parse_parts(content, pointer)
    for part in parts:
        if part.kind == "call":
            yield from _parse_calls([part.value], role, pointer)
        elif part.kind == "result":
            text = next(
                (format_value(part.value[key]) for key in _RESULT_KEYS if key in part.value), ""
            )
            yield MessagePart("result", "tool", text, pointer, call_id=get_call_id(part.value))
        elif part.kind != "unread":
            yield MessagePart(part.kind, role, part.value, pointer)
    is_unread = content is message and [part.kind for part in parts] == ["unread"]
    if is_unread and is_call_like(message) and "tool.name" not in message:
        yield from _parse_calls([message], role, pointer)
    more = message.get("additional_kwargs")
    calls = message.get("tool_calls") or (more.get("tool_calls") if is_object(more) else None)
    if isinstance(calls, str):
        calls = parse_embedded_json(calls)
    yield from _parse_calls(calls if is_list(calls) else [], role, pointer)


def _parse_calls(values: Iterable[Json], role: SpeakerRole, pointer: str) -> Iterator[MessagePart]:
    for value in values:
        call = parse_call(value)
        if call is not None:
            yield MessagePart("call", role, "", pointer, call)


def _get_content(message: dict[str, Json]) -> Json:
    return next((message[key] for key in _CONTENT_KEYS if message.get(key) is not None), None)


def _get_text(message: dict[str, Json]) -> str:
    content = _get_content(message)
    if is_list(content):
        parts, _ = parse_parts(content, "")
        texts = [part.value for part in parts if part.kind == "text"]
        if texts:
            return "\n".join(texts)
    return format_value(content)


def _iter_messages(value: Json, depth: int) -> Iterator[dict[str, Json]]:
    if is_list(value):
        for item in value if depth else []:
            yield from _iter_messages(item, depth - 1)
    elif is_object(value):
        key = next((key for key in _WRAPPER_KEYS if isinstance(value.get(key), (dict, list))), None)
        if key is None or not depth:
            yield value
        else:
            yield from _iter_messages(value[key], depth - 1)


def normalize_role(role: str) -> SpeakerRole:
    """Return which of the four roles the speaker has."""
    role = role.lower()
    if role in USER_ROLES:
        return "user"
    if role in SYSTEM_ROLES:
        return "system"
    if role in TOOL_ROLES or role == "tool-response":
        return "tool"
    return "agent" if role in AGENT_ROLES or role == "tool-call" else ""


@dataclass(frozen=True, slots=True)
class FlatMessageKeys:
    """The structure of the keys: `prefix`.0`message`.tool_calls.0`call``function`.name."""

    prefix: str
    message: str = ""
    call: str = ""
    function: str = ""
    _beginnings: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        base = f"{self.prefix}.0{self.message}"
        call = f"{base}.tool_calls.0{self.call}{self.function}.name"
        part = f"{base}.contents.0.message_content"
        keys = (f"{base}.role", f"{base}.content", call, f"{part}.text", f"{part}.type")
        object.__setattr__(self, "_beginnings", frozenset(keys))

    def parse_messages(self, span: Span) -> Iterator[MessagePart]:
        """Yield the parts of the messages under these keys."""
        attributes = span.attributes
        if self._beginnings.isdisjoint(attributes):
            return
        for number in range(_MAX_INDEX):
            base = f"{self.prefix}.{number}{self.message}"
            content = f"{base}.content"
            role = normalize_role(text_at(attributes, f"{base}.role") or "")
            parts = [*self._parse_contents(span, base), *self._parse_calls(span, base)]
            if f"{base}.role" not in attributes and content not in attributes and not parts:
                return
            text = text_at(attributes, content)
            if text is not None and role == "tool":
                call_id = text_at(attributes, f"{base}.tool_call_id")
                yield MessagePart("result", role, text, span.pointer_to(content), call_id=call_id)
            elif text is not None:
                yield MessagePart("text", role, text, span.pointer_to(content))
            for part in parts:
                part.role = role
                yield part

    def _parse_contents(self, span: Span, base: str) -> Iterator[MessagePart]:
        for number in range(_MAX_INDEX):
            part = f"{base}.contents.{number}.message_content"
            key = f"{part}.text"
            if key not in span.attributes and f"{part}.type" not in span.attributes:
                return
            text = text_at(span.attributes, key)
            if text is not None:
                is_thought = text_at(span.attributes, f"{part}.type") in _FLAT_THOUGHT_TYPES
                kind = "thought" if is_thought else "text"
                yield MessagePart(kind, "", text, span.pointer_to(key))

    def _parse_calls(self, span: Span, base: str) -> Iterator[MessagePart]:
        attributes = span.attributes
        for number in range(_MAX_INDEX):
            call = f"{base}.tool_calls.{number}{self.call}"
            name = text_at(attributes, f"{call}{self.function}.name")
            if name is None:
                return
            key = f"{call}{self.function}.arguments"
            arguments, text = parse_arguments(attributes.get(key))
            identity = text_at(attributes, f"{call}.id")
            # Name and arguments are separate attributes.
            tool_call = ToolCall(name, arguments, text, identity)
            yield MessagePart("call", "", "", span.get_call_pointer(key), tool_call, identity)
