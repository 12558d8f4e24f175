"""Read Inspect AI logs: one sample, or a list of messages in Inspect's format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from planproof.core.content import Json
from planproof.core.json_values import format_value, is_list, is_object, parse_time, text_at
from planproof.core.pointer import escape
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.chat_dialects import is_inspect_message
from planproof.readers.toolkit.content_parts import ContentPart, extract_text, parse_parts
from planproof.readers.toolkit.entries import iter_entries, take_first_entries
from planproof.readers.toolkit.tool_calls import ToolCall
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder

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
        messages = InspectMessages(builder, sample.get("attachments"))
        if not add_sample_events(builder, messages, sample):
            for pointer, message in iter_entries(source, _LIST_KEYS):
                if _is_message(message):
                    messages.add_message(message, pointer, message["role"])
                else:
                    builder.skip(pointer, "not a message")
        return builder.build(self.name)


def _is_sample(document: Json) -> bool:
    return (
        is_object(document)
        and document.keys() >= _SAMPLE_KEYS
        and (is_list(document.get("messages")) or is_list(document.get("events")))
    )


def _is_message(message: Json) -> TypeGuard[dict[str, Json]]:
    role = message.get("role") if is_object(message) else None
    return isinstance(role, str) and role in _ROLES


_ATTACHMENT_PREFIX = "attachment://"
_MAX_ATTACHMENT_DEPTH = 20


class InspectMessages:
    """Adds messages, in order, to a trace builder."""

    def __init__(self, builder: TraceBuilder, attachments: Json) -> None:
        self._builder = builder
        self._attachments: dict[str, Json] = attachments if is_object(attachments) else {}
        self._call_by_id: dict[str, EventDraft] = {}
        self._answered_ids: set[str] = set()

    def add_message(self, message: dict[str, Json], pointer: str, role: Json) -> None:
        """Add one message with the given role."""
        if role == "assistant":
            self.add_answer(message, pointer)
        elif role == "tool":
            self.add_result(message, pointer, "content", text_at(message, "tool_call_id"))
        else:
            self._builder.begin_turn()
            kind, actor = (Kind.MESSAGE, "user") if role == "user" else (Kind.SYSTEM, "system")
            parts, images = parse_parts(message.get("content"), f"{pointer}/content")
            for part in parts:
                text, part_pointer = self._resolve_attachment(part.value, part.pointer)
                draft = self._builder.add_message(kind, text, part_pointer, actor)
                if draft is not None:
                    draft.images, images = images, ()

    def add_answer(self, message: dict[str, Json], pointer: str) -> None:
        """Add an answer of the model: its reasoning, text and calls."""
        self._builder.begin_turn()
        calls = message.get("tool_calls")
        calls = calls if is_list(calls) else []
        # Text in an answer that makes calls is reasoning.
        text_kind = Kind.REASONING if calls else Kind.MESSAGE
        for part in parse_parts(message.get("content"), f"{pointer}/content")[0]:
            self._add_part(part, text_kind)
        for index, value in enumerate(calls):
            self.add_call(value, f"{pointer}/tool_calls/{index}")

    def add_call(self, value: Json, pointer: str) -> EventDraft | None:
        """Add a function call; return None if it has no name."""
        name = text_at(value, "function", "name") if is_object(value) else None
        if name is None:
            self._builder.skip(pointer, "tool call without a name")
            return None
        arguments = value.get("arguments")
        whole = self._fill_attachments(arguments, _MAX_ATTACHMENT_DEPTH)
        if whole is not arguments:
            pointer = ""  # only the whole document contains both the call and its attachments
        text = whole if isinstance(whole, str) else ""
        identity = text_at(value, "id")
        draft = self._builder.add_call(
            ToolCall(name, None if text else whole, text, identity), pointer, "assistant"
        )
        if identity is not None:
            self._call_by_id[identity] = draft
        return draft

    def get_call(self, identity: str | None) -> EventDraft | None:
        """Return the call with this id, or None if it has not been added."""
        return self._call_by_id.get(identity or "")

    def add_result(
        self, value: dict[str, Json], pointer: str, key: str, identity: str | None
    ) -> None:
        """Attach the result under `key` to its call, once: logs repeat results."""
        if identity is not None:
            if identity in self._answered_ids:
                return
            self._answered_ids.add(identity)
        raw, result_pointer = value.get(key), f"{pointer}/{key}"
        error = value.get("error")
        status = EventStatus.ERROR if error else None
        if is_object(error) and not raw:
            raw, result_pointer = error.get("message"), f"{pointer}/error/message"
        if is_list(raw):
            text, result_pointer, images = extract_text(raw, result_pointer)
        else:
            text, images = format_value(raw), ()
        text, result_pointer = self._resolve_attachment(text, result_pointer)
        name = text_at(value, "function")
        self._builder.add_result(
            ToolResult(
                text, result_pointer, identity, name, actor="tool", status=status, images=images
            )
        )

    def _add_part(self, part: ContentPart, text_kind: Kind) -> None:
        if part.kind in ("text", "thought"):
            kind = Kind.REASONING if part.kind == "thought" else text_kind
            text, text_pointer = self._resolve_attachment(part.value, part.pointer)
            self._builder.add_message(kind, text, text_pointer, "assistant")
        elif part.kind == "call":
            # A tool run by the provider: call and result are one part.
            if self.add_call(part.value, part.pointer) is not None and "result" in part.value:
                identity = text_at(part.value, "id")
                self.add_result(part.value, part.pointer, "result", identity)
        else:
            self._builder.skip(part.pointer, str(part.value))

    def _resolve_attachment(self, text: str, pointer: str) -> tuple[str, str]:
        if text.startswith(_ATTACHMENT_PREFIX):
            key = text[len(_ATTACHMENT_PREFIX) :]
            attachment = self._attachments.get(key)
            if isinstance(attachment, str):
                return attachment, f"/attachments/{escape(key)}"
        return text, pointer

    def _fill_attachments(self, value: Json, depth: int) -> Json:
        """Replace references to attachments; return the same object if there are none."""
        if isinstance(value, str):
            return self._resolve_attachment(value, "")[0]
        if depth and is_object(value):
            filled = {key: self._fill_attachments(item, depth - 1) for key, item in value.items()}
            return value if all(filled[key] is value[key] for key in value) else filled
        if depth and is_list(value):
            items = [self._fill_attachments(item, depth - 1) for item in value]
            same = all(new is old for new, old in zip(items, value, strict=True))
            return value if same else items
        return value


_SCORING_TYPES = frozenset(("scorer", "scorers"))
_MAX_DEPTH = 40
_NOTICE_KEYS = {"error": "error", "sample_limit": "message", "input": "input"}


def add_sample_events(
    builder: TraceBuilder, messages: InspectMessages, sample: dict[str, Json]
) -> bool:
    """Add the events of a sample; return False if none of them is a model answer."""
    events = sample.get("events")
    if not is_list(events) or not any(_is_answer(event) for event in events):
        return False
    _SampleWalk(builder, messages, sample).add_events(events, "/events", None, _MAX_DEPTH)
    return True


def _is_answer(event: Json) -> bool:
    return is_object(event) and event.get("event") in ("model", "subtask")


class _SampleWalk:
    """A walk through the events of one sample, in order."""

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
                role = "system"  # a sub-agent's prompt does not come from the user
            self._messages.add_message(message, message_pointer, role)
        output = event.get("output")
        choices = output.get("choices") if is_object(output) else None
        first = choices[0] if is_list(choices) and choices else None
        message = first.get("message") if is_object(first) else None
        if is_object(message):
            self._messages.add_answer(message, f"{pointer}/output/choices/0/message")
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
