"""Read Inspect AI logs: one sample, or a list of messages in Inspect's format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_time, text_at
from planproof.core.pointer import escape
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.chat_dialects import is_inspect_message
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.entries import iter_entries, take_first_entries
from planproof.readers.toolkit.tool_calls import parse_call
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

_LIST_KEYS = ("messages",)
_ROLES = frozenset(("system", "user", "assistant", "tool"))
_SAMPLE_KEYS = frozenset(("id", "epoch", "input"))


class InspectReader:
    """Reads samples of Inspect logs: their events, or their messages if there are no events."""

    name = "inspect-ai"

    def sniff(self, source: Source) -> bool:
        """Return whether this is a sample, or a list of messages with Inspect's fields."""
        if _is_sample(source.document):
            return True
        marked = False
        for message in take_first_entries(source, _LIST_KEYS):
            if not _is_message(message):
                return False
            marked = marked or is_inspect_message(message)
            if not marked and message.get("tool_calls"):
                # A call in another format: the remaining messages need no check.
                return False
        return marked

    def read(self, source: Source) -> Trace:
        """Return the events of the sample."""
        builder = TraceBuilder(source.skipped)
        sample = source.document if is_object(source.document) else {}
        walk = _SampleWalk(builder, sample)
        events = sample.get("events")
        if is_list(events) and any(map(_is_answer, events)):
            walk.add_events(events, "/events", None, _MAX_DEPTH)
        else:
            for pointer, message in iter_entries(source, _LIST_KEYS):
                if _is_message(message):
                    walk.add_message(message, pointer)
                else:
                    builder.skip(pointer, "not a message")
        attachments = sample.get("attachments")
        if is_object(attachments):
            for draft in builder.drafts:
                _fill_draft(draft, attachments)
        return builder.build(self.name)


def _is_sample(document: Json) -> bool:
    return (
        is_object(document)
        and document.keys() >= _SAMPLE_KEYS
        and (is_list(document.get("messages")) or is_list(document.get("events")))
    )


def _is_answer(event: Json) -> bool:
    return is_object(event) and event.get("event") in ("model", "subtask")


def _is_message(message: Json) -> TypeGuard[dict[str, Json]]:
    role = message.get("role") if is_object(message) else None
    return isinstance(role, str) and role in _ROLES


_ATTACHMENT_PREFIX = "attachment://"
_MAX_ATTACHMENT_DEPTH = 20


def _fill_draft(draft: EventDraft, attachments: dict[str, Json]) -> None:
    """Replace references to attachments, which hold the long texts of a sample."""
    key = _get_key(draft.text, attachments)
    if key is not None:
        draft.text, draft.pointer = attachments[key], f"/attachments/{escape(key)}"
    key = _get_key(draft.output, attachments)
    if key is not None:
        status = EventStatus.ERROR if draft.status is EventStatus.ERROR else None
        draft.set_output(attachments[key], f"/attachments/{escape(key)}", status)
    filled = _fill_value(draft.arguments, attachments, _MAX_ATTACHMENT_DEPTH)
    if filled != draft.arguments:
        # Only the whole document contains both the call and its attachments.
        draft.arguments, draft.pointer = filled, ""


def _get_key(text: str, attachments: dict[str, Json]) -> str | None:
    key = text.removeprefix(_ATTACHMENT_PREFIX)
    return key if key != text and isinstance(attachments.get(key), str) else None


def _fill_value(value: Json, attachments: dict[str, Json], depth: int) -> Json:
    if isinstance(value, str):
        key = _get_key(value, attachments)
        return value if key is None else attachments[key]
    if depth and is_object(value):
        return {key: _fill_value(item, attachments, depth - 1) for key, item in value.items()}
    if depth and is_list(value):
        return [_fill_value(item, attachments, depth - 1) for item in value]
    return value


_SCORING_TYPES = frozenset(("scorer", "scorers"))
_MAX_DEPTH = 40
_NOTICE_KEYS = {"error": "error", "sample_limit": "message", "input": "input"}


