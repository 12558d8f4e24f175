"""OpenInference spans: `openinference.span.kind`, nested or flat, in any export.

Arize Phoenix and its instrumentations write them, and the data sets made with those.
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
from planproof.readers.toolkit.flat_messages import FlatKeys
from planproof.readers.toolkit.nested_messages import Spoken, said_in
from planproof.readers.toolkit.span import Span
from planproof.readers.toolkit.span_dialect import Dialect, SpanSort
from planproof.readers.toolkit.span_reading import SpanReading
from planproof.readers.toolkit.span_source import KIND, convention, read_spans
from planproof.readers.toolkit.tool_calls import arguments_of
from planproof.readers.toolkit.trace_builder import Transcript

_SORTS: dict[str, SpanSort] = {
    "LLM": "model",
    "TOOL": "tool",
    "RETRIEVER": "tool",
    "AGENT": "agent",
}
_STEP = re.compile(r"Step \d{1,6}")
_ANSWERS = FlatKeys("llm.output_messages", ".message", ".tool_call", ".function")
_PROMPTS = FlatKeys("llm.input_messages", ".message", ".tool_call", ".function")


class OpenInferenceReader:
    """Reads spans that say of what kind they are in the words of OpenInference."""

    name = "openinference"

    def sniff(self, source: Source) -> bool:
        """Whether the source begins with spans of which one names such a kind."""
        return convention(source) == "openinference"

    def read(self, source: Source) -> Trace:
        """What agents, models and tools did, in the order in which the spans began."""
        transcript = Transcript(source.skipped)
        spans = read_spans(source, transcript)
        for span in spans:
            if is_object(span.attributes.get("openinference")):
                _flatten(span)
        reading = SpanReading(transcript, (OPENINFERENCE, GEN_AI), _planning(spans))
        reading.read(spans)
        return transcript.trace(self.name)


def _sort_of(span: Span) -> SpanSort | None:
    kind = text_at(span.attributes, KIND)
    if kind is None:
        # An export of Phoenix; elsewhere this is OpenTelemetry's own kind, such as "Internal".
        kind = text_at(span.value, "span_kind") or ""
        return _SORTS.get(kind)
    return _SORTS.get(kind.upper(), "")


def _answer(span: Span) -> Iterator[Spoken]:
    said = list(_ANSWERS.messages(span))
    if not said and span.attributes.get("output.value") is not None:
        said = list(said_in(span.attributes["output.value"], span.pointer_to("output.value")))
    yield from said


def _task(span: Span) -> Spoken | None:
    """What smolagents notes that an agent was asked."""
    given, _ = arguments_of(span.attributes.get("input.value"))
    task = text_at(given, "task") if is_object(given) else None
    return Spoken("text", "user", task, span.pointer_to("input.value")) if task else None


def _step_of(span: Span) -> Span | None:
    above = span.parent
    return above if above is not None and _STEP.fullmatch(above.name) else None


def _planning(spans: list[Span]) -> dict[int, Kind]:
    """The answers that smolagents asks for between its steps: surveys of facts, and plans.

    Older versions ask for the facts first and then for the plan, newer ones for both in one
    answer. What comes behind the last step is the agent's answer.
    """
    kinds: dict[int, Kind] = {}
    between: dict[int, list[Span]] = {}
    for span in spans:
        if _STEP.fullmatch(span.name):
            asked = between.pop(id(span.parent), [])
            kinds.update((id(facts), Kind.REASONING) for facts in asked[:-1])
            kinds.update((id(plan), Kind.BOOKKEEPING) for plan in asked[-1:])
        elif _sort_of(span) == "model":
            between.setdefault(id(span.parent), []).append(span)
    return kinds


def _flatten(span: Span) -> None:
    """Write attributes that were unfolded into objects and lists under their full names again."""
    flat: dict[str, Json] = {}
    stack: list[tuple[str, str, Json]] = [("", span.place, span.attributes)]
    while stack:
        key, place, value = stack.pop()
        if is_object(value) and (value or not key):
            named = [(escape(name), name, item) for name, item in value.items()]
        elif is_list(value) and any(is_object(item) for item in value):
            named = [(str(index), str(index), item) for index, item in enumerate(value)]
        else:
            flat[key] = value
            span.places[key] = place
            continue
        for token, name, item in reversed(named):
            stack.append((f"{key}.{name}" if key else name, f"{place}/{token}", item))
    span.attributes = flat


OPENINFERENCE = Dialect(
    sort_of=_sort_of,
    answer=_answer,
    prompt=_PROMPTS.messages,
    tool_names=("tool.name", "tool_call.function.name"),
    call_ids=("tool_call.id", "tool.id"),
    inputs=("input.value", "tool_call.function.arguments"),
    outputs=("output.value",),
    agent_names=("agent.name",),
    step_of=_step_of,
    task=_task,
)
