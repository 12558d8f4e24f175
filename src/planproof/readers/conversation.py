"""What the messages of a conversation give: events, with results tied to their calls."""

from __future__ import annotations

import re

from planproof.content import Image, Json
from planproof.readers.calls import as_call, call_id_of
from planproof.readers.markup import segments
from planproof.readers.outcomes import stated
from planproof.readers.parts import Part, parts_of, plain_text
from planproof.readers.shapes import embedded, is_list, is_object, key_with_text, text_at, written
from planproof.readers.structured import write_structured
from planproof.readers.transcript import Draft, Result, Transcript
from planproof.trace import EventStatus, Kind

USERS = frozenset(("user", "human", "humanmessage", "customer"))
AGENTS = frozenset(("assistant", "ai", "aimessage", "aimessagechunk", "model", "agent", "gpt"))
TOOLS = frozenset(
    (
        "tool",
        "function",
        "toolmessage",
        "functionmessage",
        "tool_result",
        "toolresult",
        "observation",
        "environment",
    )
)
SYSTEMS = frozenset(("system", "developer", "systemmessage"))
ROLES = USERS | AGENTS | TOOLS | SYSTEMS

_CONTENT = ("content", "value", "text", "parts")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thought")
_RESULT_TURN = re.compile(
    r"\s*(?:observation\b|execution result\b|<(?:observation|tool_response|function_results?)"
    r"|\[?(?:tool|function|command) (?:result|output|response)\b|exit ?code:)",
    re.IGNORECASE,
)


def role_of(message: dict[str, Json]) -> str:
    """Who speaks, in lower case: `role`, or what other frameworks call it."""
    role = text_at(message, "role", "type", "from", "author")
    if role is None:
        author = message.get("author")
        role = text_at(author, "role") if is_object(author) else None
    return (role or "").lower()


def is_message(value: Json) -> bool:
    """Whether this is a chat message: a known role with content or calls."""
    return (
        is_object(value)
        and role_of(value) in ROLES
        and any(key in value for key in (*_CONTENT, "tool_calls", "function_call"))
    )


