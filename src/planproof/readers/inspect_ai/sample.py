"""The events of a sample: answers of the model, tools at work, and spans around sub-agents.

The messages of a sample are what its last agent had before it: calls of sub-agents are missing
there, or rewritten as text, and so is the call that submitted the answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at, time_of
from planproof.core.trace import Kind
from planproof.readers.inspect_ai.messages import Messages
from planproof.readers.toolkit.trace_builder import Draft, Transcript

_SCORING = frozenset(("scorer", "scorers"))
_DEEPEST = 40
_NOTICES = {"error": "error", "sample_limit": "message", "input": "input"}


def read_events(transcript: Transcript, messages: Messages, sample: dict[str, Json]) -> bool:
    """Write the events of a sample; False when no answer of a model is among them."""
    events = sample.get("events")
    if not is_list(events) or not any(_is_answer(event) for event in events):
        return False
    _Events(transcript, messages, sample).read(events, "/events", None, _DEEPEST)
    return True


def _is_answer(event: Json) -> bool:
    return is_object(event) and event.get("event") in ("model", "subtask")


class _Events:
    """One walk through the events of one sample."""

    def __init__(self, transcript: Transcript, messages: Messages, sample: dict[str, Json]) -> None:
        self._transcript = transcript
        self._messages = messages
        data = sample.get("events_data")
        pool = data.get("messages") if is_object(data) else None
        self._pool: list[Json] = pool if is_list(pool) else []
        self._told: set[str] = set()
        self._above: dict[str, str | None] = {}
        self._owner: dict[str, Draft | None] = {}
        self._tool_spans: dict[tuple[str | None, str], list[str]] = {}
        self._handoffs: set[str] = set()
        self._scoring = 0

    def read(self, events: list[Json], pointer: str, parent: Draft | None, depth: int) -> None:
        """Write a list of events; what a tool did inside may stand in a list of its own."""
        for index, event in enumerate(events):
            place = f"{pointer}/{index}"
            if not is_object(event):
                self._transcript.skip(place, "is no event")
                continue
            sort = text_at(event, "event")
            moment = event.get("timestamp")
            self._transcript.time = time_of(moment) if moment is not None else None
            self._transcript.parent = parent or self._parent(text_at(event, "span_id"))
            if sort in ("span_begin", "span_end", "step"):
                self._span(sort, event)
            elif self._scoring:
                continue  # what grades the sample is not the agent
            elif sort == "model":
                self._model(event, place)
            elif sort in ("tool", "subtask"):
                inner = self._tool(event, place) if sort == "tool" else parent
                nested = event.get("events")
                if is_list(nested) and nested and depth:
                    self.read(nested, f"{place}/events", inner, depth - 1)
            elif sort in _NOTICES:
                self._notice(event, _NOTICES[sort], place)
        self._transcript.parent = None

    def _model(self, event: dict[str, Json], pointer: str) -> None:
        for place, message in self._asked(event, pointer):
            role = message.get("role")
            if role != "tool":
                # Without an id, the place in the prompt tells repeated words apart.
                key = text_at(message, "id") or f"{place.rpartition('/')[2]} {message}"
                if key in self._told:
                    continue
                self._told.add(key)
            if role == "user" and self._transcript.parent is not None:
                role = "system"  # what a sub-agent is asked, no user has asked
            self._messages.write(message, place, role)
        output = event.get("output")
        choices = output.get("choices") if is_object(output) else None
        first = choices[0] if is_list(choices) and choices else None
        message = first.get("message") if is_object(first) else None
        if is_object(message):
            self._messages.agent(message, f"{pointer}/output/choices/0/message")
        elif not event.get("pending"):
            self._transcript.skip(pointer, "a model call that gave no answer")

    def _asked(self, event: dict[str, Json], pointer: str) -> list[tuple[str, dict[str, Json]]]:
        """What is new in the prompt: that which follows the last answer in it."""
        found: list[tuple[str, dict[str, Json]]] = []
        for place, message in self._backwards(event, pointer):
            if not is_object(message) or message.get("role") == "assistant":
                break
            found.append((place, message))
        return found[::-1]

    def _backwards(self, event: dict[str, Json], pointer: str) -> Iterator[tuple[str, Json]]:
        given = event.get("input")
        if is_list(given):
            for index in range(len(given) - 1, -1, -1):
                yield f"{pointer}/input/{index}", given[index]
        ranges = event.get("input_refs")
        for span in reversed(ranges) if is_list(ranges) else ():
            first, end = span if is_list(span) and len(span) == 2 else (0, 0)
            if isinstance(first, int) and isinstance(end, int):
                for index in range(min(end, len(self._pool)) - 1, max(first, 0) - 1, -1):
                    yield f"/events_data/messages/{index}", self._pool[index]

    def _tool(self, event: dict[str, Json], pointer: str) -> Draft | None:
        identity = text_at(event, "id")
        draft = self._messages.called(identity)
        if draft is None:
            self._transcript.begin_turn()
            draft = self._messages.call(event, pointer)
        if draft is None:
            return None
        self._messages.result(event, pointer, "result", identity)
        waiting = self._tool_spans.get((text_at(event, "span_id"), draft.name or ""))
        if waiting:
            self._owner[waiting.pop(0)] = draft
        own = text_at(event, "agent_span_id")
        if own is not None:
            self._owner[own] = draft
        return draft

    def _span(self, sort: str, event: dict[str, Json]) -> None:
        kind = text_at(event, "type") or ""
        identity = text_at(event, "id")
        if sort == "step":
            if kind in _SCORING:
                self._scoring += 1 if event.get("action") == "begin" else -1
        elif sort == "span_begin" and identity is not None:
            above = text_at(event, "parent_id")
            self._above[identity] = above
            if kind in _SCORING:
                self._scoring += 1
                self._owner[identity] = None
            elif kind == "tool":
                # A hand-off puts a span of its own between the agent and the tool.
                caller = self._above[above] if above in self._handoffs else above
                key = (caller, text_at(event, "name") or "")
                self._tool_spans.setdefault(key, []).append(identity)
            elif kind == "handoff":
                self._handoffs.add(identity)
        elif identity in self._owner and self._owner[identity] is None:
            self._scoring -= 1

    def _parent(self, span: str | None) -> Draft | None:
        for _ in range(_DEEPEST):
            if span is None:
                break
            owner = self._owner.get(span)
            if owner is not None:
                return owner
            span = self._above.get(span)
        return None

    def _notice(self, event: dict[str, Json], key: str, pointer: str) -> None:
        value, place = event.get(key), f"{pointer}/{key}"
        if is_object(value):
            value, place = value.get("message"), f"{place}/message"
        if isinstance(value, str):
            said = (Kind.MESSAGE, "user") if key == "input" else (Kind.SYSTEM, "system")
            self._transcript.begin_turn()
            self._transcript.say(said[0], value, place, said[1])
