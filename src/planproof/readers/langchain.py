"""LangChain messages, and the state of LangGraph threads that hold them."""

from __future__ import annotations

from collections.abc import Iterator

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at, time_of
from planproof.core.pointer import escape
from planproof.core.trace import Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.conversation import AGENTS, Conversation, role_of
from planproof.readers.toolkit.entries import LOOKED_AT, entries, first_entries, listed
from planproof.readers.toolkit.handoffs import Handoffs
from planproof.readers.toolkit.repeated_prompts import Seen, Told
from planproof.readers.toolkit.trace_builder import Draft, Transcript

_TYPES = frozenset(
    "human ai tool system function chat remove humanmessage aimessage toolmessage systemmessage "
    "functionmessage chatmessage removemessage aimessagechunk humanmessagechunk toolmessagechunk "
    "systemmessagechunk".split()
)
_REMOVED = ("remove", "RemoveMessage")
_STATES = ("values", "channel_values")
_HOLDERS = ("messages",)
_DEEPEST = 8


class LangChainReader:
    """Reads messages in the three forms in which they are dumped, and states of graphs."""

    name = "langchain"

    def sniff(self, source: Source) -> bool:
        """Whether the source holds LangChain messages, bare or in states of a graph."""
        if source.form == "text":
            return False
        seen = False
        for value in first_entries(source, _HOLDERS, _is_state):
            held = _held(value)
            if held is None or not all(map(_is_message, held[:LOOKED_AT])):
                return False
            seen = seen or bool(held)
        return seen

    def read(self, source: Source) -> Trace:
        """The events of the messages; of a history of states, each message once."""
        transcript = Transcript(source.skipped)
        reading = _Reading(transcript)
        found = list(entries(source, _HOLDERS, _is_state))
        first = found[0][1] if found else None
        if is_object(first) and _is_state(first):
            reading.states(found)
        elif is_object(first) and _is_update(first):
            for pointer, value in found:
                reading.update(value, pointer)
        else:
            for pointer, value in found:
                reading.message(value, pointer)
        return transcript.trace(self.name)


class _Reading:
    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._conversation = Conversation(transcript)
        self._handoffs = Handoffs()
        self._told = Told()
        self._seen = Seen(transcript)
        self._within: Draft | None = None

    def states(self, states: list[tuple[str, Json]]) -> None:
        """Write what each state adds to those before it."""
        ordered = _in_order([(place, value) for place, value in states if is_object(value)])
        alone = len(ordered) == 1
        self._told = Told(alone=alone)
        for place, value in ordered:
            if self._seen.again(_checkpoint(value), place):
                continue
            # The time of one state alone is when it was saved, not when things happened.
            moment = value.get("created_at") or value.get("ts")
            self._transcript.time = time_of(moment) if moment and not alone else None
            self._one_state(value, place, 0)
        for place, value in states:
            if not is_object(value):
                self._transcript.skip(place, "is no state of a graph")

    def update(self, value: Json, pointer: str) -> None:
        """Write what the nodes of a graph added, as its stream of updates tells."""
        for node, added in value.items() if is_object(value) else ():
            messages = added.get("messages") if is_object(added) else None
            if is_object(added) and not is_list(messages):
                continue  # other values of the state
            place = f"{pointer}/{escape(node)}"
            if not is_list(messages):
                self._transcript.skip(place, "an update without messages")
            self._conversation.speaker = node
            # A graph inside the graph gives back all of its messages.
            added_now = _all_opened(messages if is_list(messages) else [], f"{place}/messages")
            for where, message in self._told.new_in(added_now):
                self.message(message, where)

    def message(self, value: Json, pointer: str) -> None:
        """Write one message."""
        message, place = _opened(value, pointer) if is_object(value) else ({}, pointer)
        if not _is_open_message(message) or message["type"] in _REMOVED:
            self._transcript.skip(pointer, "is no message")
        elif message.get("tool_calls") or message.get("name"):
            self._agent(message, place)
        else:
            self._transcript.parent = self._within
            self._conversation.message(message, place)
        for where, _ in listed(message.get("invalid_tool_calls"), f"{place}/invalid_tool_calls"):
            self._transcript.skip(where, "a call that could not be parsed")

    def _agent(self, message: dict[str, Json], place: str) -> None:
        speaker = text_at(message, "name") if role_of(message) in AGENTS else None
        parent = self._handoffs.parent_of(speaker) if speaker is not None else None
        self._transcript.parent = parent or self._within
        before = len(self._transcript.drafts)
        self._conversation.message(message, place)
        for draft in self._transcript.drafts[before:]:
            if draft.kind is Kind.ACTION:
                self._handoffs.note(draft)

    def _one_state(self, value: dict[str, Json], place: str, depth: int) -> None:
        state = _state(value, place)
        if state is None:
            self._transcript.skip(place, "a state without messages")
            return
        messages, place_of_messages = state
        for pointer, message in self._told.new_in(_all_opened(messages, place_of_messages)):
            self.message(message, pointer)
        tasks = value.get("tasks")
        for index, task in enumerate(tasks if is_list(tasks) else ()):
            inner = task.get("state") if is_object(task) else None
            if is_object(inner) and _state(inner, "") is not None and depth < _DEEPEST:
                outer, self._within = self._within, self._last_call() or self._within
                self._one_state(inner, f"{place}/tasks/{index}/state", depth + 1)
                self._within = outer

    def _last_call(self) -> Draft | None:
        """The call that a graph inside the graph works for: the last one without a result."""
        last = self._transcript.drafts[-1] if self._transcript.drafts else None
        return last if last is not None and last.kind is Kind.ACTION else None


