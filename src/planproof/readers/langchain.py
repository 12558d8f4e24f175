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
from planproof.readers.toolkit.repeated_prompts import PromptHistory, SeenIds
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

_MESSAGE_TYPES = frozenset(
    "human ai tool system function chat remove humanmessage aimessage toolmessage systemmessage "
    "functionmessage chatmessage removemessage aimessagechunk humanmessagechunk toolmessagechunk "
    "systemmessagechunk".split()
)
_REMOVAL_TYPES = ("remove", "RemoveMessage")
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
            messages = _list_messages(value)
            if messages is None or not all(map(_is_message, messages[:SNIFF_LIMIT])):
                return False
            seen = seen or bool(messages)
        return seen

    def read(self, source: Source) -> Trace:
        """Return the events of the messages; of a history of states, each message once."""
        builder = TraceBuilder(source.skipped)
        writer = _StateWriter(builder)
        records = list(iter_entries(source, _LIST_KEYS, _is_state))
        first = records[0][1] if records else None
        if is_object(first) and _is_state(first):
            writer.add_states(records)
        elif is_object(first) and _is_update(first):
            for pointer, value in records:
                writer.add_update(value, pointer)
        else:
            for pointer, value in records:
                writer.add_message(value, pointer)
        return builder.build(self.name)


class _StateWriter:
    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._conversation = Conversation(builder)
        self._handoffs = Handoffs()
        self._prompt_history = PromptHistory()
        self._seen_ids = SeenIds(builder)
        self._outer_call: EventDraft | None = None

    def add_states(self, states: list[tuple[str, Json]]) -> None:
        """Add the messages that each state adds to those before it."""
        ordered = _sort_states(
            [(state_pointer, value) for state_pointer, value in states if is_object(value)]
        )
        alone = len(ordered) == 1
        self._prompt_history = PromptHistory(single_prompt=alone)
        for state_pointer, value in ordered:
            if self._seen_ids.skip_if_seen(_get_checkpoint_id(value), state_pointer):
                continue
            # The time of a single state is when it was saved, not when its events happened.
            moment = value.get("created_at") or value.get("ts")
            self._builder.time = parse_time(moment) if moment and not alone else None
            why = "state without new messages"
            with self._builder.skipping_if_unread(state_pointer, why, repeats=True):
                self._add_state(value, state_pointer, 0)
        for state_pointer, value in states:
            if not is_object(value):
                self._builder.skip(state_pointer, "not a graph state")

    def add_update(self, value: Json, pointer: str) -> None:
        """Add the messages that graph nodes added, from a stream of updates."""
        for node, added in value.items() if is_object(value) else ():
            messages = added.get("messages") if is_object(added) else None
            if is_object(added) and not is_list(messages):
                continue  # other values of the state
            node_pointer = f"{pointer}/{escape(node)}"
            if not is_list(messages):
                self._builder.skip(node_pointer, "update without messages")
            self._conversation.speaker = node
            # A subgraph returns all of its messages.
            added_now = _unwrap_messages(
                messages if is_list(messages) else [], f"{node_pointer}/messages"
            )
            for where, message in self._prompt_history.iter_new(added_now):
                self.add_message(message, where)

    def add_message(self, value: Json, pointer: str) -> None:
        """Add one message."""
        message, message_pointer = (
            _unwrap_message(value, pointer) if is_object(value) else ({}, pointer)
        )
        if not _is_unwrapped_message(message) or message["type"] in _REMOVAL_TYPES:
            self._builder.skip(pointer, "not a message")
        elif message.get("tool_calls") or message.get("name"):
            self._add_agent_message(message, message_pointer)
        else:
            self._builder.parent = self._outer_call
            self._conversation.add_message(message, message_pointer)
        for where, _ in iter_items(
            message.get("invalid_tool_calls"), f"{message_pointer}/invalid_tool_calls"
        ):
            self._builder.skip(where, "tool call that could not be parsed")

    def _add_agent_message(self, message: dict[str, Json], pointer: str) -> None:
        speaker = text_at(message, "name") if get_role(message) in AGENT_ROLES else None
        parent = self._handoffs.find_parent_call(speaker) if speaker is not None else None
        self._builder.parent = parent or self._outer_call
        before = len(self._builder.drafts)
        self._conversation.add_message(message, pointer)
        for draft in self._builder.drafts[before:]:
            if draft.kind is Kind.ACTION:
                self._handoffs.record_handoff(draft)

    def _add_state(self, value: dict[str, Json], state_pointer: str, depth: int) -> None:
        state = _find_messages(value, state_pointer)
        if state is None:
            self._builder.skip(state_pointer, "state without messages")
            return
        messages, messages_pointer = state
        for pointer, message in self._prompt_history.iter_new(
            _unwrap_messages(messages, messages_pointer)
        ):
            self.add_message(message, pointer)
        tasks = value.get("tasks")
        for index, task in enumerate(tasks if is_list(tasks) else ()):
            inner = task.get("state") if is_object(task) else None
            if is_object(inner) and _find_messages(inner, "") is not None and depth < _MAX_DEPTH:
                outer, self._outer_call = (
                    self._outer_call,
                    self._find_last_call() or self._outer_call,
                )
                self._add_state(inner, f"{state_pointer}/tasks/{index}/state", depth + 1)
                self._outer_call = outer

    def _find_last_call(self) -> EventDraft | None:
        """Return the call that a subgraph works for: the last event, if it is a call."""
        last = self._builder.drafts[-1] if self._builder.drafts else None
        return last if last is not None and last.kind is Kind.ACTION else None


