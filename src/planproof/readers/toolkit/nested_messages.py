"""What messages say that are kept inside another record: text, thoughts, calls and results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from planproof.core.content import Json
from planproof.core.json_values import embedded, is_list, is_object, text_at, written
from planproof.readers.toolkit.content_parts import parts_of
from planproof.readers.toolkit.conversation import AGENTS, SYSTEMS, TOOLS, USERS, role_of
from planproof.readers.toolkit.tool_calls import Call, as_call, call_id_of

Sort: TypeAlias = Literal["text", "thought", "call", "result"]
Role: TypeAlias = Literal["user", "agent", "tool", "system", ""]

_DEEPEST_WRAPPER = 6
_WRAPPERS = ("choices", "generations", "messages", "message", "kwargs", "output")
_CONTENTS = ("content", "contents", "parts", "text")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_RESULTS = ("result", "response", "content", "output")
_CALL_IDS = ("tool_call_id", "tool_use_id", "call_id", "id")


@dataclass(slots=True)
class Spoken:
    """One thing that a message says, and the pointer to the record that has the message."""

    sort: Sort
    role: Role
    text: str
    pointer: str
    call: Call | None = None
    call_id: str | None = None


def said_in(value: Json, pointer: str, *, by_others: bool = False) -> Iterator[Spoken]:
    """What an answer or a prompt says that is a text, a message, or any wrapping of messages.

    `by_others` passes over what an agent says: a prompt repeats it.
    """
    if isinstance(value, str):
        inner = embedded(value)
        if inner is None:
            yield Spoken("text", "", value, pointer)
            return
        value = inner
    for message in _messages(value, _DEEPEST_WRAPPER):
        if not by_others or role_named(role_of(message)) != "agent":
            yield from message_says(message, pointer)


def message_says(message: dict[str, Json], pointer: str) -> Iterator[Spoken]:
    """What one message says, in the order in which it says it."""
    role = role_named(role_of(message))
    if role == "tool":
        text = _text(message)
        yield Spoken("result", role, text, pointer, call_id=text_at(message, *_CALL_IDS))
        return
    if "tool.name" in message:
        yield from _calls([message], role, pointer)
    thought = text_at(message, *_THOUGHTS)
    if thought is not None:
        yield Spoken("thought", role, thought, pointer)
    content = _content(message)
    if content is None and not role:
        content = message  # a part that stands by itself among messages
    elif isinstance(content, str) and content.startswith("[{"):
        content = embedded(content) or content
    parts, _ = parts_of(content, pointer)
    for part in parts:
        if part.sort == "call":
            yield from _calls([part.value], role, pointer)
        elif part.sort == "result":
            text = next((written(part.value[key]) for key in _RESULTS if key in part.value), "")
            yield Spoken("result", "tool", text, pointer, call_id=call_id_of(part.value))
        elif part.sort != "unread":
            yield Spoken(part.sort, role, part.value, pointer)
    calls = message.get("tool_calls")
    if isinstance(calls, str):
        calls = embedded(calls)
    yield from _calls(calls if is_list(calls) else [], role, pointer)


def _calls(values: Iterable[Json], role: Role, pointer: str) -> Iterator[Spoken]:
    for value in values:
        call = as_call(value)
        if call is not None:
            yield Spoken("call", role, "", pointer, call)


def _content(message: dict[str, Json]) -> Json:
    return next((message[key] for key in _CONTENTS if message.get(key) is not None), None)


def _text(message: dict[str, Json]) -> str:
    content = _content(message)
    if is_list(content):
        parts, _ = parts_of(content, "")
        texts = [part.value for part in parts if part.sort == "text"]
        if texts:
            return "\n".join(texts)
    return written(content)


def _messages(value: Json, depth: int) -> Iterator[dict[str, Json]]:
    if is_list(value):
        for item in value if depth else []:
            yield from _messages(item, depth - 1)
    elif is_object(value):
        key = next((key for key in _WRAPPERS if isinstance(value.get(key), (dict, list))), None)
        if key is None or not depth:
            yield value
        else:
            yield from _messages(value[key], depth - 1)


def role_named(role: str) -> Role:
    """Who speaks, of the four that there are."""
    role = role.lower()
    if role in USERS:
        return "user"
    if role in SYSTEMS:
        return "system"
    if role in TOOLS or role == "tool-response":
        return "tool"
    return "agent" if role in AGENTS or role == "tool-call" else ""
