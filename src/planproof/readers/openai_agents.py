"""Read the traces and spans that the OpenAI Agents SDK exports."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from planproof.core.content import Json
from planproof.core.json_values import format_value, is_list, is_object, parse_time, text_at
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.entries import SNIFF_LIMIT, iter_flat_entries, iter_items
from planproof.readers.toolkit.handoffs import Handoffs, get_receiver
from planproof.readers.toolkit.repeated_prompts import PromptHistory
from planproof.readers.toolkit.response_items import ResponseItems
from planproof.readers.toolkit.span import Span, build_span_tree
from planproof.readers.toolkit.span_reading import skip_unread_spans
from planproof.readers.toolkit.tool_calls import ToolCall, parse_arguments
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

_LIST_KEYS = ("data", "spans", "items")
_OBJECT_TYPES = ("trace", "trace.span")
# Spans that only contain others.
_WRAPPER_TYPES = frozenset(("agent", "task", "turn", "speech_group"))
_PLAN_NAMES = frozenset(("plan", "planning"))


class OpenAIAgentsReader:
    """Reads exported traces of the OpenAI Agents SDK: model calls, tool calls and hand-offs."""

    name = "openai-agents"

    def sniff(self, source: Source) -> bool:
        """Return whether the source is a list of the SDK's traces and spans."""
        has_span = False
        for _, value in islice(_iter_records(source), SNIFF_LIMIT):
            if not is_object(value) or not _is_export_record(value):
                return False
            has_span = has_span or is_object(value.get("span_data"))
        return has_span

    def read(self, source: Source) -> Trace:
        """Return the events ordered by span start; spans are exported when they end."""
        builder = TraceBuilder(source.skipped)
        spans: list[tuple[str, Json]] = []
        for pointer, value in _iter_records(source):
            if is_object(value) and is_object(value.get("span_data")):
                spans.append((pointer, value))
            else:
                is_trace = is_object(value) and value.get("object") == "trace"
                builder.skip(pointer, "metadata of the trace" if is_trace else "not a span")
        writer = _AgentSpanWriter(builder)
        tree = build_span_tree(spans, builder.skip)
        for span in tree:
            writer.add_span(span)
        skip_unread_spans(builder, tree)
        return builder.build(self.name)


@dataclass(slots=True)
class _AgentState:
    """The state of an agent: its model's pending calls, and the pointer to its last answer."""

    pending_calls: dict[str, deque[EventDraft]] = field(
        default_factory=dict[str, "deque[EventDraft]"]
    )
    last_answer: str | None = None


