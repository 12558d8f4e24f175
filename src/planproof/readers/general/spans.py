"""Spans in words of their own: LangSmith runs, Langfuse observations, MLflow, and their kin."""

from __future__ import annotations

from collections.abc import Iterator

from planproof.core.content import Json
from planproof.core.json_values import text_at
from planproof.readers.openinference import OPENINFERENCE
from planproof.readers.opentelemetry import GEN_AI
from planproof.readers.toolkit.nested_messages import MessagePart, parse_messages
from planproof.readers.toolkit.span import Span, is_span
from planproof.readers.toolkit.span_dialect import SpanConvention, SpanKind
from planproof.readers.toolkit.span_reading import SpanWriter
from planproof.readers.toolkit.span_tree import build_span_tree
from planproof.readers.toolkit.trace_builder import TraceBuilder

_KIND_ATTRIBUTES = ("mlflow.spanType", "span.type", "type")
_KIND_FIELDS = ("run_type", "span_type", "type")
_SPAN_KINDS: dict[str, SpanKind] = {
    "tool": "tool",
    "execute_tool": "tool",
    "llm": "model",
    "chat": "model",
    "chat_model": "model",
    "completion": "model",
    "generation": "model",
}
_OUTPUT_KEYS = ("tool_response", "output.value", "mlflow.spanOutputs", "outputs", "output")


def add_spans(builder: TraceBuilder, entries: list[tuple[str, Json]]) -> None:
    """Write what the spans did, in the order in which they began."""
    for pointer, value in entries:
        if not is_span(value):
            builder.skip(pointer, "is no span")
    spans = [(pointer, value) for pointer, value in entries if is_span(value)]
    # Those that have readers of their own are also found where nobody expects them.
    writer = SpanWriter(builder, (OPENINFERENCE, GEN_AI, _RUN_CONVENTION))
    writer.add_spans(build_span_tree(spans, builder.skip))


def _classify_span(span: Span) -> SpanKind | None:
    kind = text_at(span.attributes, *_KIND_ATTRIBUTES) or text_at(span.value, *_KIND_FIELDS)
    return _SPAN_KINDS.get((kind or "").strip('"').lower(), "")


def _parse_answer(span: Span) -> Iterator[MessagePart]:
    key = span.find_key(_OUTPUT_KEYS)
    if key is not None:
        yield from parse_messages(span.attributes[key], span.pointer_to(key))


def _parse_prompt(_: Span) -> Iterator[MessagePart]:
    return iter(())


_RUN_CONVENTION = SpanConvention(
    classify=_classify_span,
    parse_answer=_parse_answer,
    parse_prompt=_parse_prompt,
    tool_names=("tool.name", "tool_name", "name"),
    call_ids=("tool_call_id",),
    inputs=(
        "tool_arguments",
        "tool.arguments",
        "input.value",
        "mlflow.spanInputs",
        "inputs",
        "input",
    ),
    outputs=_OUTPUT_KEYS,
    agent_names=("name",),
)
