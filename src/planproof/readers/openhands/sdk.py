"""Events of the OpenHands agent SDK: each names its kind, and calls have the ids of the model."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import (
    is_list,
    is_object,
    key_with_text,
    text_at,
)
from planproof.core.trace import EventStatus, Kind
from planproof.readers.toolkit.content_parts import extract_text, parse_parts
from planproof.readers.toolkit.tool_calls import ToolCall, parse_arguments
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder

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
    """Whether this is an event of the SDK."""
    return text_at(event, "kind") in _KINDS and "source" in event


class SdkEventWriter:
    """Writes events, in order, into a transcript."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._seen_ids: set[str] = set()

    def add_event(self, event: dict[str, Json], pointer: str) -> None:
        """Write one event."""
        identity = text_at(event, "id")
        if identity is not None:
            if identity in self._seen_ids:
                self._builder.skip(pointer, "the same event again")
                return
            self._seen_ids.add(identity)
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
            self._builder.skip(pointer, f"an event of the kind {kind!r}")

    def _add_action(self, event: dict[str, Json], pointer: str) -> None:
        self._builder.begin_turn(text_at(event, "llm_response_id"))
        for key in ("reasoning_content", "thought", "thinking_blocks"):
            self._add_thoughts(event.get(key), f"{pointer}/{key}")
        action, tool_call = event.get("action"), event.get("tool_call")
        if is_object(action):
            call = ToolCall("", {key: value for key, value in action.items() if key != "kind"})
        else:
            # A call that could not be carried out stands only as the model wrote it.
            tool_call = tool_call if is_object(tool_call) else {}
            arguments, text = parse_arguments(tool_call.get("arguments"))
            call = ToolCall("", arguments, text)
        call.name = text_at(event, "tool_name") or "tool"
        call.id = text_at(event, "tool_call_id")
        # All of the event: the name of the tool stands beside its arguments.
        self._builder.add_call(call, pointer, "agent")

    def _add_thoughts(self, content: Json, pointer: str) -> None:
        parts, _ = parse_parts(content, pointer)
        for part in parts:
            if part.kind in ("text", "thought"):
                self._builder.add_message(Kind.REASONING, part.value, part.pointer, "agent")

    def _add_message(self, event: dict[str, Json], pointer: str) -> None:
        message = event.get("llm_message")
        if not is_object(message):
            self._builder.skip(pointer, "a message without its content")
            return
        message_pointer = f"{pointer}/llm_message"
        actor = text_at(event, "source") or "agent"
        self._builder.begin_turn(text_at(event, "llm_response_id"))
        if actor == "agent":
            for key in ("reasoning_content", "thinking_blocks"):
                self._add_thoughts(message.get(key), f"{message_pointer}/{key}")
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
            code = observation.get("exit_code")
            if isinstance(code, int) and code >= 0:
                status = EventStatus.OK if code == 0 else EventStatus.ERROR
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
