"""Inspect AI: one sample of a log, or a list of messages as Inspect writes them."""

from __future__ import annotations

from typing import TypeGuard

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.inspect_ai.messages import InspectMessages
from planproof.readers.inspect_ai.sample import add_sample_events
from planproof.readers.toolkit.chat_dialects import is_inspect_message
from planproof.readers.toolkit.entries import first_entries, iter_entries
from planproof.readers.toolkit.trace_builder import TraceBuilder

_LIST_KEYS = ("messages",)
_ROLES = frozenset(("system", "user", "assistant", "tool"))
_SAMPLE_KEYS = frozenset(("id", "epoch", "input"))


class InspectReader:
    """Reads a sample by its events, which know more than its messages; else by its messages."""

    name = "inspect-ai"

    def sniff(self, source: Source) -> bool:
        """Whether this is a sample, or a list of messages with Inspect's calls or sources."""
        if source.form == "text":
            return False
        if _is_sample(source.document):
            return True
        marked = False
        for message in first_entries(source, _LIST_KEYS):
            if not _is_message(message):
                return False
            marked = marked or is_inspect_message(message)
            if not marked and message.get("tool_calls"):
                # Somebody else's call: there is no need to look at what follows.
                return False
        return marked

    def read(self, source: Source) -> Trace:
        """The events of the sample."""
        builder = TraceBuilder(source.skipped)
        sample = source.document if is_object(source.document) else {}
        messages = InspectMessages(builder, sample.get("attachments"))
        if not add_sample_events(builder, messages, sample):
            for pointer, message in iter_entries(source, _LIST_KEYS):
                if _is_message(message):
                    messages.add_message(message, pointer, message["role"])
                else:
                    builder.skip(pointer, "is no message")
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
