"""Messages of AutoGen teams, 0.4 and on: each says by its `type` what it is."""

from __future__ import annotations

from itertools import takewhile

from planproof.core.content import Image, Json
from planproof.core.json_values import format_value, is_list, is_object, parse_time, text_at
from planproof.core.trace import EventStatus, Kind
from planproof.readers.toolkit.speakers import Speakers
from planproof.readers.toolkit.text_pointers import key_pointer, make_constant_pointer
from planproof.readers.toolkit.tool_calls import parse_call
from planproof.readers.toolkit.trace_builder import ToolResult, TraceBuilder

_TEXT_TYPES = frozenset(("TextMessage", "StopMessage", "MultiModalMessage", "CodeGenerationEvent"))
# The pieces of a message that comes whole after them.
_CHUNK_TYPE = "ModelClientStreamingChunkEvent"
_NOTICE_TYPES = frozenset(
    "UserInputRequestedEvent SelectSpeakerEvent SelectorEvent MemoryQueryEvent".split()
)
_MESSAGE_TYPES = (
    _TEXT_TYPES
    | _NOTICE_TYPES
    | frozenset(
        "HandoffMessage ToolCallRequestEvent ToolCallExecutionEvent ToolCallSummaryMessage "
        "ThoughtEvent CodeExecutionEvent".split()
    )
    | {_CHUNK_TYPE}
)


def is_team_message(value: dict[str, Json]) -> bool:
    """Whether this is a message of a team: of a known type, and with a source."""
    kind = value.get("type")
    if not isinstance(kind, str) or not isinstance(value.get("source"), str):
        return False
    return kind in _MESSAGE_TYPES or kind.startswith("StructuredMessage")


class Team:
    """Writes the messages of a team, in order, into a transcript."""

    def __init__(self, builder: TraceBuilder, speakers: Speakers) -> None:
        self._builder = builder
        self._speakers = speakers

    def add_message(self, message: dict[str, Json], pointer: str) -> None:
        """Write one message."""
        kind = message["type"]
        source = message["source"]
        self._builder.time = parse_time(message.get("created_at"))
        if kind == _CHUNK_TYPE:
            return
        if kind == "CodeExecutionEvent":
            self._add_code_result(message, pointer, source)
        elif kind in _TEXT_TYPES:
            self._add_text(message.get("content"), f"{pointer}/content", source)
        else:
            self._speakers.flush()
            self._add_other(kind, message, pointer)

    def _add_other(self, kind: str, message: dict[str, Json], pointer: str) -> None:
        source, content = message["source"], message.get("content")
        content_pointer = f"{pointer}/content"
        if kind == "ToolCallExecutionEvent":
            self._add_results(content, content_pointer)
            return
        self._builder.begin_turn()
        if kind == "ToolCallRequestEvent":
            self._add_calls(content, content_pointer, source)
        elif kind == "ThoughtEvent":
            self._builder.add_message(
                Kind.REASONING, format_value(content), content_pointer, source
            )
        elif kind == "HandoffMessage":
            self._add_handoff(message, pointer)
        elif kind in _NOTICE_TYPES:
            self._builder.add_message(Kind.SYSTEM, format_value(content), content_pointer, "system")
        elif kind == "ToolCallSummaryMessage" and self._is_repeated_output(
            format_value(content), source
        ):
            # Made by the framework, not by the model: nothing is said that was not there before.
            self._builder.skip(pointer, "repeats what the calls just before gave back")
        else:
            self._builder.add_message(Kind.MESSAGE, format_value(content), content_pointer, source)

    def _add_text(self, content: Json, pointer: str, source: str) -> None:
        if isinstance(content, str):
            self._speakers.add_turn(content, make_constant_pointer(pointer), source)
            return
        images: list[Image] = []
        for index, part in enumerate(content if is_list(content) else ()):
            data = text_at(part, "data") if is_object(part) else None
            if isinstance(part, str):
                self._speakers.add_turn(part, make_constant_pointer(f"{pointer}/{index}"), source)
            elif data is not None:
                images.append(Image("image/*", data=data))
        if images and self._builder.drafts:
            self._builder.drafts[-1].images += tuple(images)

    def _add_calls(self, content: Json, pointer: str, source: str) -> None:
        for index, entry in enumerate(content if is_list(content) else ()):
            call = parse_call(entry)
            if call is None:
                self._builder.skip(f"{pointer}/{index}", "a call without a name")
            else:
                self._builder.add_call(call, f"{pointer}/{index}", source)

    def _add_results(self, content: Json, pointer: str) -> None:
        for index, entry in enumerate(content if is_list(content) else ()):
            if not is_object(entry):
                self._builder.skip(f"{pointer}/{index}", "is no result")
                continue
            self._builder.add_result(
                ToolResult(
                    format_value(entry.get("content")),
                    key_pointer(entry, "content", f"{pointer}/{index}"),
                    call_id=text_at(entry, "call_id"),
                    name=text_at(entry, "name"),
                    actor="tool",
                    status=EventStatus.ERROR if entry.get("is_error") is True else None,
                )
            )

    def _add_code_result(self, message: dict[str, Json], pointer: str, source: str) -> None:
        result = message.get("result")
        if not is_object(result) or not isinstance(result.get("output"), str):
            self._builder.skip(pointer, "a run without an output")
            return
        status = EventStatus.OK if result.get("exit_code") == 0 else EventStatus.ERROR
        self._speakers.code_runs.add_report(
            result["output"], f"{pointer}/result/output", source, status
        )

    def _add_handoff(self, message: dict[str, Json], pointer: str) -> None:
        source, text = message["source"], format_value(message.get("content"))
        receiver = text_at(message, "target") or ""
        if source == "user":
            self._builder.add_message(Kind.MESSAGE, text, f"{pointer}/content", "user")
        elif self._is_called_handoff(text, source):
            # The agent called the tool that hands over: that was the hand-off.
            self._builder.skip(pointer, "the hand-off that was called for just before")
        else:
            self._speakers.add_handoff(
                receiver, text, key_pointer(message, "content", pointer), source
            )

    def _is_repeated_output(self, text: str, source: str) -> bool:
        drafts = self._builder.drafts
        last_turn = takewhile(lambda draft: draft.turn == drafts[-1].turn, reversed(drafts))
        return bool(drafts) and all(
            draft.kind is Kind.ACTION and draft.actor == source and draft.output in text
            for draft in last_turn
        )

    def _is_called_handoff(self, text: str, source: str) -> bool:
        for draft in reversed(self._builder.drafts):
            if draft.kind is not Kind.ACTION or draft.actor != source:
                return False
            if draft.output == text:
                return True
        return False
