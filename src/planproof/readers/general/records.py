"""Records of events: one object each for a call, a result, a message or a step."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import (
    is_object,
    key_with_text,
    text_at,
    time_of,
    written,
)
from planproof.core.trace import EventStatus, Kind
from planproof.readers.general.chat import Chat
from planproof.readers.toolkit.call_outcomes import stated
from planproof.readers.toolkit.command_tools import command_name
from planproof.readers.toolkit.conversation import is_message
from planproof.readers.toolkit.response_items import ITEM_TYPES, ResponseItems
from planproof.readers.toolkit.tool_calls import (
    Call,
    arguments_of,
    as_call,
    looks_like_call,
    raw_arguments,
)
from planproof.readers.toolkit.trace_builder import Draft, Transcript

_ENVELOPES = ("message", "payload", "item", "record", "event", "content")
_TIMES = ("timestamp", "time", "created_at", "ts", "start_time")
_RESULTS = frozenset(
    "tool_result tool_output tool_call_result tool_call_output tool-result".split()
)
_CALLS = frozenset("tool_call tool_use tool-call".split())
_OUTPUTS = ("output", "result", "observation", "response", "tool_output", "tool_response")
_NOTICES = frozenset(("system", "summary", "notice"))
_SAID = ("content", "summary", "text", "message")


class Records:
    """Writes records, in order, into a transcript."""

    def __init__(self, transcript: Transcript, chat: Chat) -> None:
        self._transcript = transcript
        self._chat = chat
        self._items = ResponseItems(transcript, chat.conversation)
        self._model_speaks = False

    def take(self, value: dict[str, Json], pointer: str) -> bool:
        """Write what a record holds; False when it is no record of a known shape."""
        before = self._transcript.time
        self._transcript.time = _time(value) or before
        taken = self._take(value, pointer)
        if not taken:
            self._transcript.time = before
        return taken

    def _take(self, value: dict[str, Json], pointer: str) -> bool:
        for key in _ENVELOPES:
            inner = value.get(key)
            if is_object(inner) and self._enveloped(inner, f"{pointer}/{key}"):
                return True
        kind = text_at(value, "type")
        if kind in ITEM_TYPES:
            self._chat.flush()
            return self._items.take(value, pointer)
        self._items.end_turn()
        if kind == "thinking":
            self._thought(value, pointer)
        elif kind in _RESULTS:
            self._chat.flush()
            self._model_speaks = False
            self._chat.conversation.result(value, pointer)
        elif kind in _CALLS or looks_like_call(value):
            return self._call(as_call(value), value, pointer)
        else:
            return self._step(value, pointer) or self._notice(value, pointer)
        return True

    def _enveloped(self, inner: dict[str, Json], pointer: str) -> bool:
        if not is_message(inner):
            return self._take(inner, pointer)
        self._model_speaks = False
        self._items.end_turn()
        self._chat.turn(inner, pointer, text_at(inner, "id"))
        return True

    def _begin_turn(self) -> None:
        # Thoughts and calls with no result in between are one turn of the model.
        if not self._model_speaks:
            self._transcript.begin_turn()
            self._model_speaks = True

    def _thought(self, value: dict[str, Json], pointer: str) -> None:
        self._begin_turn()
        key = key_with_text(value, ("thinking", "content", "text"))
        if key is not None:
            self._transcript.say(Kind.REASONING, value[key], f"{pointer}/{key}", "assistant")
        else:
            self._transcript.skip(pointer, "encrypted or empty reasoning")

    def _call(self, call: Call | None, value: dict[str, Json], pointer: str) -> bool:
        if call is None:
            return False
        self._chat.flush()
        self._begin_turn()
        actor = text_at(value, "agent", "agent_name", "actor", "source") or "assistant"
        draft = self._transcript.call(call, pointer, actor)
        self._own_result(draft, value, pointer)
        return True

    def _own_result(self, draft: Draft, value: dict[str, Json], pointer: str) -> None:
        status = EventStatus.ERROR if value.get("error") else stated(value.get("status"))
        key = next((key for key in _OUTPUTS if value.get(key) is not None), None)
        if key is None and value.get("error"):
            key = "error"
        if key is not None:
            self._model_speaks = False
            draft.returned(written(value[key]), f"{pointer}/{key}", status)
        elif status is not None:
            draft.status = status

    def _step(self, value: dict[str, Json], pointer: str) -> bool:
        key = "action" if "action" in value else "command"
        action = value.get(key)
        if not (isinstance(action, str) or is_object(action)) or not action:
            return False
        given = raw_arguments(value)
        if given is None and not any(name in value for name in (*_OUTPUTS, "thought")):
            return False
        self._chat.flush()
        self._transcript.begin_turn()
        thought = key_with_text(value, ("thought", "reasoning"))
        if thought is not None:
            self._transcript.say(
                Kind.REASONING, value[thought], f"{pointer}/{thought}", "assistant"
            )
        call, place = as_call(action), f"{pointer}/{key}"
        if call is None:
            text = written(action)
            call = Call(command_name(text), text=text)
            if given is not None:
                call.name, place = text[:80], pointer
                call.arguments, call.text = arguments_of(given)
        draft = self._transcript.call(call, place, "assistant")
        self._own_result(draft, value, pointer)
        return True

    def _notice(self, value: dict[str, Json], pointer: str) -> bool:
        kind = text_at(value, "type")
        if kind is None:
            return False
        key = key_with_text(value, _SAID)
        if kind in _NOTICES and key is not None:
            self._transcript.begin_turn()
            self._transcript.say(Kind.SYSTEM, value[key], f"{pointer}/{key}", "system")
            return True
        if "uuid" in value or "timestamp" in value:
            self._transcript.skip(pointer, f"a record of the type {kind!r}")
            return True
        return False


def _time(value: dict[str, Json]) -> str | None:
    return next((time_of(value[key]) for key in _TIMES if key in value), None)
