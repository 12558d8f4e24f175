"""Read OpenTelemetry spans that use the semantic conventions for generative AI: `gen_ai.*`.

Input: OTLP as JSON or JSON Lines, and flat exports of the SDKs. Pydantic AI and Logfire, any-agent,
Strands, OpenLLMetry and others each use some of the attributes, or older names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_embedded_json, text_at
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.nested_messages import (
    FlatMessageKeys,
    MessagePart,
    parse_message,
    parse_messages,
)
from planproof.readers.toolkit.span import Span, SpanConvention, SpanKind, SpanLogEvent
from planproof.readers.toolkit.span_reading import SpanWriter, skip_unread_spans
from planproof.readers.toolkit.span_source import SPAN_KIND_KEY, detect_convention, read_spans
from planproof.readers.toolkit.trace_builder import TraceBuilder

_OPERATION_KINDS: dict[str, SpanKind] = {
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
# The kinds of spans without an operation name, by an attribute that only they have.
_ATTRIBUTE_KINDS: tuple[tuple[str, SpanKind], ...] = (
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
_TRACELOOP_KINDS: dict[str, SpanKind] = {"tool": "tool", "agent": "agent"}
_ARGUMENTS_KEY = "gen_ai.tool.call.arguments"
_RESULT_KEY = "gen_ai.tool.call.result"
_OUTPUT_KEYS = (
    _RESULT_KEY,
    "gen_ai.output",
    "tool_response",
    "ai.toolCall.result",
    "gcp.vertex.agent.tool_response",
    "final_result",
    "output.value",
    "traceloop.entity.output",
)
_ANSWER_KEYS = (
    "gen_ai.output.messages",
    "gen_ai.completion",
    "gen_ai.output",
    "response_data",
    "output.value",
    "traceloop.entity.output",
)
_PROMPT_KEYS = ("gen_ai.input.messages", "gen_ai.prompt", "request_data", "ai.prompt.messages")
_COMPLETION_MESSAGES = FlatMessageKeys("gen_ai.completion")
_PROMPT_MESSAGES = FlatMessageKeys("gen_ai.prompt")
_IS_ANSWER_BY_KEY = {
    "gen_ai.input.messages": False,
    "gen_ai.output.messages": True,
    "gen_ai.prompt": False,
    "gen_ai.completion": True,
}
_MESSAGE_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")


class OpenTelemetryReader:
    """Reads spans with the OpenTelemetry GenAI conventions (OTLP, SDK exports)."""

    name = "opentelemetry"

    def sniff(self, source: Source) -> bool:
        """Return whether the first spans use these conventions, and no others."""
        return detect_convention(source) == "gen_ai"

    def read(self, source: Source) -> Trace:
        """Return the events of agents, models and tools, in the order in which the spans began."""
        builder = TraceBuilder(source.skipped)
        spans = read_spans(source, builder)
        for span in spans:
            if span.log_records or span.value.get("events"):
                _merge_tool_events(span)
            if SPAN_KIND_KEY in span.attributes and _classify_span(span) is None:
                builder.skip(span.pointer, "span in OpenInference conventions")
        SpanWriter(builder, (GEN_AI,)).add_spans(spans)
        skip_unread_spans(builder, spans)
        return builder.build(self.name)


def _classify_span(span: Span) -> SpanKind | None:
    attributes = span.attributes
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str):
        return _OPERATION_KINDS.get(operation, "")
    for key, span_kind in _ATTRIBUTE_KINDS:
        if key in attributes:
            return span_kind
    kind = attributes.get("traceloop.span.kind")
    return _TRACELOOP_KINDS.get(kind, "") if isinstance(kind, str) else None


def _parse_answer(span: Span) -> Iterator[MessagePart]:
    parts = _parse_separate_messages(span, _COMPLETION_MESSAGES, is_answer=True)
    yield from parts
    if parts:
        return
    for key in (span.find_key(_ANSWER_KEYS), "ai.response.text"):
        if key is not None and key in span.attributes:
            yield from parse_messages(span.attributes[key], span.pointer_to(key))
    calls = span.attributes.get("ai.response.toolCalls")
    if calls is not None:
        yield from parse_messages({"tool_calls": calls}, span.pointer_to("ai.response.toolCalls"))


def _parse_prompt(span: Span) -> Iterator[MessagePart]:
    system = span.attributes.get("gen_ai.system_instructions")
    if system is not None:
        content = (parse_embedded_json(system) or system) if isinstance(system, str) else system
        pointer = span.pointer_to("gen_ai.system_instructions")
        yield from parse_message({"role": "system", "content": content}, pointer)
    parts = _parse_separate_messages(span, _PROMPT_MESSAGES, is_answer=False)
    yield from parts
    key = span.find_key(_PROMPT_KEYS) if not parts else None
    if key is not None:
        yield from parse_messages(span.attributes[key], span.pointer_to(key), skip_agent=True)


def _parse_separate_messages(
    span: Span, keys: FlatMessageKeys, *, is_answer: bool
) -> list[MessagePart]:
    """Return messages recorded one by one: as events, or else under attributes of their own."""
    noted = [part for part, answers in _parse_event_messages(span) if answers is is_answer]
    return noted or list(keys.parse_messages(span))


def _parse_event_messages(span: Span) -> Iterator[tuple[MessagePart, bool]]:
    """Yield the messages in events of a span or in its attribute, with True for a model answer."""
    if span.log_records or span.value.get("events"):
        for note in span.iter_events():
            yield from _parse_event(note)
    listed = span.attributes.get("events")
    events = parse_embedded_json(listed) if isinstance(listed, str) else listed
    for event in events if is_list(events) else []:
        if is_object(event):
            name = text_at(event, "event.name") or ""
            yield from _parse_event(SpanLogEvent(name, span.pointer_to("events"), event))


def _merge_tool_events(span: Span) -> None:
    """Add a tool's arguments and result as attributes if only events have them."""
    if _classify_span(span) != "tool":
        return
    added: dict[str, Json] = {}
    for event in span.iter_events():
        if event.name == "gen_ai.tool.message":
            key, value = _ARGUMENTS_KEY, event.attributes.get("content")
        elif event.name == "gen_ai.choice":
            texts = [part.text for part, _ in _parse_event(event) if part.kind == "text"]
            key, value = _RESULT_KEY, "\n".join(texts)
        else:
            continue
        if value and key not in span.attributes:
            added[key] = value
            span.attribute_pointers[key] = event.pointer
    span.attributes = {**span.attributes, **added}