def _sort_states(states: list[tuple[str, dict[str, Json]]]) -> list[tuple[str, dict[str, Json]]]:
    """Sort states from oldest to newest: a history has the newest first."""
    moments = [value.get("created_at") or value.get("ts") for _, value in states]
    if all(isinstance(moment, str) for moment in moments):
        order = sorted(range(len(states)), key=lambda at: (moments[at], -at))
        return [states[at] for at in order]
    return sorted(states, key=lambda entry: len((_find_messages(entry[1], "") or ([], ""))[0]))


def _get_checkpoint_id(state: dict[str, Json]) -> str | None:
    checkpoint = state.get("checkpoint")
    holder = checkpoint if is_object(checkpoint) else state
    return text_at(holder, "checkpoint_id", "id")


def _find_messages(value: dict[str, Json], pointer: str) -> tuple[list[Json], str] | None:
    for key in _STATE_KEYS:
        values = value.get(key)
        if is_object(values) and is_list(values.get("messages")):
            return values["messages"], f"{pointer}/{key}/messages"
    return None


def _is_state(value: dict[str, Json]) -> bool:
    return _find_messages(value, "") is not None


def _is_update(value: dict[str, Json]) -> bool:
    """Return whether this is an update by graph nodes: `{"agent": {"messages": [...]}}`."""
    return bool(value) and not _is_message(value) and _list_messages(value) is not None


def _list_messages(value: Json) -> list[Json] | None:
    """Return the messages of an entry; None if the entry is not of this format."""
    if not is_object(value):
        return None
    state = _find_messages(value, "")
    if state is not None:
        return state[0]
    if "type" in value:
        return [value]
    collected: list[Json] = []
    for added in value.values():
        messages = added.get("messages") if is_object(added) else None
        if added is not None and not is_object(added) and not is_list(added):
            return None
        collected += messages if is_list(messages) else []
    return collected


def _unwrap_message(value: dict[str, Json], pointer: str) -> tuple[dict[str, Json], str]:
    """Return the message inside the wrapper of `messages_to_dict` or `dumpd`, and its pointer."""
    inner = value.get("data")
    if is_object(inner):
        message, inner_pointer = inner, f"{pointer}/data"
        kind = value.get("type")
    elif value.get("lc") == 1 and is_object(value.get("kwargs")):
        message, inner_pointer = value["kwargs"], f"{pointer}/kwargs"
        path = value.get("id")
        kind = path[-1] if is_list(path) and path else None
    else:
        return value, pointer
    return (message if "type" in message else {**message, "type": kind}), inner_pointer


def _is_message(value: Json) -> bool:
    return is_object(value) and _is_unwrapped_message(_unwrap_message(value, "")[0])


def _is_unwrapped_message(message: dict[str, Json]) -> bool:
    kind = message.get("type")
    if not isinstance(kind, str) or "content" not in message:
        return False
    # A message that also has a role is of another format with the same type names.
    return kind.lower() in _MESSAGE_TYPES and (
        "role" not in message or kind.lower().startswith("chat")
    )


def _unwrap_messages(messages: list[Json], pointer: str) -> Iterator[tuple[str, Json]]:
    for index, value in enumerate(messages):
        if is_object(value):
            message, inner_pointer = _unwrap_message(value, f"{pointer}/{index}")
            yield inner_pointer, message
        else:
            yield f"{pointer}/{index}", value