class _SampleWalk:
    """A walk through the events of one sample, in order."""

    def __init__(self, builder: TraceBuilder, sample: dict[str, Json]) -> None:
        self._builder = builder
        self._conversation = Conversation(builder)
        self._call_by_id: dict[str, EventDraft] = {}
        self._answered_ids: set[str] = set()
        data = sample.get("events_data")
        pool = data.get("messages") if is_object(data) else None
        self._message_pool: list[Json] = pool if is_list(pool) else []
        self._seen_messages: set[str] = set()
        self._parent_span: dict[str, str | None] = {}
        self._call_by_span: dict[str, EventDraft | None] = {}
        self._tool_spans: dict[tuple[str | None, str], list[str]] = {}
        self._handoff_spans: set[str] = set()
        self._scoring_depth = 0

    def add_message(self, message: dict[str, Json], pointer: str) -> None:
        """Add one message."""
        if message.get("role") == "tool":
            self._add_result(message, pointer, text_at(message, "tool_call_id"))
            return
        before = len(self._builder.drafts)
        self._conversation.add_message(message, pointer)
        calls = message.get("tool_calls")
        named = [call for call in calls if parse_call(call)] if is_list(calls) else []
        drafts = [d for d in self._builder.drafts[before:] if d.kind is Kind.ACTION]
        for call, draft in zip(reversed(named), reversed(drafts), strict=False):
            self._call_by_id[text_at(call, "id") or ""] = draft

    def _add_result(self, value: dict[str, Json], pointer: str, identity: str | None) -> None:
        """Attach a result to its call, once: logs repeat results."""
        if identity is None or identity not in self._answered_ids:
            self._answered_ids.add(identity or "")
            self._conversation.add_result(value, pointer)

    def add_events(
        self, events: list[Json], pointer: str, parent: EventDraft | None, depth: int
    ) -> None:
        """Add a list of events; events inside a tool call may be in a nested list."""
        for index, event in enumerate(events):
            event_pointer = f"{pointer}/{index}"
            if not is_object(event):
                self._builder.skip(event_pointer, "not an event")
                continue
            event_type = text_at(event, "event")
            self._builder.time = parse_time(event.get("timestamp"))
            self._builder.parent = parent or self._find_parent(text_at(event, "span_id"))
            if event_type in ("span_begin", "span_end", "step"):
                self._track_span(event_type, event)
            elif self._scoring_depth:
                continue  # scoring is not part of the agent's run
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
                # Without an id, the index in the prompt distinguishes repeated messages.
                key = text_at(message, "id") or f"{message_pointer.rpartition('/')[2]} {message}"
                if key in self._seen_messages:
                    continue
                self._seen_messages.add(key)
            if role == "user" and self._builder.parent is not None:
                # A sub-agent's prompt does not come from the user.
                message = {**message, "role": "system"}  # noqa: PLW2901 - as it is read
            self.add_message(message, message_pointer)
        output = event.get("output")
        choices = output.get("choices") if is_object(output) else None
        first = choices[0] if is_list(choices) and choices else None
        message = first.get("message") if is_object(first) else None
        if is_object(message):
            answer = {**message, "role": "assistant"}
            self.add_message(answer, f"{pointer}/output/choices/0/message")
        elif not event.get("pending"):
            self._builder.skip(pointer, "model call without an answer")

    def _find_new_messages(
        self, event: dict[str, Json], pointer: str
    ) -> list[tuple[str, dict[str, Json]]]:
        """Return the new messages of a prompt: those after the last answer in it."""
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
        draft = self._call_by_id.get(identity or "")
        if draft is None:
            call = parse_call({**event, "type": None})
            if call is None:
                self._builder.skip(pointer, "tool call without a name")
                return None
            self._builder.begin_turn()
            draft = self._builder.add_call(call, pointer, "assistant")
        self._add_result(event, pointer, identity)
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
                # A hand-off adds a span between the agent and the tool.
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