def _parse_event(event: SpanLogEvent) -> Iterator[tuple[MessagePart, bool]]:
    attributes = event.attributes
    content = attributes.get("gen_ai.event.content")
    body = parse_embedded_json(content) if isinstance(content, str) else None
    body = body if is_object(body) else attributes
    kind = _MESSAGE_EVENT.fullmatch(event.name)
    if event.name == "gen_ai.choice":
        message = body.get("message", body)
        for part in parse_messages(message, event.pointer):
            yield part, True
    elif kind is not None:
        for part in parse_message({**body, "role": kind[1]}, event.pointer):
            yield part, False
    else:
        for key, is_answer in _IS_ANSWER_BY_KEY.items():
            if key in attributes:
                for part in parse_messages(attributes[key], event.pointer):
                    yield part, is_answer


GEN_AI = SpanConvention(
    classify=_classify_span,
    parse_answer=_parse_answer,
    parse_prompt=_parse_prompt,
    tool_names=("gen_ai.tool.name", "ai.toolCall.name", "traceloop.entity.name", "name"),
    call_ids=("gen_ai.tool.call.id", "ai.toolCall.id"),
    inputs=(
        _ARGUMENTS_KEY,
        "gen_ai.tool.args",
        "tool_arguments",
        "ai.toolCall.args",
        "gcp.vertex.agent.tool_call_args",
        "input.value",
        "traceloop.entity.input",
    ),
    outputs=_OUTPUT_KEYS,
    agent_names=("gen_ai.agent.name", "agent_name", "traceloop.entity.name"),
)
