"""OpenAI Agents SDK: the traces and spans that its processors export."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

from planproof.content import Json
from planproof.readers.pieces.calls import Call, arguments_of
from planproof.readers.pieces.conversation import Conversation
from planproof.readers.pieces.entries import LOOKED_AT, entries, listed
from planproof.readers.pieces.handoffs import Handoffs, receiver_of
from planproof.readers.pieces.repeats import Seen, Told
from planproof.readers.pieces.response_items import ResponseItems
from planproof.readers.pieces.shapes import is_list, is_object, text_at, time_of, written
from planproof.readers.pieces.transcript import Draft, Transcript
from planproof.readers.source import Source
from planproof.trace import EventStatus, Kind, Trace

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
            if not is_object(value) or value.get("object") not in _OBJECTS:
                return False
            found = found or is_object(value.get("span_data"))
        return found

    def read(self, source: Source) -> Trace:
        """The events in the order in which the spans began: they are exported when they end."""
        transcript = Transcript(source.skipped)
        spans: list[_Span] = []
        seen = Seen(transcript)
        for pointer, value in _exported(source):
            if is_object(value) and is_object(value.get("span_data")):
                if not seen.again(text_at(value, "id", "span_id"), pointer):
                    spans.append(_Span(value, value["span_data"], pointer))
            elif not is_object(value) or value.get("object") != "trace":
                transcript.skip(pointer, "is no span")
        _connect(spans)
        reading = _Reading(transcript)
        for span in sorted(spans, key=lambda span: (span.began, span.depth)):
            reading.span(span)
        return transcript.trace(self.name)


@dataclass(slots=True, eq=False)
class _Span:
    value: dict[str, Json]
    data: dict[str, Json]
    pointer: str
    began: float = 0.0
    depth: int = 0
    above: _Span | None = None
    frame: _Span | None = None
    call: Draft | None = None
    works_for: Draft | None = None
    asked: dict[str, deque[Draft]] = field(default_factory=dict[str, "deque[Draft]"])
    last_answer: str = ""

    @property
    def place(self) -> str:
        return f"{self.pointer}/span_data"

    @property
    def agent(self) -> _Span:
        """The span of the agent that this one belongs to; itself when there is none."""
        return self.frame or self

    def inherit(self) -> None:
        """Take over from the span around it, which was read before, who is at work for whom."""
        if self.above is not None:
            self.frame = self.above.frame
            self.works_for = self.above.call or self.above.works_for
        if self.type == "agent":
            self.frame = self

    @property
    def type(self) -> str:
        return text_at(self.data, "type") or ""


class _Reading:
    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._conversation = Conversation(transcript)
        self._items = ResponseItems(transcript, self._conversation)
        self._handoffs = Handoffs()
        self._told = Told()

    def span(self, span: _Span) -> None:
        """Write what a span tells."""
        span.inherit()
        name = text_at(span.agent.data, "name")
        self._conversation.speaker = name or "assistant"
        self._transcript.time = time_of(span.value.get("started_at"))
        self._transcript.parent = span.works_for
        if span.works_for is None and span.agent.type == "agent" and name is not None:
            self._transcript.parent = self._handoffs.parent_of(name)
        if span.type in ("generation", "response"):
            self._asked_model(span, span.agent)
        elif span.type == "function":
            self._ran_tool(span, span.agent)
        elif span.type == "handoff":
            self._handed_over(span, span.agent)
        elif span.type == "guardrail":
            self._guarded(span)
        elif span.type == "custom":
            self._custom(span)
        elif span.type not in _FRAMES:
            self._transcript.skip(span.pointer, f"a span of the type {span.type!r}")
        self._transcript.parent = None

    def _guarded(self, span: _Span) -> None:
        self._transcript.begin_turn()
        name = text_at(span.data, "name") or ""
        draft = self._transcript.say(Kind.SYSTEM, name, f"{span.place}/name", "guardrail")
        if draft is not None:
            triggered = span.data.get("triggered") is True
            draft.status = EventStatus.ERROR if triggered else EventStatus.OK

    def _asked_model(self, span: _Span, agent: _Span) -> None:
        agent.asked, agent.last_answer = {}, span.pointer
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
                agent.asked.setdefault(draft.name, deque()).append(draft)

    def _prompted(self, span: _Span) -> None:
        before = len(self._transcript.drafts)
        prompt = span.data.get("input")
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

    def _failed_or_elsewhere(self, span: _Span) -> None:
        error = span.value.get("error")
        if is_object(error) and text_at(error, "message"):
            self._transcript.begin_turn()
            place = f"{span.pointer}/error/message"
            self._transcript.say(Kind.SYSTEM, error["message"], place, "system")
        else:
            self._transcript.skip(span.pointer, "what the model said is not in the export")

    def _ran_tool(self, span: _Span, agent: _Span) -> None:
        name = text_at(span.data, "name") or "function"
        arguments, text = arguments_of(span.data.get("input"))
        draft = self._asked_for(agent, name, arguments)
        if draft is None:
            self._transcript.begin_turn(agent.last_answer or None)
            call = Call(name, arguments, text)
            draft = self._transcript.call(call, span.place, self._conversation.speaker)
        elif arguments is not None or text:
            draft.pointer, draft.arguments, draft.text = span.place, arguments, text
        span.call = draft
        self._end(span, draft)

    def _handed_over(self, span: _Span, agent: _Span) -> None:
        receiver = text_at(span.data, "to_agent")
        names = [name for name, calls in agent.asked.items() if calls and receiver_of(calls[0])]
        draft = self._asked_for(agent, names[0], None) if names else None
        if draft is None:
            self._transcript.begin_turn(agent.last_answer or None)
            arguments = {k: v for k, v in span.data.items() if k != "type" and v is not None}
            name = f"transfer_to_{receiver}".lower().replace(" ", "_") if receiver else "handoff"
            call = Call(name, arguments)
            draft = self._transcript.call(call, span.place, self._conversation.speaker)
        if receiver is not None:
            self._handoffs.note(draft, receiver)
        span.call = draft
        self._end(span, draft)

    def _asked_for(self, agent: _Span, name: str, arguments: Json) -> Draft | None:
        """The call of the model that a tool was run for: both are one action."""
        waiting = agent.asked.get(name)
        if not waiting:
            return None
        alike = (draft for draft in islice(waiting, LOOKED_AT) if draft.arguments == arguments)
        draft = next(alike, waiting[0])
        waiting.remove(draft)
        return draft

    def _end(self, span: _Span, draft: Draft) -> None:
        failed = EventStatus.ERROR if span.value.get("error") else None
        output = span.data.get("output")
        error = span.value.get("error")
        if output is not None:
            draft.returned(written(output), f"{span.place}/output", failed)
        elif is_object(error) and text_at(error, "message"):
            draft.returned(error["message"], f"{span.pointer}/error/message", failed)
        elif failed is not None or span.value.get("ended_at"):
            draft.status = failed or EventStatus.OK

    def _custom(self, span: _Span) -> None:
        data = span.data.get("data")
        if is_object(data) and text_at(data, "sdk_span_type") in _FRAMES:
            return
        name = text_at(span.data, "name") or ""
        if name.lower() in _PLANS and data:
            self._transcript.begin_turn()
            draft = Draft(Kind.BOOKKEEPING, f"{span.place}/data", "plan", text=written(data))
            draft.actor = self._conversation.speaker
            self._transcript.add(draft)
        else:
            self._transcript.skip(span.pointer, "a span of the application's own")


def _exported(source: Source) -> Iterator[tuple[str, Json]]:
    for pointer, value in entries(source, _HOLDERS):
        if is_list(value):
            # A batch of spans on one line.
            yield from listed(value, pointer)
        else:
            yield pointer, value


def _answers(span: _Span) -> Iterator[tuple[str, Json]]:
    output, place = span.data.get("output"), f"{span.place}/output"
    response = span.data.get("response")
    if is_object(response):
        output, place = response.get("output"), f"{span.place}/response/output"
    for where, value in listed(output, place):
        if is_object(value) and is_list(value.get("output")) and "type" not in value:
            # A streamed answer is kept as a whole response.
            yield from listed(value["output"], f"{where}/output")
        else:
            yield where, value


def _connect(spans: list[_Span]) -> None:
    known = {text_at(span.value, "id", "span_id"): span for span in spans}
    known.pop(None, None)
    last = 0.0
    for span in spans:
        span.above = known.get(text_at(span.value, "parent_id"))
        last = span.began = _moment(span.value.get("started_at"), last)
    for span in spans:
        chain: list[_Span] = []
        at: _Span | None = span
        while at is not None and not at.depth:
            at.depth = -1
            chain.append(at)
            at = at.above
        if at is not None and at.depth < 0:
            # Spans that stand around each other stand around nothing.
            chain[-1].above, at = None, None
        depth = at.depth if at is not None else 0
        for link in reversed(chain):
            depth += 1
            link.depth = depth
            if link.above is not None:
                link.began = max(link.began, link.above.began)


def _moment(value: Json, otherwise: float) -> float:
    if isinstance(value, (int, float)):
        return float(value)
    if not isinstance(value, str):
        return otherwise
    try:
        moment = datetime.fromisoformat(value[:64])
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return otherwise
