"""Read spans: OpenInference, OpenTelemetry, and the runs of Langfuse and LangSmith.

Input: OTLP as JSON or JSON Lines, flat exports of the SDKs, nested spans. A run has a type, a
parent, an input and an output; many frameworks report to these tools, each in its own form: the
messages may be those of any API, as JSON or as JSON inside a text, and the type of a run may be
given only by OpenTelemetry attributes in its metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from planproof.core.content import Json
from planproof.core.json_values import (
    format_value,
    is_list,
    is_object,
    parse_embedded_json,
    text_at,
)
from planproof.core.pointer import escape
from planproof.core.trace import Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.content_parts import extract_text
from planproof.readers.toolkit.entries import SNIFF_LIMIT, iter_entries, iter_flat_entries
from planproof.readers.toolkit.span import (
    Span,
    build_span_tree,
    detect_convention,
    is_run,
    is_span,
    iter_span_records,
    read_spans,
)
from planproof.readers.toolkit.span_conventions import classify_span, get_task, merge_tool_events
from planproof.readers.toolkit.span_reading import PLAN_ATTRIBUTE, SpanWriter, skip_unread_spans
from planproof.readers.toolkit.tool_calls import parse_call
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

_AGENT_NAME = re.compile(r"(?:agent_run|invoke_agent) ?\[?([^\[\]]{1,80})\]?|([^\[\]]{1,80})\.run")

_SDK_LIST_KEYS = ("data", "spans", "items")
_SDK_KINDS = {
    "generation": "model",
    "response": "model",
    "function": "tool",
    "handoff": "handoff",
    "agent": "agent",
    "guardrail": "guardrail",
}
_SDK_WRAPPERS = ("task", "turn", "speech_group", "custom")
_PLAN_NAMES = frozenset(("plan", "planning"))


class OpenTelemetryReader:
    """Reads spans with the OpenTelemetry GenAI conventions (OTLP, SDK exports)."""

    name = "opentelemetry"
    _convention = "gen_ai"

    def sniff(self, source: Source) -> bool:
        """Return whether the first entries are spans with these conventions."""
        return detect_convention(source) == self._convention

    def read(self, source: Source) -> Trace:
        """Return the events of agents, models and tools, in the order in which the spans began."""
        builder = TraceBuilder(source.skipped)
        _add_events(builder, read_spans(source, builder))
        return builder.build(self.name)


class OpenInferenceReader(OpenTelemetryReader):
    """Reads spans with the OpenInference conventions (Phoenix, TRAIL)."""

    name = "openinference"
    _convention = "openinference"


class RunTreeReader:
    """Reads traces of Langfuse and runs of LangSmith."""

    name = "run-tree"

    def sniff(self, source: Source) -> bool:
        """Return whether the first entries are observations or runs."""
        head = [value for _, value in islice(_iter_runs(source), SNIFF_LIMIT)]
        return bool(head) and all(map(is_run, head))

    def read(self, source: Source) -> Trace:
        """Return the events of agents, models and tools, in the order in which they began."""
        builder = TraceBuilder(source.skipped)
        add_runs(builder, list(_iter_runs(source)))
        return builder.build(self.name)


class OpenAIAgentsReader:
    """Reads exported traces of the OpenAI Agents SDK: model calls, tool calls and hand-offs."""

    name = "openai-agents"

    def sniff(self, source: Source) -> bool:
        """Return whether the source is a list of the SDK's traces and spans."""
        head = [value for _, value in islice(_iter_sdk_records(source), SNIFF_LIMIT)]
        return all(is_object(value) and _is_sdk_record(value) for value in head) and any(
            map(_is_sdk_span, head)
        )

    def read(self, source: Source) -> Trace:
        """Return the events ordered by span start; spans are exported when they end."""
        builder = TraceBuilder(source.skipped)
        records = list(_iter_sdk_records(source))
        for pointer, value in records:
            if not _is_sdk_span(value):
                is_trace = is_object(value) and value.get("object") == "trace"
                builder.skip(pointer, "metadata of the trace" if is_trace else "not a span")
        spans = build_span_tree(
            [record for record in records if _is_sdk_span(record[1])], builder.skip
        )
        for span in spans:
            _unwrap_sdk_span(span)
            if span.kind == "model" and not span.attributes.get("output") and not span.find_error():
                builder.skip(span.pointer, "model output not in the export")
            elif (kind := text_at(span.attributes, "type")) not in (*_SDK_KINDS, *_SDK_WRAPPERS):
                builder.skip(span.pointer, f"unknown span type {kind!r}")
        _add_events(builder, spans)
        return builder.build(self.name)


def _is_sdk_record(value: dict[str, Json]) -> bool:
    return text_at(value, "object") in ("trace", "trace.span")


def _is_sdk_span(value: Json) -> bool:
    return is_object(value) and is_object(value.get("span_data"))


def _iter_sdk_records(source: Source) -> Iterator[tuple[str, Json]]:
    # A line may be a batch of spans.
    return iter_flat_entries(source, _SDK_LIST_KEYS, _is_sdk_record)


def _unwrap_sdk_span(span: Span) -> None:
    """Set the attributes of a span of the SDK from its data."""
    data, pointer = span.value["span_data"], f"{span.pointer}/span_data"
    span.attributes, span.attributes_pointer, span.raw = dict(data), pointer, data
    kind = text_at(data, "type") or ""
    span.kind = _SDK_KINDS.get(kind, "container")
    response, inner = data.get("response"), data.get("data")
    if is_object(response):
        span.attributes["output"] = response.get("output")
        span.attribute_pointers["output"] = f"{pointer}/response/output"
    if kind == "agent":
        span.attributes["agent.name"] = data.get("name")
    elif kind == "custom" and inner and (text_at(data, "name") or "").lower() in _PLAN_NAMES:
        span.attributes[PLAN_ATTRIBUTE] = format_value(inner)
        span.attribute_pointers[PLAN_ATTRIBUTE] = f"{pointer}/data"


