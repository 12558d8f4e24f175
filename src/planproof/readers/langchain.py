"""Read LangChain messages, and the states of LangGraph threads that hold them."""

from __future__ import annotations

from collections.abc import Iterator

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_time, text_at
from planproof.core.pointer import escape
from planproof.core.trace import Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.conversation import AGENT_ROLES, Conversation, get_role
from planproof.readers.toolkit.entries import (
    SNIFF_LIMIT,
    iter_entries,
    iter_items,
    take_first_entries,
)
from planproof.readers.toolkit.handoffs import Handoffs
from planproof.readers.toolkit.repeated_prompts import PromptHistory
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

_MESSAGE_TYPES = frozenset(
    "human ai tool system function chat remove humanmessage aimessage toolmessage systemmessage "
    "functionmessage chatmessage removemessage aimessagechunk humanmessagechunk toolmessagechunk "
    "systemmessagechunk".split()
)
_STATE_KEYS = ("values", "channel_values")
_LIST_KEYS = ("messages",)
_MAX_DEPTH = 8


class LangChainReader:
    """Reads messages of LangChain in any of their three dump formats, and LangGraph states."""

    name = "langchain"

    def sniff(self, source: Source) -> bool:
        """Return whether the source contains LangChain messages, bare or in graph states."""
        seen = False
        for value in take_first_entries(source, _LIST_KEYS, _is_state):
            if not is_object(value):
                return False
            is_listed = _is_state(value) or ("type" not in value and _is_update(value))
            lists = [messages for _, _, messages in _iter_lists(value, "")]
            messages = [m for own in lists for m in own] if is_listed else [value]
            if not all(map(_is_message, messages[:SNIFF_LIMIT])):
                return False
            seen = seen or bool(messages)
        return seen

    def read(self, source: Source) -> Trace:
        """Return the events of the messages; of a history of states, each message once."""
        builder = TraceBuilder(source.skipped)
        records = _sort_states(list(iter_entries(source, _LIST_KEYS, _is_state)))
        writer = _MessageWriter(builder, PromptHistory(single_prompt=len(records) == 1))
        for pointer, value in records:
            if not is_object(value) or _is_message(value):
                writer.add_message(value, pointer)
                continue
            # The time of a single state is when it was saved, not when its events happened.
            builder.time = parse_time(_get_time(value)) if len(records) > 1 else None
            with builder.skipping_if_unread(pointer, "state without new messages", repeats=True):
                writer.add_lists(value, pointer, _MAX_DEPTH)
        return builder.build(self.name)


class _MessageWriter:
    def __init__(self, builder: TraceBuilder, history: PromptHistory) -> None:
        self._builder = builder
        self._conversation = Conversation(builder)
        self._handoffs = Handoffs()
        self._prompt_history = history
        self._outer_call: EventDraft | None = None

    def add_lists(self, value: dict[str, Json], pointer: str, depth: int) -> None:
        """Add the new messages of a state or an update, and of the graphs inside its tasks."""
        for node, where, messages in _iter_lists(value, pointer):
            self._conversation.speaker = node
            unwrapped = (_unwrap_message(*item) for item in iter_items(messages, where))
            for message_pointer, message in self._prompt_history.iter_new(unwrapped):
                self.add_message(message, message_pointer)
        for where, task in iter_items(value.get("tasks"), f"{pointer}/tasks"):
            inner = task.get("state") if is_object(task) else None
            if is_object(inner) and depth:
                # The graph works for the last event, if it is a call.
                last = self._builder.drafts[-1] if self._builder.drafts else None
                outer = self._outer_call
                is_call = last is not None and last.kind is Kind.ACTION
                self._outer_call = last if is_call else outer
                self.add_lists(inner, f"{where}/state", depth - 1)
                self._outer_call = outer

    def add_message(self, value: Json, pointer: str) -> None:
        """Add one message."""
        pointer, message = _unwrap_message(pointer, value)
        if not is_object(message) or not _is_message(message) or "emove" in message["type"]:
            self._builder.skip(pointer, "not a message")
            return
        name = text_at(message, "name") if get_role(message) in AGENT_ROLES else None
        parent = self._handoffs.find_parent_call(name) if name is not None else None
        self._builder.parent = parent or self._outer_call
        before = len(self._builder.drafts)
        self._conversation.add_message(message, pointer)
        for draft in self._builder.drafts[before:]:
            if draft.kind is Kind.ACTION:
                self._handoffs.record_handoff(draft)
        invalid = message.get("invalid_tool_calls")
        for where, _ in iter_items(invalid, f"{pointer}/invalid_tool_calls"):
            self._builder.skip(where, "tool call that could not be parsed")


def _sort_states(records: list[tuple[str, Json]]) -> list[tuple[str, Json]]:
    """Sort states from oldest to newest: a history has the newest first."""
    states = [value for _, value in records if is_object(value) and _is_state(value)]
    if len(states) < 2:
        return records
    has_times = all(isinstance(_get_time(state), str) for state in states)

    def rank(entry: tuple[int, tuple[str, Json]]) -> tuple[str, int, int]:
        place, (_, value) = entry
        if not is_object(value):
            return "~", 0, place
        if has_times:
            return _get_time(value) or "", 0, -place
        return "", sum(len(messages) for _, _, messages in _iter_lists(value, "")), place

    return [record for _, record in sorted(enumerate(records), key=rank)]


def _get_time(state: dict[str, Json]) -> Json:
    return state.get("created_at") or state.get("ts")


def _is_state(value: dict[str, Json]) -> bool:
    return any(is_object(own := value.get(k)) and is_list(own.get("messages")) for k in _STATE_KEYS)


def _is_update(value: dict[str, Json]) -> bool:
    """Return whether this is an update by graph nodes: `{"agent": {"messages": [...]}}`."""
    return all(added is None or isinstance(added, dict | list) for added in value.values())


def _iter_lists(value: dict[str, Json], pointer: str) -> Iterator[tuple[str, str, list[Json]]]:
    """Yield the speaker, the pointer and the messages of each list in a state or an update."""
    is_state = _is_state(value)
    for key in _STATE_KEYS if is_state else value:
        inner = value.get(key)
        if is_object(inner) and is_list(inner.get("messages")):
            where = f"{pointer}/{escape(key)}/messages"
            yield "assistant" if is_state else key, where, inner["messages"]


def _unwrap_message(pointer: str, value: Json) -> tuple[str, Json]:
    """Return the message inside the wrapper of `messages_to_dict` or `dumpd`, and its pointer."""
    if not is_object(value):
        return pointer, value
    path = value.get("id")
    for key, kind in (("data", value.get("type")), ("kwargs", path[-1:] if is_list(path) else [])):
        message = value.get(key)
        if is_object(message) and (key == "data" or value.get("lc") == 1):
            named = kind[0] if is_list(kind) and kind else kind
            return f"{pointer}/{key}", message if "type" in message else {**message, "type": named}
    return pointer, value


def _is_message(value: Json) -> bool:
    _, message = _unwrap_message("", value)
    kind = message.get("type") if is_object(message) else None
    if not is_object(message) or not isinstance(kind, str) or "content" not in message:
        return False
    # A message that also has a role is of another format with the same type names.
    return kind.lower() in _MESSAGE_TYPES and (
        "role" not in message or kind.lower().startswith("chat")
    )
