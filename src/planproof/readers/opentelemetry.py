"""OpenTelemetry spans in the words of its conventions for generative AI: `gen_ai.*`.

OTLP as JSON or JSON Lines, and flat exports of the SDKs. Pydantic AI and Logfire, any-agent,
Strands, OpenLLMetry and others each use a part of the words, or older ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from planproof.core.content import Json
from planproof.core.json_values import embedded, is_list, is_object, text_at
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.flat_messages import FlatKeys
from planproof.readers.toolkit.nested_messages import Spoken, message_says, said_in
from planproof.readers.toolkit.span import Note, Span
from planproof.readers.toolkit.span_dialect import Dialect, SpanSort
from planproof.readers.toolkit.span_reading import SpanReading
from planproof.readers.toolkit.span_source import KIND, convention, read_spans
from planproof.readers.toolkit.trace_builder import Transcript

_SORTS: dict[str, SpanSort] = {
    "execute_tool": "tool",
    "retrieval": "tool",
    "chat": "model",
    "call_llm": "model",
    "text_completion": "model",
    "completion": "model",
    "generate_content": "model",
    "invoke_agent": "agent",
    "plan": "plan",
    "planning": "plan",
}
# What spans are that do not name an operation, by an attribute that only they have.
_TELLING: tuple[tuple[str, SpanSort], ...] = (
    ("gen_ai.tool.name", "tool"),
    ("ai.toolCall.name", "tool"),
    ("pydantic_ai.all_messages", "agent"),
    ("gen_ai.output.messages", "model"),
    ("gen_ai.completion.0.role", "model"),
    ("gen_ai.completion.0.content", "model"),
    ("gen_ai.completion.0.finish_reason", "model"),
    ("response_data", "model"),
    ("ai.response.finishReason", "model"),
    ("all_messages_events", "agent"),
)
_TRACELOOP: dict[str, SpanSort] = {"tool": "tool", "agent": "agent"}
_ARGUMENTS = "gen_ai.tool.call.arguments"
_RESULT = "gen_ai.tool.call.result"
_OUTPUTS = (
    _RESULT,
    "gen_ai.output",
    "tool_response",
    "ai.toolCall.result",
    "gcp.vertex.agent.tool_response",
    "final_result",
    "output.value",
    "traceloop.entity.output",
)
_ANSWERS = (
    "gen_ai.output.messages",
    "gen_ai.completion",
    "gen_ai.output",
    "response_data",
    "output.value",
    "traceloop.entity.output",
)
_PROMPTS = ("gen_ai.input.messages", "gen_ai.prompt", "request_data", "ai.prompt.messages")
_COMPLETIONS = FlatKeys("gen_ai.completion")
_EARLIER = FlatKeys("gen_ai.prompt")
_IN_EVENTS = {
    "gen_ai.input.messages": False,
    "gen_ai.output.messages": True,
    "gen_ai.prompt": False,
    "gen_ai.completion": True,
}
_MESSAGE = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")


class OpenTelemetryReader:
    """Reads spans that follow the conventions of OpenTelemetry for generative AI."""

    name = "opentelemetry"

    def sniff(self, source: Source) -> bool:
        """Whether the source begins with spans that use these words, and no others."""
        return convention(source) == "gen_ai"

    def read(self, source: Source) -> Trace:
        """What agents, models and tools did, in the order in which the spans began."""
        transcript = Transcript(source.skipped)
        spans = read_spans(source, transcript)
        for span in spans:
            if span.notes or span.value.get("events"):
                _take_from_events(span)
            if KIND in span.attributes and _sort_of(span) is None:
                transcript.skip(span.pointer, "a span in the words of OpenInference")
        SpanReading(transcript, (GEN_AI,)).read(spans)
        return transcript.trace(self.name)


def _sort_of(span: Span) -> SpanSort | None:
    attributes = span.attributes
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str):
        return _SORTS.get(operation, "")
    for key, sort in _TELLING:
        if key in attributes:
            return sort
    kind = attributes.get("traceloop.span.kind")
    return _TRACELOOP.get(kind, "") if isinstance(kind, str) else None


def _answer(span: Span) -> Iterator[Spoken]:
    noted = [said for said, is_answer in _noted(span) if is_answer]
    flat = list(_COMPLETIONS.messages(span)) if not noted else []
    if noted or flat:
        yield from noted or flat
        return
    key = span.key_of(_ANSWERS)
    if key is not None:
        yield from said_in(span.attributes[key], span.pointer_to(key))
    for key in ("ai.response.text", "ai.response.toolCalls"):
        if key in span.attributes:
            value = span.attributes[key]
            calls = embedded(value) if key.endswith("Calls") and isinstance(value, str) else None
            told: Json = {"tool_calls": calls} if calls is not None else value
            yield from said_in(told, span.pointer_to(key))


def _prompt(span: Span) -> Iterator[Spoken]:
    system = span.attributes.get("gen_ai.system_instructions")
    if system is not None:
        place = span.pointer_to("gen_ai.system_instructions")
        parts = embedded(system) if isinstance(system, str) else system
        if isinstance(system, str) and parts is None:
            yield Spoken("text", "system", system, place)
        elif is_list(parts) or is_object(parts):
            yield from message_says({"role": "system", "content": parts}, place)
    noted = [said for said, is_answer in _noted(span) if not is_answer]
    flat = list(_EARLIER.messages(span)) if not noted else []
    if noted or flat:
        yield from noted or flat
        return
    key = span.key_of(_PROMPTS)
    if key is not None:
        yield from said_in(span.attributes[key], span.pointer_to(key), by_others=True)


def _noted(span: Span) -> Iterator[tuple[Spoken, bool]]:
    """What events tell, of the span or in an attribute; whether it is what the model answered."""
    if span.notes or span.value.get("events"):
        for note in span.events():
            yield from _note(note)
    listed = span.attributes.get("events")
    events = embedded(listed) if isinstance(listed, str) else listed
    for event in events if is_list(events) else []:
        if is_object(event):
            name = text_at(event, "event.name") or ""
            yield from _note(Note(name, span.pointer_to("events"), event))


def _take_from_events(span: Span) -> None:
    """Give a tool its arguments and its result as attributes, where only events tell them."""
    if _sort_of(span) != "tool":
        return
    found: dict[str, Json] = {}
    for note in span.events():
        if note.name == "gen_ai.tool.message":
            key, value = _ARGUMENTS, note.attributes.get("content")
        elif note.name == "gen_ai.choice":
            texts = [said.text for said, _ in _note(note) if said.sort == "text"]
            key, value = _RESULT, "\n".join(texts)
        else:
            continue
        if value and key not in span.attributes:
            found[key] = value
            span.places[key] = note.pointer
    span.attributes = {**span.attributes, **found}


def _note(note: Note) -> Iterator[tuple[Spoken, bool]]:
    held = note.attributes
    content = held.get("gen_ai.event.content")
    body = embedded(content) if isinstance(content, str) else None
    body = body if is_object(body) else held
    kind = _MESSAGE.fullmatch(note.name)
    if note.name == "gen_ai.choice":
        message = body.get("message", body)
        for said in said_in(message, note.pointer):
            yield said, True
    elif kind is not None:
        for said in message_says({**body, "role": kind[1]}, note.pointer):
            yield said, False
    else:
        for key, is_answer in _IN_EVENTS.items():
            if key in held:
                for said in said_in(held[key], note.pointer):
                    yield said, is_answer


GEN_AI = Dialect(
    sort_of=_sort_of,
    answer=_answer,
    prompt=_prompt,
    tool_names=("gen_ai.tool.name", "ai.toolCall.name", "traceloop.entity.name", "name"),
    call_ids=("gen_ai.tool.call.id", "ai.toolCall.id"),
    inputs=(
        _ARGUMENTS,
        "gen_ai.tool.args",
        "tool_arguments",
        "ai.toolCall.args",
        "gcp.vertex.agent.tool_call_args",
        "input.value",
        "traceloop.entity.input",
    ),
    outputs=_OUTPUTS,
    agent_names=("gen_ai.agent.name", "agent_name", "traceloop.entity.name"),
)
