"""Read OpenInference spans: `openinference.span.kind`, nested or flat, in any export.

Arize Phoenix and its instrumentations write them; data sets made with those contain them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at
from planproof.core.pointer import escape
from planproof.core.trace import Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.opentelemetry import GEN_AI
from planproof.readers.toolkit.nested_messages import FlatMessageKeys, MessagePart, parse_messages
from planproof.readers.toolkit.span import Span, SpanConvention, SpanKind
from planproof.readers.toolkit.span_reading import SpanWriter, skip_unread_spans
from planproof.readers.toolkit.span_source import SPAN_KIND_KEY, detect_convention, read_spans
from planproof.readers.toolkit.tool_calls import parse_arguments
from planproof.readers.toolkit.trace_builder import TraceBuilder

_SPAN_KINDS: dict[str, SpanKind] = {
    "LLM": "model",
    "TOOL": "tool",
    "RETRIEVER": "tool",
    "AGENT": "agent",
}
_STEP_NAME = re.compile(r"Step \d{1,6}")
_ANSWER_KEYS = FlatMessageKeys("llm.output_messages", ".message", ".tool_call", ".function")
_PROMPT_KEYS = FlatMessageKeys("llm.input_messages", ".message", ".tool_call", ".function")


class OpenInferenceReader:
    """Reads spans with the OpenInference conventions (Phoenix, TRAIL)."""

    name = "openinference"

    def sniff(self, source: Source) -> bool:
        """Return whether the first entries are spans, and one has an OpenInference kind."""
        return detect_convention(source) == "openinference"

    def read(self, source: Source) -> Trace:
        """Return the events of agents, models and tools, in the order in which the spans began."""
        builder = TraceBuilder(source.skipped)
        spans = read_spans(source, builder)
        for span in spans:
            if is_object(span.attributes.get("openinference")):
                _flatten_attributes(span)
        writer = SpanWriter(builder, (OPENINFERENCE, GEN_AI), _find_planning_calls(spans))
        writer.add_spans(spans)
        skip_unread_spans(builder, spans)
        return builder.build(self.name)


def _classify_span(span: Span) -> SpanKind | None:
    kind = text_at(span.attributes, SPAN_KIND_KEY)
    if kind is None:
        # An export of Phoenix; elsewhere this is OpenTelemetry's own kind, such as "Internal".
        kind = text_at(span.value, "span_kind") or ""
        return _SPAN_KINDS.get(kind)
    return _SPAN_KINDS.get(kind.upper(), "")


def _parse_answer(span: Span) -> Iterator[MessagePart]:
    parts = list(_ANSWER_KEYS.parse_messages(span))
    yield from parts
    output = span.attributes.get("output.value")
    if not parts and output is not None:
        yield from parse_messages(output, span.pointer_to("output.value"))


def _parse_task(span: Span) -> MessagePart | None:
    """Return the task of an agent, as smolagents records it."""
    arguments, _ = parse_arguments(span.attributes.get("input.value"))
    task = text_at(arguments, "task") if is_object(arguments) else None
    return MessagePart("text", "user", task, span.pointer_to("input.value")) if task else None


def _find_step(span: Span) -> Span | None:
    above = span.parent
    return above if above is not None and _STEP_NAME.fullmatch(above.name) else None


def _find_planning_calls(spans: list[Span]) -> dict[int, Kind]:
    """Return the event kinds, by `id(span)`, of smolagents' model calls between its steps.

    They are surveys of facts, and plans. Older versions ask for the facts first and then for the
    plan, newer ones for both in one answer. A call after the last step is the agent's answer.
    """
    kinds: dict[int, Kind] = {}
    between: dict[int, list[Span]] = {}
    for span in spans:
        if _STEP_NAME.fullmatch(span.name):
            model_spans = between.pop(id(span.parent), [])
            kinds.update((id(facts), Kind.REASONING) for facts in model_spans[:-1])
            kinds.update((id(plan), Kind.BOOKKEEPING) for plan in model_spans[-1:])
        elif _classify_span(span) == "model":
            between.setdefault(id(span.parent), []).append(span)
    return kinds


def _flatten_attributes(span: Span) -> None:
    """Flatten attributes that were unfolded into objects and lists to their full names."""
    flat: dict[str, Json] = {}
    stack: list[tuple[str, str, Json]] = [("", span.attributes_pointer, span.attributes)]
    while stack:
        key, value_pointer, value = stack.pop()
        if is_object(value) and (value or not key):
            named = [(escape(name), name, item) for name, item in value.items()]
        elif is_list(value) and any(is_object(item) for item in value):
            named = [(str(index), str(index), item) for index, item in enumerate(value)]
        else:
            flat[key] = value
            span.attribute_pointers[key] = value_pointer
            continue
        for token, name, item in reversed(named):
            stack.append((f"{key}.{name}" if key else name, f"{value_pointer}/{token}", item))
    span.attributes = flat


OPENINFERENCE = SpanConvention(
    classify=_classify_span,
    parse_answer=_parse_answer,
    parse_prompt=_PROMPT_KEYS.parse_messages,
    tool_names=("tool.name", "tool_call.function.name"),
    call_ids=("tool_call.id", "tool.id"),
    inputs=("input.value", "tool_call.function.arguments"),
    outputs=("output.value",),
    agent_names=("agent.name",),
    find_step=_find_step,
    parse_task=_parse_task,
)
