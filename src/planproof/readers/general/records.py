"""Records of events: one object each for a call, a result, a message or a step."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import (
    format_value,
    is_object,
    key_with_text,
    parse_time,
    text_at,
)
from planproof.core.trace import EventStatus, Kind
from planproof.readers.general.chat import Chat
from planproof.readers.toolkit.call_outcomes import parse_status
from planproof.readers.toolkit.command_tools import get_command_name
from planproof.readers.toolkit.conversation import is_message
from planproof.readers.toolkit.response_items import ITEM_TYPES, ResponseItems
from planproof.readers.toolkit.tool_calls import (
    ToolCall,
    is_call_like,
    parse_arguments,
    parse_call,
    raw_arguments,
)
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

_ENVELOPE_KEYS = ("message", "payload", "item", "record", "event", "content")
_TIME_KEYS = ("timestamp", "time", "created_at", "ts", "start_time")
_RESULT_TYPES = frozenset(
    "tool_result tool_output tool_call_result tool_call_output tool-result".split()
)
_CALL_TYPES = frozenset("tool_call tool_use tool-call".split())
_OUTPUT_KEYS = ("output", "result", "observation", "response", "tool_output", "tool_response")
_NOTICE_TYPES = frozenset(("system", "summary", "notice"))
_TEXT_KEYS = ("content", "summary", "text", "message")


class RecordWriter:
    """Writes records, in order, into a transcript."""

    def __init__(self, builder: TraceBuilder, chat: Chat) -> None:
        self._builder = builder
        self._chat = chat
        self._items = ResponseItems(builder, chat.conversation)
        self._in_model_turn = False

    def add_record(self, value: dict[str, Json], pointer: str) -> bool:
        """Write what a record holds; False when it is no record of a known shape."""
        before = self._builder.time
        self._builder.time = _record_time(value) or before
        taken = self._add_by_shape(value, pointer)
        if not taken:
            self._builder.time = before
        return taken

    def _add_by_shape(self, value: dict[str, Json], pointer: str) -> bool:
        for key in _ENVELOPE_KEYS:
            inner = value.get(key)
            if is_object(inner) and self._add_enveloped(inner, f"{pointer}/{key}"):
                return True
        kind = text_at(value, "type")
        if kind in ITEM_TYPES:
            self._chat.flush()
            return self._items.add_item(value, pointer)
        self._items.end_turn()
        if kind == "thinking":
            self._add_thought(value, pointer)
        elif kind in _RESULT_TYPES:
            self._chat.flush()
            self._in_model_turn = False
            self._chat.conversation.add_result(value, pointer)
        elif kind in _CALL_TYPES or is_call_like(value):
            return self._add_call(parse_call(value), value, pointer)
        else:
            return self._add_step(value, pointer) or self._add_notice(value, pointer)
        return True

    def _add_enveloped(self, inner: dict[str, Json], pointer: str) -> bool:
        if not is_message(inner):
            return self._add_by_shape(inner, pointer)
        self._in_model_turn = False
        self._items.end_turn()
        self._chat.add_turn(inner, pointer, text_at(inner, "id"))
        return True

    def _begin_turn(self) -> None:
        # Thoughts and calls with no result in between are one turn of the model.
        if not self._in_model_turn:
            self._builder.begin_turn()
            self._in_model_turn = True

    def _add_thought(self, value: dict[str, Json], pointer: str) -> None:
        self._begin_turn()
        key = key_with_text(value, ("thinking", "content", "text"))
        if key is not None:
            self._builder.add_message(Kind.REASONING, value[key], f"{pointer}/{key}", "assistant")
        else:
            self._builder.skip(pointer, "encrypted or empty reasoning")

    def _add_call(self, call: ToolCall | None, value: dict[str, Json], pointer: str) -> bool:
        if call is None:
            return False
        self._chat.flush()
        self._begin_turn()
        actor = text_at(value, "agent", "agent_name", "actor", "source") or "assistant"
        draft = self._builder.add_call(call, pointer, actor)
        self._set_own_result(draft, value, pointer)
        return True

    def _set_own_result(self, draft: EventDraft, value: dict[str, Json], pointer: str) -> None:
        status = EventStatus.ERROR if value.get("error") else parse_status(value.get("status"))
        key = next((key for key in _OUTPUT_KEYS if value.get(key) is not None), None)
        if key is None and value.get("error"):
            key = "error"
        if key is not None:
            self._in_model_turn = False
            draft.set_output(format_value(value[key]), f"{pointer}/{key}", status)
        elif status is not None:
            draft.status = status

    def _add_step(self, value: dict[str, Json], pointer: str) -> bool:
        key = "action" if "action" in value else "command"
        action = value.get(key)
        if not (isinstance(action, str) or is_object(action)) or not action:
            return False
        raw = raw_arguments(value)
        if raw is None and not any(name in value for name in (*_OUTPUT_KEYS, "thought")):
            return False
        self._chat.flush()
        self._builder.begin_turn()
        thought = key_with_text(value, ("thought", "reasoning"))
        if thought is not None:
            self._builder.add_message(
                Kind.REASONING, value[thought], f"{pointer}/{thought}", "assistant"
            )
        call, action_pointer = parse_call(action), f"{pointer}/{key}"
        if call is None:
            text = format_value(action)
            call = ToolCall(get_command_name(text), text=text)
            if raw is not None:
                call.name, action_pointer = text[:80], pointer
                call.arguments, call.text = parse_arguments(raw)
        draft = self._builder.add_call(call, action_pointer, "assistant")
        self._set_own_result(draft, value, pointer)
        return True

    def _add_notice(self, value: dict[str, Json], pointer: str) -> bool:
        kind = text_at(value, "type")
        if kind is None:
            return False
        key = key_with_text(value, _TEXT_KEYS)
        if kind in _NOTICE_TYPES and key is not None:
            self._builder.begin_turn()
            self._builder.add_message(Kind.SYSTEM, value[key], f"{pointer}/{key}", "system")
            return True
        if "uuid" in value or "timestamp" in value:
            self._builder.skip(pointer, f"a record of the type {kind!r}")
            return True
        return False


def _record_time(value: dict[str, Json]) -> str | None:
    return next((parse_time(value[key]) for key in _TIME_KEYS if key in value), None)
