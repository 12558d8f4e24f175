"""LangChain messages, and the state of LangGraph threads that hold them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from planproof.content import Json
from planproof.readers.pieces.conversation import AGENTS, Conversation, role_of
from planproof.readers.pieces.entries import LOOKED_AT, entries, listed
from planproof.readers.pieces.handoffs import Handoffs
from planproof.readers.pieces.repeats import Seen, Told
from planproof.readers.pieces.shapes import is_list, is_object, text_at, time_of
from planproof.readers.pieces.transcript import Draft, Transcript
from planproof.readers.source import Source
from planproof.trace import Kind, Trace

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
        document = source.document
        if is_object(document) and _state(document, "") is not None:
            document = document[next(key for key in _STATES if key in document)]["messages"]
            return bool(document) and all(map(_is_message, document[:LOOKED_AT]))
        seen = False
        for _, value in islice(entries(source, _HOLDERS), LOOKED_AT):
            state = _state(value, "") if is_object(value) else None
            if state is not None:
                seen = seen or bool(state[0])
                if not all(map(_is_message, state[0][:LOOKED_AT])):
                    return False
            elif _is_message(value):
                seen = True
            else:
                return False
        return seen

    def read(self, source: Source) -> Trace:
        """The events of the messages; of a history of states, each message once."""
        transcript = Transcript(source.skipped)
        reading = _Reading(transcript)
        document = source.document
        if is_object(document) and _state(document, "") is not None:
            reading.states([("", document)])
        else:
            found = list(entries(source, _HOLDERS))
            if any(is_object(value) and _state(value, "") is not None for _, value in found[:1]):
                reading.states(found)
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
        for place, value in ordered:
            if self._seen.again(_checkpoint(value), place):
                continue
            # The time of one state alone is when it was saved, not when things happened.
            moment = value.get("created_at") or value.get("ts")
            self._transcript.time = time_of(moment) if moment and len(ordered) > 1 else None
            self._one_state(value, place, 0)
        for place, value in states:
            if not is_object(value):
                self._transcript.skip(place, "is no state of a graph")

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