class _AgentSpanWriter:
    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._conversation = Conversation(builder)
        self._items = ResponseItems(builder, self._conversation)
        self._handoffs = Handoffs()
        self._prompt_history = PromptHistory()
        self._states: dict[int, _AgentState] = {}

    def add_span(self, span: Span) -> None:
        """Add the events of a span; its parent must have been added before."""
        data = span.value.get("span_data")
        span.attributes, span.attributes_pointer = (
            data if is_object(data) else {},
            f"{span.pointer}/span_data",
        )
        span.kind = text_at(span.attributes, "type") or ""
        if span.parent is not None:
            span.agent, span.enclosing_action = span.parent.agent, span.parent.enclosing_action
        if span.kind == "agent":
            span.agent = span
        name = text_at(span.agent.attributes, "name") if span.agent is not None else None
        self._conversation.speaker = name or "assistant"
        self._builder.time = parse_time(span.value.get("started_at"))
        self._builder.parent = span.enclosing_action
        if span.enclosing_action is None and name is not None:
            self._builder.parent = self._handoffs.find_parent_call(name)
        self._add_by_type(span, self._states.setdefault(id(span.agent), _AgentState()))
        self._builder.parent = None

    def _add_by_type(self, span: Span, state: _AgentState) -> None:
        if span.kind in ("generation", "response"):
            self._add_model_call(span, state)
        elif span.kind == "function":
            self._add_tool_call(span, state)
        elif span.kind == "handoff":
            self._add_handoff(span, state)
        elif span.kind == "guardrail":
            self._add_guardrail(span)
        elif span.kind == "custom":
            self._add_custom_span(span)
        elif span.kind not in _WRAPPER_TYPES:
            self._builder.skip(span.pointer, f"unknown span type {span.kind!r}")

    def _add_guardrail(self, span: Span) -> None:
        self._builder.begin_turn()
        name = text_at(span.attributes, "name") or ""
        draft = self._builder.add_message(
            Kind.SYSTEM, name, f"{span.attributes_pointer}/name", "guardrail"
        )
        if draft is not None:
            triggered = span.attributes.get("triggered") is True
            draft.status = EventStatus.ERROR if triggered else EventStatus.OK

    def _add_model_call(self, span: Span, state: _AgentState) -> None:
        state.pending_calls, state.last_answer = {}, span.pointer
        self._add_prompt(span)
        self._items.end_turn()
        before = len(self._builder.drafts)
        has_answer = False
        for message_pointer, message in _iter_answers(span):
            has_answer = True
            self._prompt_history.remember(message)
            if not is_object(message) or not self._add_message(
                message, message_pointer, span.pointer
            ):
                self._builder.skip(message_pointer, "neither a message nor an item")
        if not has_answer:
            self._add_model_error(span)
        for draft in self._builder.drafts[before:]:
            if draft.kind is Kind.ACTION and draft.name is not None:
                state.pending_calls.setdefault(draft.name, deque()).append(draft)

    def _add_prompt(self, span: Span) -> None:
        before = len(self._builder.drafts)
        prompt = span.attributes.get("input")
        if isinstance(prompt, str):
            self._prompt_history.add_text(prompt, f"{span.attributes_pointer}/input", self._builder)
        for message_pointer, message in self._prompt_history.iter_new(
            iter_items(prompt, f"{span.attributes_pointer}/input")
        ):
            # The tool's own span may have recorded the result already.
            if is_object(message) and not self._builder.is_answered(
                text_at(message, "tool_call_id", "call_id")
            ):
                self._add_message(message, message_pointer)
        if self._builder.parent is not None:
            for draft in self._builder.drafts[before:]:
                # A sub-agent's prompt comes from an agent, not from the user.
                if draft.actor == "user":
                    draft.kind, draft.actor = Kind.SYSTEM, "system"

    def _add_message(self, message: dict[str, Json], pointer: str, turn: str | None = None) -> bool:
        if "type" in message:
            return self._items.add_item(message, pointer)
        if not isinstance(message.get("role"), str):
            return False
        self._conversation.add_message(message, pointer, turn)
        return True

    def _add_model_error(self, span: Span) -> None:
        error = span.value.get("error")
        if is_object(error) and text_at(error, "message"):
            self._builder.begin_turn()
            error_pointer = f"{span.pointer}/error/message"
            self._builder.add_message(Kind.SYSTEM, error["message"], error_pointer, "system")
        else:
            self._builder.skip(span.pointer, "model output not in the export")

    def _add_tool_call(self, span: Span, state: _AgentState) -> None:
        name = text_at(span.attributes, "name") or "function"
        arguments, text = parse_arguments(span.attributes.get("input"))
        draft = self._take_pending_call(state, name, arguments)
        if draft is None:
            draft = self._add_own_call(span, state, ToolCall(name, arguments, text))
        elif arguments is not None or text:
            draft.pointer, draft.arguments, draft.text = span.attributes_pointer, arguments, text
        span.enclosing_action = draft
        self._set_outcome(span, draft)

    def _add_handoff(self, span: Span, state: _AgentState) -> None:
        receiver = text_at(span.attributes, "to_agent")
        names = [
            name for name, calls in state.pending_calls.items() if calls and get_receiver(calls[0])
        ]
        draft = self._take_pending_call(state, names[0], None) if names else None
        if draft is None:
            arguments = {k: v for k, v in span.attributes.items() if k != "type" and v is not None}
            draft = self._add_own_call(span, state, ToolCall("handoff", arguments))
        if receiver is not None:
            self._handoffs.record_handoff(draft, receiver)
        span.enclosing_action = draft
        self._set_outcome(span, draft)

    def _add_own_call(self, span: Span, state: _AgentState, call: ToolCall) -> EventDraft:
        """Add a call that only its own span records, to the turn of the last answer."""
        self._builder.begin_turn(state.last_answer)
        return self._builder.add_call(call, span.attributes_pointer, self._conversation.speaker)

    def _take_pending_call(
        self, state: _AgentState, name: str, arguments: Json
    ) -> EventDraft | None:
        """Take the model's call that a tool was run for: both are one action."""
        waiting = state.pending_calls.get(name)
        if not waiting:
            return None
        alike = (draft for draft in islice(waiting, SNIFF_LIMIT) if draft.arguments == arguments)
        draft = next(alike, waiting[0])
        waiting.remove(draft)
        return draft

    def _set_outcome(self, span: Span, draft: EventDraft) -> None:
        output, error = span.attributes.get("output"), span.value.get("error")
        failed = EventStatus.ERROR if error else None
        if output is not None:
            draft.set_output(format_value(output), f"{span.attributes_pointer}/output", failed)
        elif is_object(error) and text_at(error, "message"):
            draft.set_output(error["message"], f"{span.pointer}/error/message", failed)
        elif failed is not None or span.value.get("ended_at"):
            draft.status = failed or EventStatus.OK

    def _add_custom_span(self, span: Span) -> None:
        data = span.attributes.get("data")
        if is_object(data) and text_at(data, "sdk_span_type") in _WRAPPER_TYPES:
            return
        name = text_at(span.attributes, "name") or ""
        if name.lower() in _PLAN_NAMES and data:
            self._builder.begin_turn()
            self._builder.add_plan(
                format_value(data), f"{span.attributes_pointer}/data", self._conversation.speaker
            )
        else:
            self._builder.skip(span.pointer, "custom span of the application")


def _is_export_record(value: dict[str, Json]) -> bool:
    return text_at(value, "object") in _OBJECT_TYPES


def _iter_records(source: Source) -> Iterator[tuple[str, Json]]:
    # A line may be a batch of spans.
    return iter_flat_entries(source, _LIST_KEYS, _is_export_record)


def _iter_answers(span: Span) -> Iterator[tuple[str, Json]]:
    output, output_pointer = span.attributes.get("output"), f"{span.attributes_pointer}/output"
    response = span.attributes.get("response")
    if is_object(response):
        output, output_pointer = (
            response.get("output"),
            f"{span.attributes_pointer}/response/output",
        )
    for where, value in iter_items(output, output_pointer):
        if is_object(value) and is_list(value.get("output")) and "type" not in value:
            # A streamed answer is stored as a whole response.
            yield from iter_items(value["output"], f"{where}/output")
        else:
            yield where, value
