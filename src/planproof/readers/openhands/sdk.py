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
from planproof.readers.toolkit.content_parts import parts_of, plain_text
from planproof.readers.toolkit.tool_calls import Call, arguments_of
from planproof.readers.toolkit.trace_builder import Draft, Result, Transcript

_RESULTS = frozenset(("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"))
_BESIDE = frozenset(
    "ConversationStateUpdateEvent CondensationRequest PauseEvent TokenEvent "
    "LLMCompletionLogEvent".split()
)
_NOTICES = {
    "SystemPromptEvent": "system_prompt",
    "Condensation": "summary",
    "CondensationSummaryEvent": "summary",
    "ConversationErrorEvent": "detail",
}
_KINDS = _RESULTS | _BESIDE | _NOTICES.keys() | {"ActionEvent", "MessageEvent"}
_OUTPUTS = ("content", "output", "error", "message", "result")


def is_sdk_event(event: dict[str, Json]) -> bool:
    """Whether this is an event of the SDK."""
    return text_at(event, "kind") in _KINDS and "source" in event


class SdkEvents:
    """Writes events, in order, into a transcript."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._seen: set[str] = set()

    def take(self, event: dict[str, Json], pointer: str) -> None:
        """Write one event."""
        identity = text_at(event, "id")
        if identity is not None:
            if identity in self._seen:
                self._transcript.skip(pointer, "the same event again")
                return
            self._seen.add(identity)
        kind = text_at(event, "kind") or ""
        if kind == "ActionEvent":
            self._action(event, pointer)
        elif kind == "MessageEvent":
            self._message(event, pointer)
        elif kind in _RESULTS:
            self._result(event, pointer)
        elif kind in _NOTICES:
            key = _NOTICES[kind]
            self._transcript.begin_turn()
            text, place, _ = plain_text(event.get(key), f"{pointer}/{key}")
            self._transcript.say(Kind.SYSTEM, text, place, "system")
        elif kind not in _BESIDE:
            self._transcript.skip(pointer, f"an event of the kind {kind!r}")

    def _action(self, event: dict[str, Json], pointer: str) -> None:
        self._transcript.begin_turn(text_at(event, "llm_response_id"))
        for key in ("reasoning_content", "thought", "thinking_blocks"):
            self._thoughts(event.get(key), f"{pointer}/{key}")
        action, asked = event.get("action"), event.get("tool_call")
        if is_object(action):
            call = Call("", {key: value for key, value in action.items() if key != "kind"})
        else:
            # A call that could not be carried out stands only as the model wrote it.
            asked = asked if is_object(asked) else {}
            arguments, text = arguments_of(asked.get("arguments"))
            call = Call("", arguments, text)
        call.name = text_at(event, "tool_name") or "tool"
        call.id = text_at(event, "tool_call_id")
        # All of the event: the name of the tool stands beside its arguments.
        self._transcript.call(call, pointer, "agent")

    def _thoughts(self, held: Json, pointer: str) -> None:
        parts, _ = parts_of(held, pointer)
        for part in parts:
            if part.sort in ("text", "thought"):
                self._transcript.say(Kind.REASONING, part.value, part.pointer, "agent")

    def _message(self, event: dict[str, Json], pointer: str) -> None:
        message = event.get("llm_message")
        if not is_object(message):
            self._transcript.skip(pointer, "a message without its content")
            return
        place = f"{pointer}/llm_message"
        actor = text_at(event, "source") or "agent"
        self._transcript.begin_turn(text_at(event, "llm_response_id"))
        if actor == "agent":
            for key in ("reasoning_content", "thinking_blocks"):
                self._thoughts(message.get(key), f"{place}/{key}")
        parts, images = parts_of(message.get("content"), f"{place}/content")
        for part in parts:
            if part.sort == "text":
                draft = Draft(Kind.MESSAGE, part.pointer, actor=actor, text=part.value)
                draft.images, images = images, ()
                self._transcript.add(draft)

    def _result(self, event: dict[str, Json], pointer: str) -> None:
        held, place = event.get("observation"), f"{pointer}/observation"
        status: EventStatus | None = None
        if not is_object(held):
            held, place, status = event, pointer, EventStatus.ERROR
        elif held.get("is_error") is True or held.get("error") is True:
            status = EventStatus.ERROR
        else:
            code = held.get("exit_code")
            if isinstance(code, int) and code >= 0:
                status = EventStatus.OK if code == 0 else EventStatus.ERROR
        keys = _OUTPUTS if held is not event else ("error", "rejection_reason")
        key = key_with_text(held, keys) or next((k for k in keys if is_list(held.get(k))), None)
        text = ""
        if key is not None:
            text, place, _ = plain_text(held[key], f"{place}/{key}")
        self._transcript.answer(
            Result(
                text,
                place,
                text_at(event, "tool_call_id"),
                text_at(event, "tool_name"),
                actor="environment",
                status=status,
            )
        )
