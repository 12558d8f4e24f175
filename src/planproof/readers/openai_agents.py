"""OpenAI Agents SDK: the traces and spans that its processors export."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at, time_of, written
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.entries import LOOKED_AT, entries, listed
from planproof.readers.toolkit.handoffs import Handoffs, receiver_of
from planproof.readers.toolkit.repeated_prompts import Told
from planproof.readers.toolkit.response_items import ResponseItems
from planproof.readers.toolkit.span import Span
from planproof.readers.toolkit.span_tree import spans_of
from planproof.readers.toolkit.tool_calls import Call, arguments_of
from planproof.readers.toolkit.trace_builder import Draft, Transcript

_HOLDERS = ("data", "spans", "items")
_OBJECTS = ("trace", "trace.span")
# Spans that only stand around others.
_FRAMES = frozenset(("agent", "task", "turn", "speech_group"))
_PLANS = frozenset(("plan", "planning"))


class OpenAIAgentsReader:
    """Reads exports of traces: what was asked of models, and the tools that then ran."""

    name = "openai-agents"

    def sniff(self, source: Source) -> bool:
        """Whether the source is a list of the SDK's traces and spans."""
        if source.form == "text":
            return False
        found = False
        for _, value in islice(_exported(source), LOOKED_AT):
            if not is_object(value) or not _is_exported(value):
                return False
            found = found or is_object(value.get("span_data"))
        return found

    def read(self, source: Source) -> Trace:
        """The events in the order in which the spans began: they are exported when they end."""
        transcript = Transcript(source.skipped)
        spans: list[tuple[str, Json]] = []
        for pointer, value in _exported(source):
            if is_object(value) and is_object(value.get("span_data")):
                spans.append((pointer, value))
            elif not is_object(value) or value.get("object") != "trace":
                transcript.skip(pointer, "is no span")
        reading = _Reading(transcript)
        for span in spans_of(spans, transcript.skip):
            reading.span(span)
        return transcript.trace(self.name)


@dataclass(slots=True)
class _Desk:
    """What an agent is at: the calls that its model asked for, and where it last answered."""

    asked: dict[str, deque[Draft]] = field(default_factory=dict[str, "deque[Draft]"])
    last_answer: str | None = None