def _in_order(states: list[tuple[str, dict[str, Json]]]) -> list[tuple[str, dict[str, Json]]]:
    """States as they came to be: a history has the newest first."""
    moments = [value.get("created_at") or value.get("ts") for _, value in states]
    if all(isinstance(moment, str) for moment in moments):
        order = sorted(range(len(states)), key=lambda at: (moments[at], -at))
        return [states[at] for at in order]
    return sorted(states, key=lambda entry: len((_state(entry[1], "") or ([], ""))[0]))


def _checkpoint(state: dict[str, Json]) -> str | None:
    checkpoint = state.get("checkpoint")
    held = checkpoint if is_object(checkpoint) else state
    return text_at(held, "checkpoint_id", "id")


def _state(value: dict[str, Json], pointer: str) -> tuple[list[Json], str] | None:
    for key in _STATES:
        held = value.get(key)
        if is_object(held) and is_list(held.get("messages")):
            return held["messages"], f"{pointer}/{key}/messages"
    return None


def _is_state(value: dict[str, Json]) -> bool:
    return _state(value, "") is not None


def _is_update(value: dict[str, Json]) -> bool:
    """Whether this is what nodes of a graph added: `{"agent": {"messages": [...]}}`."""
    return bool(value) and not _is_message(value) and _held(value) is not None


def _held(value: Json) -> list[Json] | None:
    """The messages that an entry holds or is; None when it is no entry of this format."""
    if not is_object(value):
        return None
    state = _state(value, "")
    if state is not None:
        return state[0]
    if "type" in value:
        return [value]
    held: list[Json] = []
    for added in value.values():
        messages = added.get("messages") if is_object(added) else None
        if added is not None and not is_object(added) and not is_list(added):
            return None
        held += messages if is_list(messages) else []
    return held


def _opened(value: dict[str, Json], pointer: str) -> tuple[dict[str, Json], str]:
    """The message inside what `messages_to_dict` and `dumpd` put around it."""
    inner = value.get("data")
    if is_object(inner):
        message, place = inner, f"{pointer}/data"
        kind = value.get("type")
    elif value.get("lc") == 1 and is_object(value.get("kwargs")):
        message, place = value["kwargs"], f"{pointer}/kwargs"
        path = value.get("id")
        kind = path[-1] if is_list(path) and path else None
    else:
        return value, pointer
    return (message if "type" in message else {**message, "type": kind}), place


def _is_message(value: Json) -> bool:
    return is_object(value) and _is_open_message(_opened(value, "")[0])


def _is_open_message(message: dict[str, Json]) -> bool:
    kind = message.get("type")
    if not isinstance(kind, str) or "content" not in message:
        return False
    # Whoever gives a role as well is another format that uses the same words.
    return kind.lower() in _TYPES and ("role" not in message or kind.lower().startswith("chat"))


def _all_opened(messages: list[Json], pointer: str) -> Iterator[tuple[str, Json]]:
    for index, value in enumerate(messages):
        if is_object(value):
            message, place = _opened(value, f"{pointer}/{index}")
            yield place, message
        else:
            yield f"{pointer}/{index}", value
