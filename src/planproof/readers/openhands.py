"""Read OpenHands event lists, of the first generation and of the agent SDK."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from planproof.core.content import Image, Json
from planproof.core.json_values import (
    format_value,
    is_list,
    is_object,
    key_with_text,
    parse_time,
    text_at,
)
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.content_parts import extract_text, parse_image, parse_parts
from planproof.readers.toolkit.entries import SNIFF_LIMIT, iter_flat_entries, key_pointer
from planproof.readers.toolkit.tool_calls import ToolCall, parse_arguments
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder

_LIST_KEYS = ("history", "trajectory", "events", "items")


class OpenHandsReader:
    """Reads events of OpenHands: a list, or the `history` of an evaluated instance."""

    name = "openhands"

    def sniff(self, source: Source) -> bool:
        """Return whether the entries are actions and observations with a source."""
        has_events = False
        for _, event in islice(_iter_events(source), SNIFF_LIMIT):
            if not is_object(event) or not _is_known(event):
                return False
            has_events = True
        return has_events

    def read(self, source: Source) -> Trace:
        """Return the actions with their observations, and the messages."""
        builder = TraceBuilder(source.skipped)
        first, second = OpenHandsEventWriter(builder), SdkEventWriter(builder)
        seen_ids: set[str] = set()
        for pointer, event in _iter_events(source):
            if not is_object(event):
                builder.skip(pointer, "not an event")
                continue
            identity = _get_id(event)
            if identity in seen_ids:
                builder.skip(pointer, "duplicate event", repeats=True)
                continue
            if identity is not None:
                seen_ids.add(identity)
            builder.time = parse_time(event.get("timestamp"))
            writer = second if text_at(event, "kind") else first
            with builder.skipping_if_unread(pointer, "internal to the program, or without content"):
                writer.add_event(event, pointer)
        return builder.build(self.name)


def _is_known(event: dict[str, Json]) -> bool:
    return is_event(event) or is_sdk_event(event)


def _get_id(event: dict[str, Json]) -> str | None:
    """Return the id of an event: a number in the first generation, a text in the SDK."""
    identity = event.get("id")
    return None if identity is None else str(identity)


def _iter_events(source: Source) -> Iterator[tuple[str, Json]]:
    # The first versions wrote an action and its observation as a pair.
    return iter_flat_entries(source, _LIST_KEYS, _is_known)


_SOURCES = frozenset(("agent", "user", "environment"))
_EVENT_KEYS = frozenset(("action", "observation"))
_TEXT_KEYS = ("content", "message", "text")
# Internal to the program: states, prompts to continue, context retrieved for the agent.
_IGNORED_TYPES = frozenset(
    "null change_agent_state agent_state_changed recall loop_recovery condensation_request "
    "pause resume start stop server_ready status".split()
)
# Arguments that say how a call was executed, not what it does.
_RUNTIME_ARGUMENTS = frozenset(
    "thought hidden blocking is_input is_static confirmation_state security_risk keep_prompt "
    "kernel_init_code include_extra impl_source translated_ipython_code return_axtree".split()
)


def is_event(event: dict[str, Json]) -> bool:
    """Return whether this is an action or an observation of the first generation."""
    if "source" in event and text_at(event, "source") not in _SOURCES:
        return False
    if isinstance(event.get("action"), str):
        return is_object(event.get("args")) and ("id" in event or "source" in event)
    if isinstance(event.get("observation"), str):
        return "content" in event and ("cause" in event or "extras" in event)
    return "source" in event and "message" in event and "timestamp" in event


class OpenHandsEventWriter:
    """Adds events of the first generation, in order, to a trace builder."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._delegations: list[EventDraft] = []

    def add_event(self, event: dict[str, Json], pointer: str) -> None:
        """Add one event."""
        action, observation = event.get("action"), event.get("observation")
        self._builder.parent = self._delegations[-1] if self._delegations else None
        if isinstance(action, str):
            self._add_action(action, event, pointer)
        elif isinstance(observation, str):
            self._add_observation(observation, event, pointer)
        elif action is not None or observation is not None or _EVENT_KEYS.isdisjoint(event):
            self._builder.skip(pointer, "neither an action nor an observation")

    def _add_action(self, action: str, event: dict[str, Json], pointer: str) -> None:
        args = event.get("args")
        args = args if is_object(args) else {}
        actor = text_at(event, "source") or "agent"
        if action in _IGNORED_TYPES:
            return
        self._builder.begin_turn(_get_response_id(event))
        if action in ("message", "system", "condensation") or actor != "agent":
            kind = Kind.MESSAGE if action == "message" else Kind.SYSTEM
            self._add_text(kind, args, key_pointer(event, "args", pointer), actor, action)
            return
        if action != "think":
            thought = text_at(args, "thought") or ""
            self._builder.add_message(Kind.REASONING, thought, f"{pointer}/args/thought", actor)
        call = ToolCall(
            action, {k: v for k, v in args.items() if k not in _RUNTIME_ARGUMENTS and v is not None}
        )
        if action == "think":
            call.arguments = {"thought": args.get("thought")}
        elif action == "call_tool_mcp" and text_at(args, "name"):
            call.name, call.arguments = args["name"], args.get("arguments")
        call.id = _get_id(event)
        # Point to the whole event: the action's name is outside its arguments.
        draft = self._builder.add_call(call, pointer, actor)
        if action == "delegate":
            self._delegations.append(draft)

    def _add_text(
        self, kind: Kind, args: dict[str, Json], pointer: str, actor: str, action: str
    ) -> None:
        key = key_with_text(args, (*_TEXT_KEYS, "summary"))
        if key is None:
            self._builder.skip(pointer, f"{action!r} without text")
            return
        draft = self._builder.add_message(kind, args[key], f"{pointer}/{key}", actor)
        if draft is not None:
            draft.images = _parse_images(args.get("image_urls"))

    def _add_observation(self, observation: str, event: dict[str, Json], pointer: str) -> None:
        if observation in _IGNORED_TYPES:
            return
        cause = event.get("cause")
        result = ToolResult(
            format_value(event.get("content")),
            key_pointer(event, "content", pointer),
            # Without a cause it has no call; no call has a pointer as its id.
            pointer if cause is None else str(cause),
            actor="environment",
            status=_parse_status(observation, event),
        )
        draft = self._builder.add_result(result)
        if observation == "delegate" and draft in self._delegations:
            del self._delegations[self._delegations.index(draft) :]


