"""OpenAI chat messages: role, content, tool_calls or function_call, and their results."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import is_object, time_of
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.chat_dialects import dialect, is_inspect, is_swe_agent
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.entries import entries, first_entries
from planproof.readers.toolkit.speakers import speak_by_name
from planproof.readers.toolkit.streamed_parts import come_in_chunks
from planproof.readers.toolkit.trace_builder import Transcript

# No set: what stands under `role` may be anything, and not all of it can be looked up in one.
_ROLES = ("assistant", "tool", "user", "system", "developer", "function")
_SAYS = frozenset(("content", "tool_calls", "function_call"))
_HOLDERS = ("messages", "traj", "trajectory", "conversation", "history")


class OpenAIMessagesReader:
    """Reads lists of chat messages, bare or under a key such as `messages`."""

    name = "openai-messages"

    def sniff(self, source: Source) -> bool:
        """Whether the source is a list of messages with the roles of the OpenAI API."""
        if source.form == "text":
            return False
        known = first_entries(source, _HOLDERS)
        for message in known:
            if not is_object(message) or message.get("role") not in _ROLES:
                return False
            if _SAYS.isdisjoint(message):
                return False
            if is_inspect(message) or ("agent" in message and is_swe_agent(message)):
                return False
        if not known or come_in_chunks(known) or speak_by_name(known):
            return False
        around = source.document if is_object(source.document) else None
        return dialect(known, around) == "openai"

    def read(self, source: Source) -> Trace:
        """The events of the messages; what is no message is skipped."""
        transcript = Transcript(source.skipped)
        conversation = Conversation(transcript)
        for pointer, message in entries(source, _HOLDERS):
            if is_object(message) and message.get("role") in _ROLES:
                timed = "timestamp" in message or "created_at" in message
                transcript.time = _moment(message) if timed else None
                conversation.message(message, pointer)
            else:
                transcript.skip(pointer, "is no chat message")
        return transcript.trace(self.name)


def _moment(message: dict[str, Json]) -> str | None:
    moment = message.get("timestamp") or message.get("created_at")
    return time_of(moment) if moment else None
