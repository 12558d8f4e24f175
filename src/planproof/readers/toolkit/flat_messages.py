"""Parse messages flattened into span attributes, with one key for each field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from planproof.core.json_values import text_at
from planproof.readers.toolkit.nested_messages import MessagePart, normalize_role
from planproof.readers.toolkit.span import Span
from planproof.readers.toolkit.tool_calls import ToolCall, parse_arguments

_MAX_INDEX = 100_000
_THOUGHT_TYPES = frozenset(("reasoning", "thinking"))


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
                is_thought = text_at(span.attributes, f"{part}.type") in _THOUGHT_TYPES
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