class _Reading:
    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._conversation = Conversation(transcript)
        self._items = ResponseItems(transcript, self._conversation)
        self._handoffs = Handoffs()
        self._told = Told()
        self._desks: dict[int, _Desk] = {}

    def span(self, span: Span) -> None:
        """Write what a span tells; the one around it was read before."""
        data = span.value.get("span_data")
        span.attributes, span.place = data if is_object(data) else {}, f"{span.pointer}/span_data"
        span.sort = text_at(span.attributes, "type") or ""
        if span.parent is not None:
            span.agent, span.around = span.parent.agent, span.parent.around
        if span.sort == "agent":
            span.agent = span
        name = text_at(span.agent.attributes, "name") if span.agent is not None else None
        self._conversation.speaker = name or "assistant"
        self._transcript.time = time_of(span.value.get("started_at"))
        self._transcript.parent = span.around
        if span.around is None and name is not None:
            self._transcript.parent = self._handoffs.parent_of(name)
        self._write(span, self._desks.setdefault(id(span.agent), _Desk()))
        self._transcript.parent = None

    def _write(self, span: Span, desk: _Desk) -> None:
        if span.sort in ("generation", "response"):
            self._asked_model(span, desk)
        elif span.sort == "function":
            self._ran_tool(span, desk)
        elif span.sort == "handoff":
            self._handed_over(span, desk)
        elif span.sort == "guardrail":
            self._guarded(span)
        elif span.sort == "custom":
            self._custom(span)
        elif span.sort not in _FRAMES:
            self._transcript.skip(span.pointer, f"a span of the type {span.sort!r}")

    def _guarded(self, span: Span) -> None:
        self._transcript.begin_turn()
        name = text_at(span.attributes, "name") or ""
        draft = self._transcript.say(Kind.SYSTEM, name, f"{span.place}/name", "guardrail")
        if draft is not None:
            triggered = span.attributes.get("triggered") is True
            draft.status = EventStatus.ERROR if triggered else EventStatus.OK

    def _asked_model(self, span: Span, desk: _Desk) -> None:
        desk.asked, desk.last_answer = {}, span.pointer
        self._prompted(span)
        self._items.end_turn()
        before = len(self._transcript.drafts)
        told = False
        for place, message in _answers(span):
            told = True
            self._told.note(message)
            if not is_object(message) or not self._take(message, place, span.pointer):
                self._transcript.skip(place, "is neither a message nor an item")
        if not told:
            self._failed_or_elsewhere(span)
        for draft in self._transcript.drafts[before:]:
            if draft.kind is Kind.ACTION and draft.name is not None:
                desk.asked.setdefault(draft.name, deque()).append(draft)

    def _prompted(self, span: Span) -> None:
        before = len(self._transcript.drafts)
        prompt = span.attributes.get("input")
        if isinstance(prompt, str):
            for _ in self._told.new_in([("", {"role": "user", "content": prompt})]):
                self._transcript.begin_turn()
                self._transcript.say(Kind.MESSAGE, prompt, f"{span.place}/input", "user")
        for place, message in self._told.new_in(listed(prompt, f"{span.place}/input")):
            # What a tool returned may be told by the tool's own span.
            if is_object(message) and not self._transcript.is_answered(
                text_at(message, "tool_call_id", "call_id")
            ):
                self._take(message, place)
        if self._transcript.parent is not None:
            for draft in self._transcript.drafts[before:]:
                # An agent, not the user, asks a sub-agent.
                if draft.actor == "user":
                    draft.kind, draft.actor = Kind.SYSTEM, "system"

    def _take(self, message: dict[str, Json], place: str, turn: str | None = None) -> bool:
        if "type" in message:
            return self._items.take(message, place)
        if not isinstance(message.get("role"), str):
            return False
        self._conversation.message(message, place, turn)
        return True

    def _failed_or_elsewhere(self, span: Span) -> None:
        error = span.value.get("error")
        if is_object(error) and text_at(error, "message"):
            self._transcript.begin_turn()
            place = f"{span.pointer}/error/message"
            self._transcript.say(Kind.SYSTEM, error["message"], place, "system")
        else:
            self._transcript.skip(span.pointer, "what the model said is not in the export")

    def _ran_tool(self, span: Span, desk: _Desk) -> None:
        name = text_at(span.attributes, "name") or "function"
        arguments, text = arguments_of(span.attributes.get("input"))
        draft = self._asked_for(desk, name, arguments)
        if draft is None:
            self._transcript.begin_turn(desk.last_answer)
            call = Call(name, arguments, text)
            draft = self._transcript.call(call, span.place, self._conversation.speaker)
        elif arguments is not None or text:
            draft.pointer, draft.arguments, draft.text = span.place, arguments, text
        span.around = draft
        self._end(span, draft)

    def _handed_over(self, span: Span, desk: _Desk) -> None:
        receiver = text_at(span.attributes, "to_agent")
        names = [name for name, calls in desk.asked.items() if calls and receiver_of(calls[0])]
        draft = self._asked_for(desk, names[0], None) if names else None
        if draft is None:
            self._transcript.begin_turn(desk.last_answer)
            arguments = {k: v for k, v in span.attributes.items() if k != "type" and v is not None}
            call = Call("handoff", arguments)
            draft = self._transcript.call(call, span.place, self._conversation.speaker)
        if receiver is not None:
            self._handoffs.note(draft, receiver)
        span.around = draft
        self._end(span, draft)

    def _asked_for(self, desk: _Desk, name: str, arguments: Json) -> Draft | None:
        """The call of the model that a tool was run for: both are one action."""
        waiting = desk.asked.get(name)
        if not waiting:
            return None
        alike = (draft for draft in islice(waiting, LOOKED_AT) if draft.arguments == arguments)
        draft = next(alike, waiting[0])
        waiting.remove(draft)
        return draft

    def _end(self, span: Span, draft: Draft) -> None:
        failed = EventStatus.ERROR if span.value.get("error") else None
        output = span.attributes.get("output")
        error = span.value.get("error")
        if output is not None:
            draft.returned(written(output), f"{span.place}/output", failed)
        elif is_object(error) and text_at(error, "message"):
            draft.returned(error["message"], f"{span.pointer}/error/message", failed)
        elif failed is not None or span.value.get("ended_at"):
            draft.status = failed or EventStatus.OK

    def _custom(self, span: Span) -> None:
        data = span.attributes.get("data")
        if is_object(data) and text_at(data, "sdk_span_type") in _FRAMES:
            return
        name = text_at(span.attributes, "name") or ""
        if name.lower() in _PLANS and data:
            self._transcript.begin_turn()
            draft = Draft(Kind.BOOKKEEPING, f"{span.place}/data", "plan", text=written(data))
            draft.actor = self._conversation.speaker
            self._transcript.add(draft)
        else:
            self._transcript.skip(span.pointer, "a span of the application's own")


def _is_exported(value: dict[str, Json]) -> bool:
    return text_at(value, "object") in _OBJECTS


def _exported(source: Source) -> Iterator[tuple[str, Json]]:
    for pointer, value in entries(source, _HOLDERS, _is_exported):
        if is_list(value):
            # A batch of spans on one line.
            yield from listed(value, pointer)
        else:
            yield pointer, value


def _answers(span: Span) -> Iterator[tuple[str, Json]]:
    output, place = span.attributes.get("output"), f"{span.place}/output"
    response = span.attributes.get("response")
    if is_object(response):
        output, place = response.get("output"), f"{span.place}/response/output"
    for where, value in listed(output, place):
        if is_object(value) and is_list(value.get("output")) and "type" not in value:
            # A streamed answer is kept as a whole response.
            yield from listed(value["output"], f"{where}/output")
        else:
            yield where, value
