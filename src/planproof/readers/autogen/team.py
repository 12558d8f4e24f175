"""Messages of AutoGen teams, 0.4 and on: each says by its `type` what it is."""

from __future__ import annotations

from itertools import takewhile

from planproof.core.content import Image, Json
from planproof.core.json_values import is_list, is_object, text_at, time_of, written
from planproof.core.trace import EventStatus, Kind
from planproof.readers.toolkit.speakers import Speakers
from planproof.readers.toolkit.text_pointers import at, held_at
from planproof.readers.toolkit.tool_calls import as_call
from planproof.readers.toolkit.trace_builder import Result, Transcript

_SPOKEN = frozenset(("TextMessage", "StopMessage", "MultiModalMessage", "CodeGenerationEvent"))
# The pieces of a message that comes whole after them.
_PIECES = "ModelClientStreamingChunkEvent"
_NOTICES = frozenset(
    "UserInputRequestedEvent SelectSpeakerEvent SelectorEvent MemoryQueryEvent".split()
)
_TYPES = (
    _SPOKEN
    | _NOTICES
    | frozenset(
        "HandoffMessage ToolCallRequestEvent ToolCallExecutionEvent ToolCallSummaryMessage "
        "ThoughtEvent CodeExecutionEvent".split()
    )
    | {_PIECES}
)


def is_team_message(value: dict[str, Json]) -> bool:
    """Whether this is a message of a team: of a known type, and with a source."""
    kind = value.get("type")
    if not isinstance(kind, str) or not isinstance(value.get("source"), str):
        return False
    return kind in _TYPES or kind.startswith("StructuredMessage")


class Team:
    """Writes the messages of a team, in order, into a transcript."""

    def __init__(self, transcript: Transcript, speakers: Speakers) -> None:
        self._transcript = transcript
        self._speakers = speakers

    def message(self, message: dict[str, Json], pointer: str) -> None:
        """Write one message."""
        kind = message["type"]
        source = message["source"]
        self._transcript.time = time_of(message.get("created_at"))
        if kind == _PIECES:
            return
        if kind == "CodeExecutionEvent":
            self._ran(message, pointer, source)
        elif kind in _SPOKEN:
            self._said(message.get("content"), f"{pointer}/content", source)
        else:
            self._speakers.flush()
            self._other(kind, message, pointer)

    def _other(self, kind: str, message: dict[str, Json], pointer: str) -> None:
        source, content = message["source"], message.get("content")
        place = f"{pointer}/content"
        if kind == "ToolCallExecutionEvent":
            self._results(content, place)
            return
        self._transcript.begin_turn()
        if kind == "ToolCallRequestEvent":
            self._calls(content, place, source)
        elif kind == "ThoughtEvent":
            self._transcript.say(Kind.REASONING, written(content), place, source)
        elif kind == "HandoffMessage":
            self._handed(message, pointer)
        elif kind in _NOTICES:
            self._transcript.say(Kind.SYSTEM, written(content), place, "system")
        elif kind == "ToolCallSummaryMessage" and self._gave_back(written(content), source):
            # Made by the framework, not by the model: nothing is said that was not there before.
            self._transcript.skip(pointer, "repeats what the calls just before gave back")
        else:
            self._transcript.say(Kind.MESSAGE, written(content), place, source)

    def _said(self, content: Json, pointer: str, source: str) -> None:
        if isinstance(content, str):
            self._speakers.said(content, at(pointer), source)
            return
        images: list[Image] = []
        for index, part in enumerate(content if is_list(content) else ()):
            data = text_at(part, "data") if is_object(part) else None
            if isinstance(part, str):
                self._speakers.said(part, at(f"{pointer}/{index}"), source)
            elif data is not None:
                images.append(Image("image/*", data=data))
        if images and self._transcript.drafts:
            self._transcript.drafts[-1].images += tuple(images)

    def _calls(self, content: Json, pointer: str, source: str) -> None:
        for index, entry in enumerate(content if is_list(content) else ()):
            call = as_call(entry)
            if call is None:
                self._transcript.skip(f"{pointer}/{index}", "a call without a name")
            else:
                self._transcript.call(call, f"{pointer}/{index}", source)

    def _results(self, content: Json, pointer: str) -> None:
        for index, entry in enumerate(content if is_list(content) else ()):
            if not is_object(entry):
                self._transcript.skip(f"{pointer}/{index}", "is no result")
                continue
            self._transcript.answer(
                Result(
                    written(entry.get("content")),
                    held_at(entry, "content", f"{pointer}/{index}"),
                    call_id=text_at(entry, "call_id"),
                    name=text_at(entry, "name"),
                    actor="tool",
                    status=EventStatus.ERROR if entry.get("is_error") is True else None,
                )
            )

    def _ran(self, message: dict[str, Json], pointer: str, source: str) -> None:
        result = message.get("result")
        if not is_object(result) or not isinstance(result.get("output"), str):
            self._transcript.skip(pointer, "a run without an output")
            return
        status = EventStatus.OK if result.get("exit_code") == 0 else EventStatus.ERROR
        self._speakers.code.report(result["output"], f"{pointer}/result/output", source, status)

    def _handed(self, message: dict[str, Json], pointer: str) -> None:
        source, text = message["source"], written(message.get("content"))
        receiver = text_at(message, "target") or ""
        if source == "user":
            self._transcript.say(Kind.MESSAGE, text, f"{pointer}/content", "user")
        elif self._called_for(text, source):
            # The agent called the tool that hands over: that was the hand-off.
            self._transcript.skip(pointer, "the hand-off that was called for just before")
        else:
            self._speakers.hand_off(receiver, text, held_at(message, "content", pointer), source)

    def _gave_back(self, text: str, source: str) -> bool:
        drafts = self._transcript.drafts
        last_turn = takewhile(lambda draft: draft.turn == drafts[-1].turn, reversed(drafts))
        return bool(drafts) and all(
            draft.kind is Kind.ACTION and draft.actor == source and draft.output in text
            for draft in last_turn
        )

    def _called_for(self, text: str, source: str) -> bool:
        for draft in reversed(self._transcript.drafts):
            if draft.kind is not Kind.ACTION or draft.actor != source:
                return False
            if draft.output == text:
                return True
        return False
