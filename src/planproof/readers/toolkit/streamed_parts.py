"""Flows: texts and arguments that arrive in pieces, put together again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeAlias

from planproof.core.content import Json
from planproof.core.json_values import embedded, is_list, is_object
from planproof.core.trace import Kind
from planproof.readers.toolkit.tool_calls import Call, arguments_of
from planproof.readers.toolkit.trace_builder import Draft, Transcript

_FENCES = ("```json", "```")
_OF_CHUNKS = frozenset(("event", "tool_call_chunks"))
CallKey: TypeAlias = tuple[str, str]
"""The message that a call belongs to, and which of its calls it is."""


def come_in_chunks(messages: Sequence[dict[str, Json]]) -> bool:
    """Whether these are chunks of messages rather than whole ones: few ids, each many times."""
    if not all(map(_OF_CHUNKS.isdisjoint, messages)):
        return True
    ids = [message.get("id") for message in messages]
    return all(isinstance(id_, str) for id_ in ids) and 0 < len(set(ids)) * 2 <= len(messages)


@dataclass(slots=True)
class _Flow:
    """What has arrived so far of one message or of the arguments of one call."""

    draft: Draft
    pointer: str
    turn: str
    pieces: list[str] = field(default_factory=list[str])
    last: str = ""

    def add(self, piece: str, pointer: str) -> None:
        """Take the next piece."""
        if not self.pieces:
            self.pointer = pointer
        self.pieces.append(piece)
        self.last = pointer

    @property
    def whole(self) -> str:
        """All the pieces."""
        return "".join(self.pieces)

    @property
    def place(self) -> str:
        """The pointer to all the pieces, from the line of the first to that of the last."""
        return _range(self.pointer, self.last, self.pointer.partition("/")[2])


class Flows:
    """Joins the pieces of one stream; `actor` is who sends what comes next."""

    def __init__(self, transcript: Transcript) -> None:
        self.actor: str | None = None
        self._transcript = transcript
        self._texts: dict[tuple[Kind, str], _Flow] = {}
        self._calls: dict[CallKey, _Flow] = {}
        self._finished: list[_Flow] = []
        self._calling: set[str] = set()

    def begin(self, message: str) -> None:
        """What follows belongs to the turn of this message."""
        self._transcript.begin_turn(message or None)

    def text(
        self,
        stream: str,
        piece: Json,
        pointer: str,
        *,
        thought: bool = False,
        turn: str | None = None,
    ) -> None:
        """Take a piece of what is said or thought; `turn` is its message, if not `stream`."""
        if not isinstance(piece, str) or not piece:
            return
        kind = Kind.REASONING if thought else Kind.MESSAGE
        flow = self._texts.get((kind, stream))
        if flow is None:
            draft = self._transcript.add(Draft(kind, pointer, actor=self.actor))
            flow = self._texts[kind, stream] = _Flow(draft, pointer, turn or stream)
        flow.add(piece, pointer)

    def call(self, key: CallKey, call: Call, pointer: str) -> None:
        """Take the beginning of a call: its name."""
        draft = self._transcript.call(call, pointer, self.actor)
        if key in self._calls:
            self._finished.append(self._calls[key])
        self._calls[key] = _Flow(draft, pointer, key[0])
        self._calling.add(key[0])

    def arguments(self, key: CallKey, piece: Json, pointer: str) -> None:
        """Take a piece of the arguments of a call that has begun."""
        flow = self._calls.get(key)
        if flow is not None and isinstance(piece, str) and piece:
            flow.add(piece, pointer)

    def finish(self) -> None:
        """Give the drafts what has arrived for them."""
        for flow in self._texts.values():
            draft = flow.draft
            draft.text, draft.pointer = flow.whole, flow.place
            if _is_plan(draft.text):
                draft.kind, draft.name = Kind.BOOKKEEPING, "plan"
            elif flow.turn in self._calling:
                draft.kind = Kind.REASONING
        for flow in (*self._finished, *self._calls.values()):
            if flow.pieces:
                draft = flow.draft
                draft.arguments, draft.text = arguments_of(flow.whole)
                draft.pointer = _range(draft.pointer, flow.last, _shared(draft.pointer, flow.last))


def _range(first: str, last: str, path: str) -> str:
    """The pointer to what stands at `path` in the lines from `first` to `last`."""
    line, end = first.partition("/")[0], last.partition("/")[0]
    lines = line if line == end else f"{line}-{end.removeprefix('L')}"
    return f"{lines}/{path}" if path else lines


def _shared(one: str, other: str) -> str:
    """The path that leads to both: the name of a call stands beside its arguments."""
    pairs = zip(one.split("/")[1:], other.split("/")[1:], strict=False)
    return "/".join(token for token, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _is_plan(text: str) -> bool:
    """Whether a message is the JSON in which a planner hands over its steps."""
    bare = text.strip()
    for fence in _FENCES:
        bare = bare.removeprefix(fence)
    if not bare.lstrip().startswith("{"):
        return False
    value = embedded(bare.removesuffix(_FENCES[1]))
    steps = value.get("steps") if is_object(value) else None
    return is_list(steps) and bool(steps) and all(is_object(step) for step in steps)
