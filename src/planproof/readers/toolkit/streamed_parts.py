"""Assemble streams: texts and arguments that arrive in chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeAlias

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_embedded_json
from planproof.core.trace import Kind
from planproof.readers.toolkit.tool_calls import ToolCall, parse_arguments
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

_FENCES = ("```json", "```")
_CHUNK_KEYS = frozenset(("event", "tool_call_chunks"))
CallKey: TypeAlias = tuple[str, str]
"""The message of a call, and which of its calls it is."""


def are_chunks(messages: Sequence[dict[str, Json]]) -> bool:
    """Return whether these are chunks rather than whole messages: few ids, each many times."""
    if not all(map(_CHUNK_KEYS.isdisjoint, messages)):
        return True
    ids = [message.get("id") for message in messages]
    return all(isinstance(id_, str) for id_ in ids) and 0 < len(set(ids)) * 2 <= len(messages)


@dataclass(slots=True)
class _ChunkBuffer:
    """The chunks so far of one message or of the arguments of one call."""

    draft: EventDraft
    pointer: str
    turn: str
    chunks: list[str] = field(default_factory=list[str])
    last_pointer: str = ""

    def add(self, chunk: str, pointer: str) -> None:
        """Append the next chunk."""
        if not self.chunks:
            self.pointer = pointer
        self.chunks.append(chunk)
        self.last_pointer = pointer

    @property
    def text(self) -> str:
        """The text of all chunks."""
        return "".join(self.chunks)

    @property
    def range_pointer(self) -> str:
        """The pointer to all chunks, from the line of the first to that of the last."""
        return _line_range_pointer(self.pointer, self.last_pointer, self.pointer.partition("/")[2])


class StreamAssembler:
    """Joins the chunks of one stream; `actor` is the sender of what comes next."""

    def __init__(self, builder: TraceBuilder) -> None:
        self.actor: str | None = None
        self._builder = builder
        self._text_buffers: dict[tuple[Kind, str], _ChunkBuffer] = {}
        self._call_buffers: dict[CallKey, _ChunkBuffer] = {}
        self._finished_calls: list[_ChunkBuffer] = []
        self._turns_with_calls: set[str] = set()

    def begin_message(self, message: str) -> None:
        """Begin or continue the turn of this message."""
        self._builder.begin_turn(message or None)

    def add_text(
        self,
        stream: str,
        chunk: Json,
        pointer: str,
        *,
        is_thought: bool = False,
        turn: str | None = None,
    ) -> None:
        """Add a chunk of a message or of reasoning; `turn` is its message, if not `stream`."""
        if not isinstance(chunk, str) or not chunk:
            return
        kind = Kind.REASONING if is_thought else Kind.MESSAGE
        buffer = self._text_buffers.get((kind, stream))
        if buffer is None:
            draft = self._builder.add_draft(EventDraft(kind, pointer, actor=self.actor))
            buffer = self._text_buffers[kind, stream] = _ChunkBuffer(draft, pointer, turn or stream)
        buffer.add(chunk, pointer)

    def begin_call(self, key: CallKey, call: ToolCall, pointer: str) -> None:
        """Begin a call, given by its name."""
        draft = self._builder.add_call(call, pointer, self.actor)
        if key in self._call_buffers:
            self._finished_calls.append(self._call_buffers[key])
        self._call_buffers[key] = _ChunkBuffer(draft, pointer, key[0])
        self._turns_with_calls.add(key[0])

    def add_arguments(self, key: CallKey, chunk: Json, pointer: str) -> None:
        """Add a chunk of the arguments of a call that was begun."""
        buffer = self._call_buffers.get(key)
        if buffer is not None and isinstance(chunk, str) and chunk:
            buffer.add(chunk, pointer)

    def finish(self) -> None:
        """Set the assembled texts and arguments on the drafts."""
        for buffer in self._text_buffers.values():
            draft = buffer.draft
            draft.text, draft.pointer = buffer.text, buffer.range_pointer
            if _is_plan_json(draft.text):
                draft.kind, draft.name = Kind.BOOKKEEPING, "plan"
            elif buffer.turn in self._turns_with_calls:
                draft.kind = Kind.REASONING
        for buffer in (*self._finished_calls, *self._call_buffers.values()):
            if buffer.chunks:
                draft = buffer.draft
                draft.arguments, draft.text = parse_arguments(buffer.text)
                draft.pointer = _line_range_pointer(
                    draft.pointer,
                    buffer.last_pointer,
                    _find_common_path(draft.pointer, buffer.last_pointer),
                )


def _line_range_pointer(first: str, last: str, path: str) -> str:
    """Return the pointer to `path` in the lines from `first` to `last`."""
    line, end = first.partition("/")[0], last.partition("/")[0]
    lines = line if line == end else f"{line}-{end.removeprefix('L')}"
    return f"{lines}/{path}" if path else lines


def _find_common_path(one: str, other: str) -> str:
    """Return the common path of both: the name of a call is next to its arguments."""
    pairs = zip(one.split("/")[1:], other.split("/")[1:], strict=False)
    return "/".join(token for token, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _is_plan_json(text: str) -> bool:
    """Return whether a message is the JSON in which a planner hands over its steps."""
    bare = text.strip()
    for fence in _FENCES:
        bare = bare.removeprefix(fence)
    if not bare.lstrip().startswith("{"):
        return False
    value = parse_embedded_json(bare.removesuffix(_FENCES[1]))
    steps = value.get("steps") if is_object(value) else None
    return is_list(steps) and bool(steps) and all(is_object(step) for step in steps)
