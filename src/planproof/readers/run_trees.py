"""Read trees of runs that are not OpenTelemetry spans: Langfuse observations and LangSmith runs.

A run has a type, a parent, an input and an output. Many frameworks report to these tools, each in
its own form: the messages may be those of any API, as JSON or as JSON inside a text, and the type
of a run may be given only by OpenTelemetry attributes in its metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import cast

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_embedded_json, text_at
from planproof.core.pointer import escape
from planproof.core.trace import Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.openinference import OPENINFERENCE
from planproof.readers.opentelemetry import GEN_AI
from planproof.readers.toolkit.content_parts import extract_text
from planproof.readers.toolkit.entries import SNIFF_LIMIT, iter_entries
from planproof.readers.toolkit.nested_messages import MessagePart, parse_messages
from planproof.readers.toolkit.span import (
    ATTRIBUTE_KEYS,
    START_TIME_KEYS,
    Span,
    SpanConvention,
    SpanKind,
    is_span,
)
from planproof.readers.toolkit.span_reading import SpanWriter, skip_unread_spans
from planproof.readers.toolkit.span_source import build_span_tree, iter_span_records
from planproof.readers.toolkit.tool_calls import parse_call
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

_KIND_ATTRIBUTES = ("mlflow.spanType", "span.type", "type")
_KIND_FIELDS = ("run_type", "span_type", "type")
_SPAN_KINDS: dict[str, SpanKind] = {
    "tool": "tool",
    "execute_tool": "tool",
    "retriever": "tool",
    "llm": "model",
    "chat": "model",
    "chat_model": "model",
    "completion": "model",
    "generation": "model",
    "agent": "agent",
}
_INPUT_KEYS = (
    "input",
    "inputs",
    "tool_arguments",
    "tool.arguments",
    "input.value",
    "mlflow.spanInputs",
)
_OUTPUT_KEYS = ("output", "outputs", "tool_response", "output.value", "mlflow.spanOutputs")
_RUN_KEYS = frozenset(("parentObservationId", "parent_observation_id", "traceId", "trace_id"))
_TASK_KEYS = ("prompt", "query", "question", "input", "task")
_AGENT_NAME = re.compile(r"(?:agent_run|invoke_agent) ?\[?([^\[\]]{1,80})\]?|([^\[\]]{1,80})\.run")


class RunTreeReader:
    """Reads traces of Langfuse and runs of LangSmith."""

    name = "run-tree"

    def sniff(self, source: Source) -> bool:
        """Return whether the first entries are observations or runs."""
        head = [value for _, value in islice(_iter_runs(source), SNIFF_LIMIT)]
        return bool(head) and all(map(_is_run, head))

    def read(self, source: Source) -> Trace:
        """Return the events of agents, models and tools, in the order in which they began."""
        builder = TraceBuilder(source.skipped)
        add_runs(builder, list(_iter_runs(source)))
        return builder.build(self.name)


def add_runs(builder: TraceBuilder, entries: list[tuple[str, Json]]) -> None:
    """Add the events of runs or spans, in the order in which they began."""
    for pointer, value in entries:
        if not is_span(value):
            builder.skip(pointer, "not a span")
    spans = build_span_tree([entry for entry in entries if is_span(entry[1])], builder.skip)
    conventions = (OPENINFERENCE, GEN_AI, RUN_CONVENTION)
    runs = [span for span in spans if _is_run(span.value)]
    if runs:
        conventions = (RUN_CONVENTION,)
        for span in runs:
            _merge_metadata(span)
            _unwrap_run(span)
        _mark_containers(runs)
    first = len(builder.drafts)
    SpanWriter(builder, conventions).add_spans(spans)
    if runs and not any(draft.actor == "user" for draft in builder.drafts[first:]):
        _add_task(builder, first, runs)
    skip_unread_spans(builder, spans)


def _iter_runs(source: Source) -> Iterator[tuple[str, Json]]:
    # Each item of a list that wraps runs is a trace of its own, and not unwrapped here.
    if is_object(source.document):
        return iter_span_records(source, _is_run)
    return iter_entries(source)


def _is_run(value: Json) -> bool:
    """Return whether a value is a run or observation, not a span with attributes."""
    if not is_object(value) or any(key in value for key in ATTRIBUTE_KEYS) or not is_span(value):
        return False
    if isinstance(value.get("run_type"), str):
        return "inputs" in value or "outputs" in value
    return not _RUN_KEYS.isdisjoint(value) and any(key in value for key in START_TIME_KEYS)


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
    span.kind = _classify_run(span)
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


def _classify_run(span: Span) -> SpanKind:
    if span.kind:
        return "" if span.kind == "container" else cast("SpanKind", span.kind)
    kind = text_at(span.attributes, *_KIND_ATTRIBUTES) or text_at(span.value, *_KIND_FIELDS)
    known = _SPAN_KINDS.get((kind or "").strip('"').lower())
    if known is not None:
        return known
    known = OPENINFERENCE.classify(span) or GEN_AI.classify(span)
    if known:
        return known
    output = span.attributes.get("output")
    is_tool = span.name.startswith("execute_tool ") or _get_tool_message(output) is not None
    return "tool" if is_tool else ""


def _parse_answer(span: Span) -> Iterator[MessagePart]:
    key = span.find_key(_OUTPUT_KEYS)
    if key is not None:
        parts = list(parse_messages(span.attributes[key], span.pointer_to(key)))
        if parts:
            yield from parts
            return
    yield from list(OPENINFERENCE.parse_answer(span)) or GEN_AI.parse_answer(span)


def _parse_prompt(span: Span) -> Iterator[MessagePart]:
    key = span.find_key(_INPUT_KEYS)
    given = span.attributes[key] if key is not None else None
    parts: list[MessagePart] = []
    if key is not None:
        if is_object(given) and is_list(given.get("contents")):
            given = given["contents"]
        parts = list(parse_messages(given, span.pointer_to(key), skip_agent=True))
        parts = [part for part in parts if part.role]
    parts = parts or list(OPENINFERENCE.parse_prompt(span)) or list(GEN_AI.parse_prompt(span))
    if parts or key is None:
        yield from parts
        return
    task = _get_task(given)
    if task is not None:
        yield MessagePart("text", "user", task, span.pointer_to(key))


def _get_task(given: Json) -> str | None:
    """Return the task in the input of a run that is not a list of messages."""
    if isinstance(given, str):
        return given.strip() or None
    if not is_object(given):
        return None
    parts = [part for part in parse_messages(given, "", skip_agent=True) if part.role == "user"]
    if not parts and is_object(given.get("new_message")):
        parts = list(parse_messages(given["new_message"], ""))
    return next((part.text for part in parts if part.text), None) or text_at(given, *_TASK_KEYS)


def _add_task(builder: TraceBuilder, place: int, runs: list[Span]) -> None:
    """Add the user's task from the input of the first run."""
    root = next((span for span in runs if span.parent is None), runs[0])
    task = _get_task(root.attributes.get("input"))
    if task is not None:
        builder.begin_turn()
        draft = EventDraft(Kind.MESSAGE, root.pointer_to("input"), actor="user", text=task)
        draft.turn = builder.turn
        builder.drafts.insert(place, draft)


RUN_CONVENTION = SpanConvention(
    classify=_classify_run,
    parse_answer=_parse_answer,
    parse_prompt=_parse_prompt,
    tool_names=("tool.name", "tool_name", "gen_ai.tool.name", "ai.toolCall.name", "name"),
    call_ids=("tool_call_id", "gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id"),
    inputs=_INPUT_KEYS,
    outputs=_OUTPUT_KEYS,
    agent_names=("gen_ai.agent.name", "agent.name"),
)
