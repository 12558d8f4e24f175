"""Streams: messages and calls that arrive in chunks, joined by their id."""

from __future__ import annotations

from dataclasses import dataclass, field

from planproof.content import Json
from planproof.readers.pieces.calls import Call, arguments_of, as_call
from planproof.readers.pieces.shapes import is_list, is_object, text_at
from planproof.readers.pieces.transcript import Draft, Result, Transcript
from planproof.trace import Kind


@dataclass(slots=True)
class _Flow:
    """What has arrived so far of one message or of the arguments of one call."""

    draft: Draft
    pointer: str
    pieces: list[str] = field(default_factory=list[str])
    last: str = ""


def is_chunk(value: Json) -> bool:
    """Whether this is a piece of a streamed message."""
    return (
        is_object(value)
        and isinstance(value.get("id"), str)
        and isinstance(value.get("role"), str)
        and any(key in value for key in ("finish_reason", "tool_call_chunks", "thread_id"))
    )


def read_chunks(transcript: Transcript, entries: list[tuple[str, Json]]) -> None:
    """Write the messages and calls of a stream, each where its first chunk stands."""
    chunks = _Chunks(transcript)
    for pointer, value in entries:
        if is_object(value):
            chunks.take(value, pointer)
        else:
            transcript.skip(pointer, "is no chunk of a message")
    chunks.finish()


class _Chunks:
    """Joins the chunks of one stream."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._texts: dict[tuple[str, str], _Flow] = {}
        self._calls: dict[tuple[str, str], _Flow] = {}
        self._calling: set[str] = set()

    def take(self, value: dict[str, Json], pointer: str) -> None:
        """Take one chunk."""
        actor = "user" if value.get("role") == "user" else text_at(value, "agent", "role")
        if text_at(value, "tool_call_id") or value.get("event") == "tool_call_result":
            self._transcript.answer(
                Result(
                    text_at(value, "content") or "",
                    f"{pointer}/content" if "content" in value else pointer,
                    call_id=text_at(value, "tool_call_id"),
                    actor=actor,
                )
            )
            return
        self._transcript.begin_turn(text_at(value, "id"))
        self._text(value, "reasoning_content", pointer, actor)
        self._text(value, "content", pointer, actor)
        chunks = value.get("tool_call_chunks")
        whole = value.get("tool_calls")
        if is_list(chunks):
            for index, chunk in enumerate(chunks):
                if is_object(chunk):
                    stream = (str(value.get("id")), str(chunk.get("index") or 0))
                    self._call(chunk, stream, f"{pointer}/tool_call_chunks/{index}", actor)
        elif is_list(whole):
            for index, entry in enumerate(whole):
                call = as_call(entry)
                if call is not None:
                    self._calling.add(str(value.get("id")))
                    self._transcript.call(call, f"{pointer}/tool_calls/{index}", actor)

    def finish(self) -> None:
        """Give the drafts what has arrived for them."""
        for (_, identity), flow in self._texts.items():
            if identity in self._calling:
                flow.draft.kind = Kind.REASONING
            flow.draft.text = "".join(flow.pieces)
            flow.draft.pointer = _through(flow.pointer, flow.last)
        for flow in self._calls.values():
            flow.draft.arguments, flow.draft.text = arguments_of("".join(flow.pieces))
            if len(flow.pieces) > 1:
                flow.draft.pointer = _through(flow.pointer, flow.last)

    def _text(self, value: dict[str, Json], key: str, pointer: str, actor: str | None) -> None:
        text = value.get(key)
        if not isinstance(text, str) or not text:
            return
        stream = (key, str(value.get("id")))
        flow = self._texts.get(stream)
        if flow is None:
            kind = Kind.MESSAGE if key == "content" else Kind.REASONING
            draft = self._transcript.add(Draft(kind, pointer, actor=actor))
            flow = self._texts[stream] = _Flow(draft, f"{pointer}/{key}")
        flow.pieces.append(text)
        flow.last = pointer

    def _call(
        self, chunk: dict[str, Json], stream: tuple[str, str], pointer: str, actor: str | None
    ) -> None:
        name = text_at(chunk, "name")
        if name is not None:
            draft = self._transcript.call(Call(name, id=text_at(chunk, "id")), pointer, actor)
            self._calls[stream] = _Flow(draft, f"{pointer}/args")
            self._calling.add(stream[0])
        flow = self._calls.get(stream)
        args = chunk.get("args")
        if flow is not None and isinstance(args, str) and args:
            flow.pieces.append(args)
            flow.last = pointer


def _through(pointer: str, last: str) -> str:
    """The pointer to a value that goes on to the line of `last`."""
    line, slash, path = pointer.partition("/")
    end = last.partition("/")[0].removeprefix("L")
    return f"{line}-{end}{slash}{path}" if line and line != f"L{end}" else pointer
