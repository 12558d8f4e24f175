"""Spans in words of their own: LangSmith runs, Langfuse observations, MLflow, and their kin."""

from __future__ import annotations

from collections.abc import Iterator

from planproof.core.content import Json
from planproof.core.json_values import text_at
from planproof.readers.openinference import OPENINFERENCE
from planproof.readers.opentelemetry import GEN_AI
from planproof.readers.toolkit.nested_messages import Spoken, said_in
from planproof.readers.toolkit.span import Span, is_span
from planproof.readers.toolkit.span_dialect import Dialect, SpanSort
from planproof.readers.toolkit.span_reading import SpanReading
from planproof.readers.toolkit.span_tree import spans_of
from planproof.readers.toolkit.trace_builder import Transcript

_KINDS = ("mlflow.spanType", "span.type", "type")
_KINDS_BESIDE = ("run_type", "span_type", "type")
_SORTS: dict[str, SpanSort] = {
    "tool": "tool",
    "execute_tool": "tool",
    "llm": "model",
    "chat": "model",
    "chat_model": "model",
    "completion": "model",
    "generation": "model",
}
_OUTPUTS = ("tool_response", "output.value", "mlflow.spanOutputs", "outputs", "output")


def read_spans(transcript: Transcript, entries: list[tuple[str, Json]]) -> None:
    """Write what the spans did, in the order in which they began."""
    for pointer, value in entries:
        if not is_span(value):
            transcript.skip(pointer, "is no span")
    found = [(pointer, value) for pointer, value in entries if is_span(value)]
    # Those that have readers of their own are also found where nobody expects them.
    reading = SpanReading(transcript, (OPENINFERENCE, GEN_AI, _RUNS))
    reading.read(spans_of(found, transcript.skip))


def _sort_of(span: Span) -> SpanSort | None:
    kind = text_at(span.attributes, *_KINDS) or text_at(span.value, *_KINDS_BESIDE)
    return _SORTS.get((kind or "").strip('"').lower(), "")


def _answer(span: Span) -> Iterator[Spoken]:
    key = span.key_of(_OUTPUTS)
    if key is not None:
        yield from said_in(span.attributes[key], span.pointer_to(key))


def _prompt(_: Span) -> Iterator[Spoken]:
    return iter(())


_RUNS = Dialect(
    sort_of=_sort_of,
    answer=_answer,
    prompt=_prompt,
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
    outputs=_OUTPUTS,
    agent_names=("name",),
)