class Conversation:
    """Writes messages, in order, into a transcript."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self._aside: Draft | None = None
        self._called_in_text = False

    def message(self, message: dict[str, Json], pointer: str, turn: str | None = None) -> None:
        """Write one message; `turn` is the key of the model turn that it belongs to."""
        role = role_of(message)
        if role in TOOLS:
            self._result(message, pointer)
        elif role in SYSTEMS:
            self.transcript.begin_turn()
            text, place, _ = self._content(message, pointer)
            if text.strip():
                self.transcript.add(Draft(Kind.SYSTEM, place, actor="system", text=text))
        elif role in USERS:
            self._user(message, pointer)
        else:
            self.agent(message, pointer, text_at(message, "name") or "assistant", turn)

    def agent(
        self, message: dict[str, Json], pointer: str, actor: str, turn: str | None = None
    ) -> None:
        """Write what an agent thought, said and called in one turn."""
        self.transcript.begin_turn(turn)
        self._aside = None
        self._called_in_text = False
        before = len(self.transcript.drafts)
        self._thoughts(message, pointer, actor)
        key = _content_key(message)
        parts, images = parts_of(message.get(key), f"{pointer}/{key}")
        prose: list[Draft] = []
        for part in parts:
            prose += self._part(part, actor)
        if images:
            self._with_images(prose, images, f"{pointer}/{key}", actor)
        self._calls(message, pointer, actor)
        if any(draft.kind is Kind.ACTION for draft in self.transcript.drafts[before:]):
            for draft in prose:
                draft.kind = Kind.REASONING
            self._aside = prose[-1] if prose else None

    def _content(
        self, message: dict[str, Json], pointer: str
    ) -> tuple[str, str, tuple[Image, ...]]:
        key = _content_key(message)
        return plain_text(message.get(key), f"{pointer}/{key}")

    def _thoughts(self, message: dict[str, Json], pointer: str, actor: str) -> None:
        for holder, place in (
            (message, pointer),
            (message.get("additional_kwargs"), f"{pointer}/additional_kwargs"),
        ):
            if is_object(holder):
                key = key_with_text(holder, _THOUGHTS)
                if key is not None:
                    self.transcript.add(
                        Draft(Kind.REASONING, f"{place}/{key}", actor=actor, text=holder[key])
                    )

    def _part(self, part: Part, actor: str) -> list[Draft]:
        if part.sort == "thought":
            self.transcript.add(Draft(Kind.REASONING, part.pointer, actor=actor, text=part.value))
        elif part.sort == "call":
            self._call(part.value, part.pointer, actor)
        elif part.sort == "result":
            self.block_result(part.value, part.pointer)
        elif part.sort == "unread":
            self.transcript.skip(part.pointer, part.value)
        else:
            return self.prose(part.value, part.pointer, actor)
        return []

    def prose(self, text: str, pointer: str, actor: str) -> list[Draft]:
        """Write a text with the calls that stand in it; gives back what was just said."""
        value = embedded(text)
        if is_object(value) and write_structured(self.transcript, value, pointer, actor):
            return []
        said: list[Draft] = []
        for segment in segments(text):
            piece = text[segment.start : segment.end].strip()
            if segment.call is not None:
                call = segment.call
                self._called_in_text = True
                self.transcript.call(
                    Draft(Kind.ACTION, pointer, call.name, actor, call.text, call.arguments),
                    call.id,
                )
            elif segment.is_result:
                self.transcript.answer(Result(piece, pointer))
            elif piece:
                kind = Kind.REASONING if segment.is_thought else Kind.MESSAGE
                draft = self.transcript.add(Draft(kind, pointer, actor=actor, text=piece))
                if kind is Kind.MESSAGE:
                    said.append(draft)
        return said

    def _calls(self, message: dict[str, Json], pointer: str, actor: str) -> None:
        calls = message.get("tool_calls")
        if is_list(calls) and calls:
            for index, value in enumerate(calls):
                self._call(value, f"{pointer}/tool_calls/{index}", actor)
        elif is_object(message.get("function_call")):
            self._call(message["function_call"], f"{pointer}/function_call", actor)

    def _call(self, value: Json, pointer: str, actor: str) -> None:
        call = as_call(value)
        if call is None:
            self.transcript.skip(pointer, "a call without a name")
            return
        self.transcript.call(
            Draft(Kind.ACTION, pointer, call.name, actor, call.text, call.arguments), call.id
        )

    def _with_images(
        self, prose: list[Draft], images: tuple[Image, ...], pointer: str, actor: str
    ) -> None:
        if prose:
            prose[-1].images += images
        else:
            self.transcript.add(Draft(Kind.MESSAGE, pointer, actor=actor, images=images))

    def _user(self, message: dict[str, Json], pointer: str) -> None:
        key = _content_key(message)
        parts, images = parts_of(message.get(key), f"{pointer}/{key}")
        said = [part for part in parts if part.sort == "text"]
        for part in parts:
            if part.sort == "result":
                self.block_result(part.value, part.pointer)
            elif part.sort != "text":
                self._part(part, "user")
        if not said and not (images and len(said) == len(parts)):
            return
        if said and self._is_result_turn(said[0].value):
            text = said[0].value if len(said) == 1 else "\n".join(part.value for part in said)
            place = said[0].pointer if len(said) == 1 else f"{pointer}/{key}"
            self.transcript.answer(Result(text, place, images=images))
            return
        if self._aside is not None:
            # The user answers it: so it was said to the user.
            self._aside.kind = Kind.MESSAGE
            self._aside = None
        self.transcript.begin_turn()
        for part in said or [Part("text", "", f"{pointer}/{key}")]:
            draft = Draft(Kind.MESSAGE, part.pointer, actor="user", text=part.value)
            draft.images, images = images, ()
            self.transcript.add(draft)

    def _is_result_turn(self, text: str) -> bool:
        if self._called_in_text and self.transcript.awaits_result():
            return True
        return _RESULT_TURN.match(text) is not None

    def _result(self, message: dict[str, Json], pointer: str) -> None:
        text, place, images = self._content(message, pointer)
        status = _failed(message) or stated(message.get("status"))
        self.transcript.answer(
            Result(
                text,
                place,
                call_id=text_at(message, "tool_call_id", "call_id", "tool_use_id"),
                name=text_at(message, "name", "function", "tool_name"),
                actor="tool",
                status=EventStatus.ERROR if status is EventStatus.ERROR else None,
                images=images,
            )
        )

    def block_result(self, value: dict[str, Json], pointer: str) -> None:
        """Write a result that is a part of a message or a record of its own."""
        for wrapper in ("functionResponse", "toolResult"):
            inner = value.get(wrapper)
            if is_object(inner):
                value, pointer = inner, f"{pointer}/{wrapper}"
        key = next((k for k in ("content", "output", "result", "response") if k in value), "")
        raw = value.get(key)
        place = f"{pointer}/{key}" if key else pointer
        if isinstance(raw, str) or is_list(raw):
            text, place, images = plain_text(raw, place)
        else:
            text, images = written(raw), ()
        self.transcript.answer(
            Result(
                text,
                place,
                call_id=text_at(value, "tool_use_id", "toolUseId", "call_id", "tool_call_id")
                or call_id_of(value),
                name=text_at(value, "name"),
                actor="tool",
                status=_failed(value),
                images=images,
            )
        )


def _content_key(message: dict[str, Json]) -> str:
    return next((key for key in _CONTENT if message.get(key) is not None), "content")


def _failed(value: dict[str, Json]) -> EventStatus | None:
    if value.get("is_error") is True or value.get("isError") is True or value.get("error"):
        return EventStatus.ERROR
    return None