def _iter_runs(source: Source) -> Iterator[tuple[str, Json]]:
    # Each item of a list that wraps runs is a trace of its own, and not unwrapped here.
    if is_object(source.document):
        return iter_span_records(source, is_run)
    return iter_entries(source)


def add_runs(builder: TraceBuilder, entries: list[tuple[str, Json]]) -> None:
    """Add the events of runs or spans, in the order in which they began."""
    for pointer, value in entries:
        if not is_span(value):
            builder.skip(pointer, "not a span")
    spans = build_span_tree([entry for entry in entries if is_span(entry[1])], builder.skip)
    _add_events(builder, spans)


def _add_events(builder: TraceBuilder, spans: list[Span]) -> None:
    runs = [span for span in spans if span.is_run]
    for span in spans:
        if span.is_run:
            _merge_metadata(span)
            _unwrap_run(span)
        elif is_object(span.attributes.get("openinference")):
            _flatten_attributes(span)
        if span.log_records or span.value.get("events"):
            merge_tool_events(span)
    _mark_containers(runs)
    first = len(builder.drafts)
    SpanWriter(builder).add_spans(spans)
    if runs and not any(draft.actor == "user" for draft in builder.drafts[first:]):
        _add_task(builder, first, runs)
    skip_unread_spans(builder, spans)


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


def _merge_metadata(span: Span) -> None:
    """Add the attributes that the metadata of an observation repeats from a span."""
    metadata, pointer = span.value.get("metadata"), f"{span.pointer}/metadata"
    is_text = isinstance(metadata, str)
    metadata = parse_embedded_json(metadata) if is_text else metadata
    attributes = metadata.get("attributes") if is_object(metadata) else None
    attributes = attributes if is_object(attributes) else {}
    span.attributes = {**attributes, **span.value}
    span.attribute_pointers |= {
        key: pointer if is_text else f"{pointer}/attributes/{escape(key)}"
        for key in attributes
        if key not in span.value
    }


def _unwrap_run(span: Span) -> None:
    """Set `input` and `output` to what the run was given and returned, without wrappers."""
    for key, plural in (("input", "inputs"), ("output", "outputs")):
        found = key if span.value.get(key) is not None else plural
        value, pointer = span.value.get(found), f"{span.pointer}/{found}"
        if value is not None:
            inner = parse_embedded_json(value) if isinstance(value, str) else None
            span.attributes[key] = value if inner is None else inner
            span.attribute_pointers[key] = pointer
    span.kind = classify_span(span)
    output = span.attributes.get("output")
    if not span.kind and (
        span.name.startswith("execute_tool ") or _get_tool_message(output) is not None
    ):
        span.kind = "tool"
    if span.kind == "tool":
        _unwrap_tool_run(span)
    elif span.kind == "agent":
        named = _AGENT_NAME.fullmatch(span.name)
        name = (named[1] or named[2]) if named is not None else span.name
        span.attributes.setdefault("agent.name", name)


def _unwrap_tool_run(span: Span) -> None:
    attributes = span.attributes
    given, returned = attributes.get("input"), attributes.get("output")
    if is_object(given) and given.get("type") == "tool_call":
        call = parse_call(given)
        if call is not None:
            attributes["input"], attributes["tool_call_id"] = call.arguments, call.id
    elif is_object(given) and len(given) == 1 and "input" in given:
        attributes["input"] = given["input"]
    if is_object(returned) and len(returned) == 1 and "output" in returned:
        returned = returned["output"]
    message = _get_tool_message(returned)
    if message is not None:
        attributes["tool_call_id"] = message.get("tool_call_id") or attributes.get("tool_call_id")
        returned = message.get("content")
    elif is_object(returned) and len(returned) == 1 and is_list(returned.get("content")):
        returned = extract_text(returned["content"], "")[0] or returned
    if returned is not None:
        attributes["output"] = returned


def _get_tool_message(value: Json) -> dict[str, Json] | None:
    """Return the fields of a LangChain tool message; None if the value is not one."""
    if not is_object(value):
        return None
    fields = value.get("kwargs", value)
    return fields if is_object(fields) and "tool_call_id" in fields else None


def _mark_containers(runs: list[Span]) -> None:
    """Mark model calls that only wrap others, and set the last child that does something.

    A loop of model and tool calls is often recorded as a model call itself. A single model call
    inside another is the same one, as seen by another layer of the client.
    """
    model_around: dict[int, Span] = {}
    contents: dict[int, list[str]] = {}
    for span in runs:
        span.last_child = None
        kind = span.kind
        around = model_around.get(id(span.parent)) if span.parent is not None else None
        if around is not None:
            contents.setdefault(id(around), []).append(span.kind)
        outer = span if kind == "model" else around
        if outer is not None:
            model_around[id(span)] = outer
        child = span
        while kind and child.parent is not None:
            child.parent.last_child = child
            child = child.parent
    for span in runs:
        inside = [kind for kind in contents.get(id(span), []) if kind in ("model", "tool")]
        if len(inside) > 1 and "model" in inside:
            span.kind = "container"


def _add_task(builder: TraceBuilder, place: int, runs: list[Span]) -> None:
    """Add the user's task from the input of the first run."""
    root = next((span for span in runs if span.parent is None), runs[0])
    task = get_task(root.attributes.get("input"))
    if task is not None:
        builder.begin_turn()
        draft = EventDraft(Kind.MESSAGE, root.pointer_to("input"), actor="user", text=task)
        draft.turn = builder.turn
        builder.drafts.insert(place, draft)