def _get_response_id(event: dict[str, Json]) -> str | None:
    """Return the id of the model response behind an action: its calls form one turn."""
    metadata = event.get("tool_call_metadata")
    response = metadata.get("model_response") if is_object(metadata) else None
    return text_at(response, "id") if is_object(response) else None


def _parse_status(observation: str, event: dict[str, Json]) -> EventStatus | None:
    if observation in ("error", "user_rejected") or event.get("success") is False:
        return EventStatus.ERROR
    extras = event.get("extras")
    if not is_object(extras):
        return None
    metadata = extras.get("metadata")
    return _parse_exit_code(metadata if is_object(metadata) else extras)


def _parse_exit_code(holder: dict[str, Json]) -> EventStatus | None:
    """Return the status for an exit code; None if there is none, or -1 because it is unknown."""
    code = holder.get("exit_code")
    if isinstance(code, int) and not isinstance(code, bool) and code >= 0:
        return EventStatus.OK if code == 0 else EventStatus.ERROR
    return None


def _parse_images(urls: Json) -> tuple[Image, ...]:
    images = [parse_image({"image_url": url}) for url in urls] if is_list(urls) else []
    return tuple(image for image in images if image is not None)


_RESULT_KINDS = frozenset(("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"))
_IGNORED_KINDS = frozenset(
    "ConversationStateUpdateEvent CondensationRequest PauseEvent TokenEvent "
    "LLMCompletionLogEvent".split()
)
_NOTICE_KEYS = {
    "SystemPromptEvent": "system_prompt",
    "Condensation": "summary",
    "CondensationSummaryEvent": "summary",
    "ConversationErrorEvent": "detail",
}
_KINDS = _RESULT_KINDS | _IGNORED_KINDS | _NOTICE_KEYS.keys() | {"ActionEvent", "MessageEvent"}
_OUTPUT_KEYS = ("content", "output", "error", "message", "result")


