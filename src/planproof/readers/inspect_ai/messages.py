"""Inspect's messages, and the attachments that hold what is long in them."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at, written
from planproof.core.pointer import escape
from planproof.core.trace import EventStatus, Kind
from planproof.readers.toolkit.content_parts import Part, parts_of, plain_text
from planproof.readers.toolkit.tool_calls import Call
from planproof.readers.toolkit.trace_builder import Draft, Result, Transcript

_REFERENCE = "attachment://"
_DEEPEST = 20


class Messages:
    """Writes messages, in order, into a transcript."""

    def __init__(self, transcript: Transcript, attachments: Json) -> None:
        self._transcript = transcript
        self._attachments: dict[str, Json] = attachments if is_object(attachments) else {}
        self._calls: dict[str, Draft] = {}
        self._answered: set[str] = set()

    def write(self, message: dict[str, Json], pointer: str, role: Json) -> None:
        """Write one message, as one of the given role."""
        if role == "assistant":
            self.agent(message, pointer)
        elif role == "tool":
            self.result(message, pointer, "content", text_at(message, "tool_call_id"))
        else:
            self._transcript.begin_turn()
            kind, actor = (Kind.MESSAGE, "user") if role == "user" else (Kind.SYSTEM, "system")
            parts, images = parts_of(message.get("content"), f"{pointer}/content")
            for part in parts:
                text, place = self._resolved(part.value, part.pointer)
                draft = self._transcript.say(kind, text, place, actor)
                if draft is not None:
                    draft.images, images = images, ()

    def agent(self, message: dict[str, Json], pointer: str) -> None:
        """Write an answer of the model: what it thought and said, and the calls that it made."""
        self._transcript.begin_turn()
        calls = message.get("tool_calls")
        calls = calls if is_list(calls) else []
        # What is said on the way to a call is thought aloud.
        said = Kind.REASONING if calls else Kind.MESSAGE
        for part in parts_of(message.get("content"), f"{pointer}/content")[0]:
            self._part(part, said)
        for index, value in enumerate(calls):
            self.call(value, f"{pointer}/tool_calls/{index}")

    def call(self, value: Json, pointer: str) -> Draft | None:
        """Write a call of a function."""
        name = text_at(value, "function", "name") if is_object(value) else None
        if name is None:
            self._transcript.skip(pointer, "a call without a name")
            return None
        arguments = value.get("arguments")
        whole = self._filled(arguments, _DEEPEST)
        if whole is not arguments:
            pointer = ""  # what stands here and in attachments stands nowhere but in the whole
        text = whole if isinstance(whole, str) else ""
        identity = text_at(value, "id")
        draft = self._transcript.call(
            Call(name, None if text else whole, text, identity), pointer, "assistant"
        )
        if identity is not None:
            self._calls[identity] = draft
        return draft

    def called(self, identity: str | None) -> Draft | None:
        """The call of this id, if it has been written."""
        return self._calls.get(identity or "")

    def result(self, value: dict[str, Json], pointer: str, key: str, identity: str | None) -> None:
        """Tie what came back, under `key`, to its call; only once, for it is told repeatedly."""
        if identity is not None:
            if identity in self._answered:
                return
            self._answered.add(identity)
        raw, place = value.get(key), f"{pointer}/{key}"
        error = value.get("error")
        status = EventStatus.ERROR if error else None
        if is_object(error) and not raw:
            raw, place = error.get("message"), f"{pointer}/error/message"
        if is_list(raw):
            text, place, images = plain_text(raw, place)
        else:
            text, images = written(raw), ()
        text, place = self._resolved(text, place)
        name = text_at(value, "function")
        self._transcript.answer(
            Result(text, place, identity, name, actor="tool", status=status, images=images)
        )

    def _part(self, part: Part, said: Kind) -> None:
        if part.sort in ("text", "thought"):
            kind = Kind.REASONING if part.sort == "thought" else said
            text, place = self._resolved(part.value, part.pointer)
            self._transcript.say(kind, text, place, "assistant")
        elif part.sort == "call":
            # A tool that the provider ran: call and result are one part.
            if self.call(part.value, part.pointer) is not None and "result" in part.value:
                identity = text_at(part.value, "id")
                self.result(part.value, part.pointer, "result", identity)
        else:
            self._transcript.skip(part.pointer, str(part.value))

    def _resolved(self, text: str, pointer: str) -> tuple[str, str]:
        if text.startswith(_REFERENCE):
            key = text[len(_REFERENCE) :]
            held = self._attachments.get(key)
            if isinstance(held, str):
                return held, f"/attachments/{escape(key)}"
        return text, pointer

    def _filled(self, value: Json, depth: int) -> Json:
        """The value with what its attachments hold; the very same where it refers to none."""
        if isinstance(value, str):
            return self._resolved(value, "")[0]
        if depth and is_object(value):
            filled = {key: self._filled(item, depth - 1) for key, item in value.items()}
            return value if all(filled[key] is value[key] for key in value) else filled
        if depth and is_list(value):
            items = [self._filled(item, depth - 1) for item in value]
            same = all(new is old for new, old in zip(items, value, strict=True))
            return value if same else items
        return value
