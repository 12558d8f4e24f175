"""What the messages of a conversation give: events, with results tied to their calls."""

from __future__ import annotations

import re

from planproof.core.content import Image, Json
from planproof.core.json_values import (
    embedded,
    is_list,
    is_object,
    key_with_text,
    text_at,
    written,
)
from planproof.core.trace import EventStatus, Kind
from planproof.readers.toolkit.call_markup import is_plain, segments
from planproof.readers.toolkit.call_outcomes import stated
from planproof.readers.toolkit.content_parts import Part, as_image, parts_of, plain_text
from planproof.readers.toolkit.json_answers import write_structured
from planproof.readers.toolkit.tool_calls import as_call, call_id_of
from planproof.readers.toolkit.trace_builder import Draft, Result, Transcript

USERS = frozenset(("user", "human", "humanmessage", "customer", "user_proxy", "userproxy"))
AGENTS = frozenset(("assistant", "ai", "aimessage", "aimessagechunk", "model", "agent", "gpt"))
TOOLS = frozenset(
    "tool function toolmessage functionmessage tool_result toolresult observation "
    "environment".split()
)
SYSTEMS = frozenset(("system", "developer", "systemmessage"))
ROLES = USERS | AGENTS | TOOLS | SYSTEMS

# Looked up once: most of what is read are these.
_MESSAGE, _REASONING = Kind.MESSAGE, Kind.REASONING
_CONTENT = ("content", "value", "text", "parts")
_CONTENT_ELSEWHERE = frozenset(_CONTENT[1:])
_SAYS = (*_CONTENT, "tool_calls", "function_call")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thought")
# Few of an agent's messages have one of these: to look for all of them at once is quicker.
_UNUSUAL = frozenset((*_THOUGHTS, "additional_kwargs", *_CONTENT_ELSEWHERE))
_TOOL_NAMES = ("name", "function", "tool_name")
_TELLS_MORE = frozenset((*_TOOL_NAMES, "is_error", "isError", "error", "status"))
_RESULTS = ("content", "output", "result", "response")
_RESULT_TURN = re.compile(
    r"\s{0,8}(?:observation\b|execution result\b|<(?:observation|tool_response|function_results?)"
    r"|\[?(?:tool|function|command) (?:result|output|response)\b|exit ?code:)",
    re.IGNORECASE,
)
_RESULT_INITIALS = frozenset("oOeE<[tTfFcC")


def role_of(message: dict[str, Json]) -> str:
    """Who speaks, in lower case: `role`, or what other frameworks call it."""
    role = message.get("role")
    if not role or not isinstance(role, str):
        role = text_at(message, "type", "from", "author") or ""
    return role.lower()


def is_message(value: Json) -> bool:
    """Whether this is a chat message: a known role with content or calls."""
    return is_object(value) and role_of(value) in ROLES and any(key in value for key in _SAYS)


