"""Streams: messages and calls that arrive in chunks, joined by their id."""

from __future__ import annotations

from dataclasses import dataclass, field

from planproof.content import Json
from planproof.readers.calls import Call, arguments_of
from planproof.readers.shapes import is_list, is_object, text_at
from planproof.readers.transcript import Draft, Result, Transcript
from planproof.trace import Kind


@dataclass(slots=True)
class _Flow:
    """What has arrived of one message."""

    first: int
    actor: str
    last: int = 0
    chunks: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _Asked:
    """What has arrived of one call."""

    draft: Draft
    pieces: list[str]
    last: int


def is_chunk(value: Json) -> bool:
    """Whether this is a piece of a streamed message."""
    return (
        is_object(value)
        and isinstance(value.get("id"), str)
        and isinstance(value.get("thread_id") or value.get("role"), str)
        and ("finish_reason" in value or "tool_call_chunks" in value or "agent" in value)
    )


def read_chunks(transcript: Transcript, entries: list[tuple[str, Json]]) -> None:
    """Write the messages and calls of a stream, each where its first chunk stands."""
    Chunks(transcript).read(entries)


class Chunks:
    """Joins the chunks of one stream."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._said: dict[str, tuple[Draft, list[str], int]] = {}
        self._asked: dict[tuple[str, int], _Asked] = {}

    def read(self, entries: list[tuple[str, Json]]) -> None:
        """Take all chunks in order."""
        for pointer, value in entries:
            if not is_object(value):
                self._transcript.skip(pointer, "is no chunk of a message")
                continue
            if value.get("tool_call_id"):
                self._result(value, pointer)
                continue
            self._calls(value, pointer)
            self._text(value, pointer)
        self._finish()

    def _result(self, value: dict[str, Json], pointer: str) -> None:
        self._transcript.answer(
            Result(
                text_at(value, "content") or "",
                f"{pointer}/content",
                call_id=text_at(value, "tool_call_id"),
                actor=text_at(value, "agent"),
            )
        )

    def _text(self, value: dict[str, Json], pointer: str) -> None:
        for key, kind in (("reasoning_content", Kind.REASONING), ("content", Kind.MESSAGE)):
            text = value.get(key)
            if not isinstance(text, str) or not text:
                continue
            stream = f"{key}:{value.get('id')}"
            if stream not in self._said:
                self._transcript.begin_turn(text_at(value, "id"))
                actor = "user" if value.get("role") == "user" else text_at(value, "agent", "role")
                draft = self._transcript.add(Draft(kind, f"{pointer}/{key}", actor=actor))
                self._said[stream] = (draft, [], 0)
            draft, chunks, _ = self._said[stream]
            chunks.append(text)
            self._said[stream] = (draft, chunks, _line(pointer))

    def _calls(self, value: dict[str, Json], pointer: str) -> None:
        named = value.get("tool_calls")
        chunks = value.get("tool_call_chunks")
        for index, chunk in enumerate(chunks if is_list(chunks) else []):
            if not is_object(chunk):
                continue
            key = (str(value.get("id")), chunk.get("index") or 0)
            name = text_at(chunk, "name")
            place = f"{pointer}/tool_call_chunks/{index}"
            if name is not None:
                self._transcript.begin_turn(text_at(value, "id"))
                draft = Draft(Kind.ACTION, place, name, text_at(value, "agent", "role"))
                self._transcript.call(draft, text_at(chunk, "id"))
                self._asked[key] = _Asked(draft, [], _line(pointer))
            asked = self._asked.get(key)
            args = chunk.get("args")
            if asked is not None and isinstance(args, str):
                asked.pieces.append(args)
                asked.last = _line(pointer)
        if not is_list(chunks):
            for index, call in enumerate(named if is_list(named) else []):
                name = text_at(call, "name") if is_object(call) else None
                if name is not None:
                    self._transcript.begin_turn(text_at(value, "id"))
                    arguments, text = arguments_of(call.get("args"))
                    place = f"{pointer}/tool_calls/{index}"
                    made = Call(name, arguments, text, text_at(call, "id"))
                    actor = text_at(value, "agent", "role")
                    self._transcript.call(
                        Draft(Kind.ACTION, place, made.name, actor, made.text, made.arguments),
                        made.id,
                    )

    def _finish(self) -> None:
        for draft, chunks, last in self._said.values():
            draft.text = "".join(chunks)
            draft.pointer = _range(draft.pointer, last)
        for asked in self._asked.values():
            draft = asked.draft
            draft.arguments, draft.text = arguments_of("".join(asked.pieces))
            if len(asked.pieces) > 1:
                draft.pointer = _range(f"{draft.pointer}/args", asked.last)


def _line(pointer: str) -> int:
    digits = pointer[1:].partition("/")[0]
    return int(digits) if digits.isdigit() else 0


def _range(pointer: str, last: int) -> str:
    head, slash, path = pointer.partition("/")
    if not head.startswith("L") or last <= int(head[1:]):
        return pointer
    return f"{head}-{last}{slash}{path}"
