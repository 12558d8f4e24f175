"""Understand the attributes of spans: what a span is, what a model was asked and what it answered.

Known are OpenInference, the OpenTelemetry conventions for generative AI with the older and other
names that instrumentations use for them, and the fields of Langfuse, LangSmith and MLflow. No two
of them give one name two meanings, so all of them are read in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from typing import Literal, TypeAlias

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_embedded_json, text_at
from planproof.core.trace import Kind
from planproof.readers.toolkit.conversation import AGENT_ROLES
from planproof.readers.toolkit.nested_messages import (
    FlatMessageKeys,
    MessagePart,
    parse_message,
    parse_messages,
)
from planproof.readers.toolkit.span import SPAN_KIND_KEY, Span, SpanLogEvent
from planproof.readers.toolkit.tool_calls import parse_arguments

SpanKind: TypeAlias = Literal[
    "tool", "model", "agent", "plan", "handoff", "guardrail", "container", ""
]
"""What a span records; a container is a model call that only wraps others."""

TOOL_NAMES = (
    "tool.name",
    "tool_name",
    "tool_call.function.name",
    "gen_ai.tool.name",
    "ai.toolCall.name",
    "traceloop.entity.name",
    "name",
)
CALL_IDS = ("tool_call_id", "gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id", "tool.id")
_ARGUMENTS_KEY = "gen_ai.tool.call.arguments"
_RESULT_KEY = "gen_ai.tool.call.result"
_GIVEN_KEYS = ("input", "inputs", "mlflow.spanInputs")
_RETURNED_KEYS = ("output", "outputs", "mlflow.spanOutputs")
INPUTS = (
    *_GIVEN_KEYS,
    _ARGUMENTS_KEY,
    "gen_ai.tool.args",
    "tool_arguments",
    "tool.arguments",
    "ai.toolCall.args",
    "gcp.vertex.agent.tool_call_args",
    "input.value",
    "tool_call.function.arguments",
    "traceloop.entity.input",
)
OUTPUTS = (
    *_RETURNED_KEYS,
    _RESULT_KEY,
    "gen_ai.output",
    "tool_response",
    "ai.toolCall.result",
    "gcp.vertex.agent.tool_response",
    "final_result",
    "output.value",
    "traceloop.entity.output",
)
AGENT_NAMES = ("gen_ai.agent.name", "agent.name", "agent_name", "traceloop.entity.name")

_KINDS: dict[str, SpanKind] = {
    "llm": "model",
    "chat": "model",
    "chat_model": "model",
    "call_llm": "model",
    "completion": "model",
    "text_completion": "model",
    "generation": "model",
    "generate_content": "model",
    "tool": "tool",
    "execute_tool": "tool",
    "retriever": "tool",
    "retrieval": "tool",
    "agent": "agent",
    "invoke_agent": "agent",
    "plan": "plan",
    "planning": "plan",
}
# Attributes with the name of a kind. A span with one of these is of no other kind.
_KIND_KEYS = (SPAN_KIND_KEY, "gen_ai.operation.name")
# The kinds of spans without one, by an attribute that only they have.
_KIND_BY_KEY: tuple[tuple[str, SpanKind], ...] = (
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
_OTHER_KIND_KEYS = ("traceloop.span.kind", "mlflow.spanType", "span.type", "type")
_KIND_FIELDS = ("span_kind", "run_type", "span_type", "type")

_ANSWER_KEYS = (
    "gen_ai.output.messages",
    "gen_ai.completion",
    "gen_ai.output",
    "response_data",
    "tool_response",
    "output.value",
    "traceloop.entity.output",
)
_PROMPT_KEYS = ("gen_ai.input.messages", "gen_ai.prompt", "request_data", "ai.prompt.messages")
_FLAT_ANSWERS = (
    FlatMessageKeys("llm.output_messages", ".message", ".tool_call", ".function"),
    FlatMessageKeys("gen_ai.completion"),
)
_FLAT_PROMPTS = (
    FlatMessageKeys("llm.input_messages", ".message", ".tool_call", ".function"),
    FlatMessageKeys("gen_ai.prompt"),
)
_IS_ANSWER_BY_KEY = {
    "gen_ai.input.messages": False,
    "gen_ai.output.messages": True,
    "gen_ai.prompt": False,
    "gen_ai.completion": True,
}
_MESSAGE_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
_TASK_KEYS = ("prompt", "query", "question", "input", "task")
_STEP_NAME = re.compile(r"Step \d{1,6}")


def classify_span(span: Span) -> SpanKind:
    """Return the kind of a span; "" for one that only contains others or is not about an agent."""
    attributes = span.attributes
    if span.is_run and (known := _find_named_kind(span)):
        return known
    for key in _KIND_KEYS:
        kind = attributes.get(key)
        if isinstance(kind, str):
            return _KINDS.get(kind.lower(), "")
    for key, known in _KIND_BY_KEY:
        if key in attributes:
            return known
    return _find_named_kind(span)


def _find_named_kind(span: Span) -> SpanKind:
    kind = text_at(span.attributes, *_OTHER_KIND_KEYS) or text_at(span.value, *_KIND_FIELDS)
    return _KINDS.get((kind or "").strip('"').lower(), "")


def parse_answer(span: Span) -> Iterator[MessagePart]:
    """Yield the parts of what a model said in a span."""
    returned = span.find_key(_RETURNED_KEYS)
    parts = list(_parse_key(span, returned)) or _parse_separate(span, _FLAT_ANSWERS, answers=True)
    yield from parts
    if parts:
        return
    for key in (span.find_key(_ANSWER_KEYS), "ai.response.text"):
        yield from _parse_key(span, key)
    calls = span.attributes.get("ai.response.toolCalls")
    if calls is not None:
        yield from parse_messages({"tool_calls": calls}, span.pointer_to("ai.response.toolCalls"))


def parse_prompt(span: Span, unanswered: Container[str]) -> Iterator[MessagePart]:
    """Yield the parts of what a model was given in a span, without its own earlier messages.

    `unanswered` are the ids of calls without a result; other results need not be read.
    """
    given = span.find_key(_GIVEN_KEYS)
    parts = [part for part in _parse_key(span, given, unanswered) if part.role]
    if not parts:
        parts = list(_parse_system(span))
        separate = _parse_separate(span, _FLAT_PROMPTS, answers=False)
        key = span.find_key(_PROMPT_KEYS)
        parts += separate or _parse_key(span, key, unanswered)
    if not parts and given is not None:
        task = get_task(span.attributes[given])
        parts = [MessagePart("text", "user", task, span.pointer_to(given))] if task else []
    yield from parts


def _parse_key(
    span: Span, key: str | None, unanswered: Container[str] | None = None
) -> Iterator[MessagePart]:
    """Yield the parts of the messages under a key, which are a prompt if `unanswered` is given."""
    is_prompt = unanswered is not None
    value = span.attributes.get(key) if key is not None else None
    if key is None or value is None:
        return
    pointer = span.pointer_to(key)
    if is_object(value) and is_list(value.get("contents")):
        value, pointer = value["contents"], f"{pointer}/contents"
    # Typed values of OTLP and JSON inside a text have no pointers to their items.
    is_text = isinstance(span.value.get(key, span.value.get(f"{key}s")), str)
    if is_text or is_list(span.raw) or not is_list(value):
        yield from parse_messages(value, span.pointer_to(key), skip_agent=is_prompt)
        return
    for index, message in enumerate(value):
        role = message.get("role") if is_object(message) else None
        # A prompt repeats the messages before it: nothing else is read as often.
        if not isinstance(role, str):
            yield from parse_messages(message, f"{pointer}/{index}", skip_agent=is_prompt)
        elif unanswered is None or not _is_known(message, role, unanswered):
            yield from parse_message(message, f"{pointer}/{index}")


def _is_known(message: dict[str, Json], role: str, unanswered: Container[str]) -> bool:
    call_id = message.get("tool_call_id")
    return role in AGENT_ROLES or (isinstance(call_id, str) and call_id not in unanswered)


def _parse_system(span: Span) -> Iterator[MessagePart]:
    system = span.attributes.get("gen_ai.system_instructions")
    if system is not None:
        content = (parse_embedded_json(system) or system) if isinstance(system, str) else system
        pointer = span.pointer_to("gen_ai.system_instructions")
        yield from parse_message({"role": "system", "content": content}, pointer)


def _parse_separate(
    span: Span, flat: Iterable[FlatMessageKeys], *, answers: bool
) -> list[MessagePart]:
    """Return messages recorded one by one: as events, or else under attributes of their own."""
    noted = [part for part, is_answer in _parse_event_messages(span) if is_answer is answers]
    return noted or [part for keys in flat for part in keys.parse_messages(span)]


def _parse_event_messages(span: Span) -> Iterator[tuple[MessagePart, bool]]:
    """Yield the messages in events of a span or in its attribute, with True for a model answer."""
    for event in span.iter_events():
        yield from _parse_event(event)
    listed = span.attributes.get("events")
    events = parse_embedded_json(listed) if isinstance(listed, str) else listed
    for event in events if is_list(events) else []:
        if is_object(event):
            name = text_at(event, "event.name") or ""
            yield from _parse_event(SpanLogEvent(name, span.pointer_to("events"), event))


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


def merge_tool_events(span: Span) -> None:
    """Add a tool's arguments and result as attributes if only events have them."""
    if classify_span(span) != "tool":
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


def get_task(given: Json) -> str | None:
    """Return the task in the input of a run that is not a list of messages."""
    if isinstance(given, str):
        return given.strip() or None
    if not is_object(given):
        return None
    parts = [part for part in parse_messages(given, "", skip_agent=True) if part.role == "user"]
    if not parts and is_object(given.get("new_message")):
        parts = list(parse_messages(given["new_message"], ""))
    return next((part.text for part in parts if part.text), None) or text_at(given, *_TASK_KEYS)


def parse_agent_task(span: Span) -> MessagePart | None:
    """Return the task of an agent, as smolagents records it."""
    arguments, _ = parse_arguments(span.attributes.get("input.value"))
    task = text_at(arguments, "task") if is_object(arguments) else None
    return MessagePart("text", "user", task, span.pointer_to("input.value")) if task else None


def find_step(span: Span) -> Span | None:
    """Return the span around a model call of smolagents that has the result of the answer."""
    above = span.parent
    return above if above is not None and _STEP_NAME.fullmatch(above.name) else None


def find_planning_calls(spans: Iterable[Span]) -> dict[int, Kind]:
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
            continue
        span.kind = span.kind or classify_span(span)
        if span.kind == "model":
            between.setdefault(id(span.parent), []).append(span)
    return kinds