class Conversation:
    """Writes messages, in order, into a transcript; `speaker` is who the model speaks as."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self.speaker = "assistant"
        self._aside: Draft | None = None
        self._called_in_text = False

    def message(self, message: dict[str, Json], pointer: str, turn: str | None = None) -> None:
        """Write one message; `turn` is the key of the model turn that it belongs to."""
        role = message.get("role")
        if not isinstance(role, str) or role not in ROLES:
            role = role_of(message)
        if role in TOOLS:
            self._result(message, pointer)
        elif role in USERS:
            self._user(message, pointer)
        elif role in SYSTEMS:
            self._transcript.begin_turn()
            text, place, _ = _content(message, pointer)
            self._transcript.say(Kind.SYSTEM, text, place, "system")
        else:
            self._agent(message, pointer, turn)

    def prose(self, text: str, pointer: str, actor: str) -> list[Draft]:
        """Write a text with the calls that stand in it; gives back what was just said."""
        value = embedded(text)
        if is_object(value):
            with self._transcript.reading_text(text, pointer, actor):
                if write_structured(self._transcript, value, pointer, actor):
                    return []
        if is_plain(text):
            draft = self._transcript.say(_MESSAGE, text.strip(), pointer, actor)
            return [draft] if draft is not None else []
        with self._transcript.reading_text(text, pointer, actor):
            return self._segments(text, pointer, actor)

    def _segments(self, text: str, pointer: str, actor: str) -> list[Draft]:
        said: list[Draft] = []
        for segment in segments(text):
            piece = text[segment.start : segment.end].strip()
            if segment.call is not None:
                self._called_in_text = True
                self._transcript.call(segment.call, pointer, actor)
            elif segment.sort == "result":
                # The agent wrote it itself, so nobody gave it this result.
                self._transcript.observe(piece, pointer, actor)
                self._transcript.begin_turn()
            else:
                if segment.sort == "thought" and self._transcript.has_just_called():
                    self._transcript.begin_turn()
                kind = Kind.REASONING if segment.sort == "thought" else Kind.MESSAGE
                draft = self._transcript.say(kind, piece, pointer, actor)
                said += [draft] if draft is not None and segment.sort == "prose" else []
        return said

    def beside_calls(self, said: list[Draft]) -> None:
        """What was said together with calls is a thought, unless the user answers it."""
        for draft in said:
            draft.kind = _REASONING
        if said:
            self._aside = said[-1]

    def result(self, value: dict[str, Json], pointer: str) -> None:
        """Write a result that is a part of a message or a record of its own."""
        for wrapper in ("functionResponse", "toolResult"):
            inner = value.get(wrapper)
            if is_object(inner):
                value, pointer = inner, f"{pointer}/{wrapper}"
        key = next((key for key in _RESULTS if key in value), None)
        place = pointer if key is None else f"{pointer}/{key}"
        raw = None if key is None else value[key]
        images: tuple[Image, ...] = ()
        picture = as_image(raw) if is_object(raw) else None
        if is_list(raw):
            text, inner, images = plain_text(raw, place)
            if text or images or not raw:
                place = inner
            else:
                text = written(raw)
        elif picture is not None:
            text, images = "", (picture,)
        else:
            text = written(raw)
        self._transcript.answer(
            Result(
                text,
                place,
                call_id=text_at(value, "tool_use_id", "toolUseId", "call_id", "tool_call_id")
                or call_id_of(value),
                name=text_at(value, "name"),
                actor="tool",
                status=EventStatus.ERROR if _is_error(raw) else _failed(value),
                images=images,
            )
        )

    def _agent(self, message: dict[str, Json], pointer: str, turn: str | None) -> None:
        actor = self._actor(message)
        self._transcript.begin_turn(turn)
        self._aside = None
        self._called_in_text = False
        before = self._transcript.calls
        plain = _UNUSUAL.isdisjoint(message)
        if not plain:
            self._thoughts(message, pointer, actor)
        silent = plain and message.get("content") is None
        prose = [] if silent else self._spoken(message, pointer, actor)
        self._calls(message, pointer, actor)
        if prose and self._transcript.calls > before:
            self.beside_calls(prose)

    def _actor(self, message: dict[str, Json]) -> str:
        name = message.get("name")
        if name and isinstance(name, str):
            return name
        # In a chat of named agents, "Assistant" may be the name of one.
        return "Assistant" if message.get("role") == "Assistant" else self.speaker

    def _spoken(self, message: dict[str, Json], pointer: str, actor: str) -> list[Draft]:
        key = _content_key(message)
        content = message.get(key)
        if content is None:
            return []
        if isinstance(content, str):
            blank = not content or content.isspace()
            return [] if blank else self.prose(content, f"{pointer}/{key}", actor)
        parts, images = parts_of(content, f"{pointer}/{key}")
        calls = message.get("tool_calls")
        if is_list(calls) and calls and is_list(content):
            # Some give the calls as parts of the content and once more in a list.
            listed = {call_id_of(call) for call in calls if is_object(call)}
            parts = [part for part in parts if not _is_listed(part, listed)]
        prose = [draft for part in parts for draft in self._part(part, actor)]
        if images and prose:
            prose[-1].images += images
        elif images:
            draft = Draft(Kind.MESSAGE, f"{pointer}/{key}", actor=actor, images=images)
            self._transcript.add(draft)
        return prose

    def _thoughts(self, message: dict[str, Json], pointer: str, actor: str) -> None:
        key = key_with_text(message, _THOUGHTS)
        if key is not None:
            self._transcript.say(Kind.REASONING, message[key], f"{pointer}/{key}", actor)
        more = message.get("additional_kwargs")
        if is_object(more):
            self._thoughts(more, f"{pointer}/additional_kwargs", actor)

    def _part(self, part: Part, actor: str) -> list[Draft]:
        if part.sort == "text":
            return self.prose(part.value, part.pointer, actor)
        if part.sort == "thought":
            self._transcript.say(Kind.REASONING, part.value, part.pointer, actor)
        elif part.sort == "call":
            self._call(part.value, part.pointer, actor)
        elif part.sort == "result":
            self.result(part.value, part.pointer)
        else:
            self._transcript.skip(part.pointer, part.value)
        return []

    def _calls(self, message: dict[str, Json], pointer: str, actor: str) -> None:
        calls = message.get("tool_calls")
        if calls and is_list(calls):
            for index, value in enumerate(calls):
                self._call(value, f"{pointer}/tool_calls/{index}", actor)
        elif "function_call" in message and is_object(message["function_call"]):
            self._call(message["function_call"], f"{pointer}/function_call", actor)

    def _call(self, value: Json, pointer: str, actor: str) -> None:
        call = as_call(value)
        if call is None:
            self._transcript.skip(pointer, "a call without a name")
        else:
            self._transcript.call(call, pointer, actor)

    def _user(self, message: dict[str, Json], pointer: str) -> None:
        key = _content_key(message)
        content = message.get(key)
        if isinstance(content, str):
            if content and not content.isspace():
                self._told(content, f"{pointer}/{key}")
            return
        parts, images = parts_of(content, f"{pointer}/{key}")
        said = [part for part in parts if part.sort == "text"]
        for part in parts:
            if part.sort != "text":
                self._part(part, "user")
        if said and self._is_result_turn(said[0].value):
            text, place, _ = _content(message, pointer)
            self._transcript.answer(Result(text, place, actor=_answering(text), images=images))
        elif said or (images and not parts):
            self._asked(said or [Part("text", "", f"{pointer}/{key}")], images)

    def _told(self, text: str, pointer: str) -> None:
        if self._is_result_turn(text):
            self._transcript.answer(Result(text, pointer, actor=_answering(text)))
        else:
            self._answered()
            self._transcript.say(_MESSAGE, text, pointer, "user")

    def _answered(self) -> None:
        if self._aside is not None:
            # The user answers it: so it was said to the user.
            self._aside.kind = _MESSAGE
            self._aside = None
        self._transcript.begin_turn()

    def _asked(self, said: list[Part], images: tuple[Image, ...]) -> None:
        self._answered()
        for part in said:
            draft = Draft(Kind.MESSAGE, part.pointer, actor="user", text=part.value)
            draft.images, images = images, ()
            self._transcript.add(draft)

    def _is_result_turn(self, text: str) -> bool:
        return (self._called_in_text and self._transcript.awaits_result()) or _is_result(text)

    def _result(self, message: dict[str, Json], pointer: str) -> None:
        content = message.get("content")
        if isinstance(content, str):
            text, place, images = content, f"{pointer}/content", ()
        elif is_list(content) and self._results(content, f"{pointer}/content"):
            return
        else:
            text, place, images = _content(message, pointer)
        call_id = message.get("tool_call_id")
        if not call_id or not isinstance(call_id, str):
            call_id = text_at(message, "call_id", "tool_use_id")
        name = status = None
        # Most tell nothing else: to look for all of it at once is quicker.
        if not _TELLS_MORE.isdisjoint(message):
            name, status = text_at(message, *_TOOL_NAMES), _failed(message)
        self._transcript.answer(Result(text, place, call_id, name, "tool", status, images))

    def _results(self, content: list[Json], pointer: str) -> bool:
        """Write the results among the parts of a content; False when there are none."""
        parts, _ = parts_of(content, pointer)
        results = [part for part in parts if part.sort == "result"]
        for part in results:
            self.result(part.value, part.pointer)
        return bool(results)


def _is_result(text: str) -> bool:
    initial = text[:9].lstrip()[:1]
    return initial in _RESULT_INITIALS and _RESULT_TURN.match(text) is not None


def _answering(text: str) -> str | None:
    """Return who answers a call in an agent's text, by the look of what the user's turn says."""
    return None if _is_result(text) else "user"


def _is_listed(part: Part, calls: set[str | None]) -> bool:
    return part.sort == "call" and not calls.isdisjoint(
        (text_at(part.value, "id"), text_at(part.value, "call_id"))
    )


def _content_key(message: dict[str, Json]) -> str:
    if message.get("content") is not None or _CONTENT_ELSEWHERE.isdisjoint(message):
        return "content"
    return next((key for key in _CONTENT if message.get(key) is not None), "content")


def _content(message: dict[str, Json], pointer: str) -> tuple[str, str, tuple[Image, ...]]:
    content = message.get("content")
    if isinstance(content, str):
        return content, f"{pointer}/content", ()
    key = _content_key(message)
    if key not in message:
        return "", pointer, ()
    return plain_text(message[key], f"{pointer}/{key}")


def _is_error(result: Json) -> bool:
    # Such as "web_search_tool_result_error".
    kind = result.get("type") if is_object(result) else None
    return isinstance(kind, str) and kind.endswith("_error")


def _failed(value: dict[str, Json]) -> EventStatus | None:
    if value.get("is_error") is True or value.get("isError") is True or value.get("error"):
        return EventStatus.ERROR
    # "success" only says that the tool returned; what it returned may still be an error.
    failed = stated(value.get("status")) is EventStatus.ERROR
    return EventStatus.ERROR if failed else None