def is_sdk_event(event: dict[str, Json]) -> bool:
    """Return whether this is an event of the agent SDK."""
    return text_at(event, "kind") in _KINDS and "source" in event


class SdkEventWriter:
    """Adds events of the agent SDK, in order, to a trace builder."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder

    def add_event(self, event: dict[str, Json], pointer: str) -> None:
        """Add one event."""
        kind = text_at(event, "kind") or ""
        if kind == "ActionEvent":
            self._add_action(event, pointer)
        elif kind == "MessageEvent":
            self._add_message(event, pointer)
        elif kind in _RESULT_KINDS:
            self._add_result(event, pointer)
        elif kind in _NOTICE_KEYS:
            key = _NOTICE_KEYS[kind]
            self._builder.begin_turn()
            text, text_pointer, _ = extract_text(event.get(key), f"{pointer}/{key}")
            self._builder.add_message(Kind.SYSTEM, text, text_pointer, "system")
        elif kind not in _IGNORED_KINDS:
            self._builder.skip(pointer, f"unknown event kind {kind!r}")

    def _add_action(self, event: dict[str, Json], pointer: str) -> None:
        self._builder.begin_turn(text_at(event, "llm_response_id"))
        self._add_thoughts(event, ("reasoning_content", "thought", "thinking_blocks"), pointer)
        action, tool_call = event.get("action"), event.get("tool_call")
        if is_object(action):
            call = ToolCall("", {key: value for key, value in action.items() if key != "kind"})
        else:
            # A call that could not be executed exists only as the model wrote it.
            tool_call = tool_call if is_object(tool_call) else {}
            arguments, text = parse_arguments(tool_call.get("arguments"))
            call = ToolCall("", arguments, text)
        call.name = text_at(event, "tool_name") or "tool"
        call.id = text_at(event, "tool_call_id")
        # Point to the whole event: the tool's name is outside its arguments.
        self._builder.add_call(call, pointer, "agent")

    def _add_thoughts(self, holder: dict[str, Json], keys: tuple[str, ...], pointer: str) -> None:
        parts = [
            part
            for key in keys
            for part in parse_parts(holder.get(key), f"{pointer}/{key}")[0]
            if part.kind in ("text", "thought")
        ]
        for index, part in enumerate(parts):
            # The reasoning of a model is often repeated in its thought or thinking blocks.
            text = part.value.strip()
            if not any(text in other.value for other in parts[index + 1 :]):
                self._builder.add_message(Kind.REASONING, part.value, part.pointer, "agent")

    def _add_message(self, event: dict[str, Json], pointer: str) -> None:
        message = event.get("llm_message")
        if not is_object(message):
            self._builder.skip(pointer, "message without content")
            return
        message_pointer = f"{pointer}/llm_message"
        actor = text_at(event, "source") or "agent"
        self._builder.begin_turn(text_at(event, "llm_response_id"))
        if actor == "agent":
            self._add_thoughts(message, ("reasoning_content", "thinking_blocks"), message_pointer)
        parts, images = parse_parts(message.get("content"), f"{message_pointer}/content")
        for part in parts:
            if part.kind == "text":
                draft = EventDraft(Kind.MESSAGE, part.pointer, actor=actor, text=part.value)
                draft.images, images = images, ()
                self._builder.add_draft(draft)

    def _add_result(self, event: dict[str, Json], pointer: str) -> None:
        observation, output_pointer = event.get("observation"), f"{pointer}/observation"
        status: EventStatus | None = None
        if not is_object(observation):
            observation, output_pointer, status = event, pointer, EventStatus.ERROR
        elif observation.get("is_error") is True or observation.get("error") is True:
            status = EventStatus.ERROR
        else:
            status = _parse_exit_code(observation)
        keys = _OUTPUT_KEYS if observation is not event else ("error", "rejection_reason")
        key = key_with_text(observation, keys) or next(
            (k for k in keys if is_list(observation.get(k))), None
        )
        text = ""
        if key is not None:
            text, output_pointer, _ = extract_text(observation[key], f"{output_pointer}/{key}")
        self._builder.add_result(
            ToolResult(
                text,
                output_pointer,
                text_at(event, "tool_call_id"),
                text_at(event, "tool_name"),
                actor="environment",
                status=status,
            )
        )
