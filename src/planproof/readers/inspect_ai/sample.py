"""The events of a sample: answers of the model, tools at work, and spans around sub-agents.

The messages of a sample are what its last agent had before it: calls of sub-agents are missing
there, or rewritten as text, and so is the call that submitted the answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_time, text_at
from planproof.core.trace import Kind
from planproof.readers.inspect_ai.messages import InspectMessages
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

_SCORING_TYPES = frozenset(("scorer", "scorers"))
_MAX_DEPTH = 40
_NOTICE_KEYS = {"error": "error", "sample_limit": "message", "input": "input"}


def add_sample_events(
    builder: TraceBuilder, messages: InspectMessages, sample: dict[str, Json]
) -> bool:
    """Write the events of a sample; False when no answer of a model is among them."""
    events = sample.get("events")
    if not is_list(events) or not any(_is_answer(event) for event in events):
        return False
    _SampleWalk(builder, messages, sample).add_events(events, "/events", None, _MAX_DEPTH)
    return True


def _is_answer(event: Json) -> bool:
    return is_object(event) and event.get("event") in ("model", "subtask")


class _SampleWalk:
    """One walk through the events of one sample."""

    def __init__(
        self, builder: TraceBuilder, messages: InspectMessages, sample: dict[str, Json]
    ) -> None:
        self._builder = builder
        self._messages = messages
        data = sample.get("events_data")
        pool = data.get("messages") if is_object(data) else None
        self._message_pool: list[Json] = pool if is_list(pool) else []
        self._seen_messages: set[str] = set()
        self._parent_span: dict[str, str | None] = {}
        self._call_by_span: dict[str, EventDraft | None] = {}
        self._tool_spans: dict[tuple[str | None, str], list[str]] = {}
        self._handoff_spans: set[str] = set()
        self._scoring_depth = 0

    def add_events(
        self, events: list[Json], pointer: str, parent: EventDraft | None, depth: int
    ) -> None:
        """Write a list of events; what a tool did inside may stand in a list of its own."""
        for index, event in enumerate(events):
            event_pointer = f"{pointer}/{index}"
            if not is_object(event):
                self._builder.skip(event_pointer, "is no event")
                continue
            event_type = text_at(event, "event")
            moment = event.get("timestamp")
            self._builder.time = parse_time(moment) if moment is not None else None
            self._builder.parent = parent or self._find_parent(text_at(event, "span_id"))
            if event_type in ("span_begin", "span_end", "step"):
                self._track_span(event_type, event)
            elif self._scoring_depth:
                continue  # what grades the sample is not the agent
            elif event_type == "model":
                self._add_model_call(event, event_pointer)
            elif event_type in ("tool", "subtask"):
                inner = (
                    self._add_tool_call(event, event_pointer) if event_type == "tool" else parent
                )
                nested = event.get("events")
                if is_list(nested) and nested and depth:
                    self.add_events(nested, f"{event_pointer}/events", inner, depth - 1)
            elif event_type in _NOTICE_KEYS:
                self._add_notice(event, _NOTICE_KEYS[event_type], event_pointer)
        self._builder.parent = None

    def _add_model_call(self, event: dict[str, Json], pointer: str) -> None:
        for message_pointer, message in self._find_new_messages(event, pointer):
            role = message.get("role")
            if role != "tool":
                # Without an id, the place in the prompt tells repeated words apart.
                key = text_at(message, "id") or f"{message_pointer.rpartition('/')[2]} {message}"
                if key in self._seen_messages:
                    continue
                self._seen_messages.add(key)
            if role == "user" and self._builder.parent is not None:
                role = "system"  # what a sub-agent is asked, no user has asked
            self._messages.add_message(message, message_pointer, role)
        output = event.get("output")
        choices = output.get("choices") if is_object(output) else None
        first = choices[0] if is_list(choices) and choices else None
        message = first.get("message") if is_object(first) else None
        if is_object(message):
            self._messages.add_answer(message, f"{pointer}/output/choices/0/message")
        elif not event.get("pending"):
            self._builder.skip(pointer, "a model call that gave no answer")

    def _find_new_messages(
        self, event: dict[str, Json], pointer: str
    ) -> list[tuple[str, dict[str, Json]]]:
        """What is new in the prompt: that which follows the last answer in it."""
        messages: list[tuple[str, dict[str, Json]]] = []
        for message_pointer, message in self._iter_prompt_backwards(event, pointer):
            if not is_object(message) or message.get("role") == "assistant":
                break
            messages.append((message_pointer, message))
        return messages[::-1]

    def _iter_prompt_backwards(
        self, event: dict[str, Json], pointer: str
    ) -> Iterator[tuple[str, Json]]:
        prompt = event.get("input")
        if is_list(prompt):
            for index in range(len(prompt) - 1, -1, -1):
                yield f"{pointer}/input/{index}", prompt[index]
        ranges = event.get("input_refs")
        for span in reversed(ranges) if is_list(ranges) else ():
            first, end = span if is_list(span) and len(span) == 2 else (0, 0)
            if isinstance(first, int) and isinstance(end, int):
                for index in range(min(end, len(self._message_pool)) - 1, max(first, 0) - 1, -1):
                    yield f"/events_data/messages/{index}", self._message_pool[index]

    def _add_tool_call(self, event: dict[str, Json], pointer: str) -> EventDraft | None:
        identity = text_at(event, "id")
        draft = self._messages.get_call(identity)
        if draft is None:
            self._builder.begin_turn()
            draft = self._messages.add_call(event, pointer)
        if draft is None:
            return None
        self._messages.add_result(event, pointer, "result", identity)
        waiting = self._tool_spans.get((text_at(event, "span_id"), draft.name or ""))
        if waiting:
            self._call_by_span[waiting.pop(0)] = draft
        own = text_at(event, "agent_span_id")
        if own is not None:
            self._call_by_span[own] = draft
        return draft

    def _track_span(self, event_type: str, event: dict[str, Json]) -> None:
        kind = text_at(event, "type") or ""
        identity = text_at(event, "id")
        if event_type == "step":
            if kind in _SCORING_TYPES:
                self._scoring_depth += 1 if event.get("action") == "begin" else -1
        elif event_type == "span_begin" and identity is not None:
            above = text_at(event, "parent_id")
            self._parent_span[identity] = above
            if kind in _SCORING_TYPES:
                self._scoring_depth += 1
                self._call_by_span[identity] = None
            elif kind == "tool":
                # A hand-off puts a span of its own between the agent and the tool.
                caller = self._parent_span[above] if above in self._handoff_spans else above
                key = (caller, text_at(event, "name") or "")
                self._tool_spans.setdefault(key, []).append(identity)
            elif kind == "handoff":
                self._handoff_spans.add(identity)
        elif identity in self._call_by_span and self._call_by_span[identity] is None:
            self._scoring_depth -= 1

    def _find_parent(self, span: str | None) -> EventDraft | None:
        for _ in range(_MAX_DEPTH):
            if span is None:
                break
            owner = self._call_by_span.get(span)
            if owner is not None:
                return owner
            span = self._parent_span.get(span)
        return None

    def _add_notice(self, event: dict[str, Json], key: str, pointer: str) -> None:
        value, text_pointer = event.get(key), f"{pointer}/{key}"
        if is_object(value):
            value, text_pointer = value.get("message"), f"{text_pointer}/message"
        if isinstance(value, str):
            said = (Kind.MESSAGE, "user") if key == "input" else (Kind.SYSTEM, "system")
            self._builder.begin_turn()
            self._builder.add_message(said[0], value, text_pointer, said[1])
