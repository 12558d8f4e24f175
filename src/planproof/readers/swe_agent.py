"""SWE-agent: the steps of a .traj file, or the history of messages where there are none."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import TypeGuard

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at
from planproof.core.trace import Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.chat_dialects import is_swe_agent
from planproof.readers.toolkit.command_tools import command_name
from planproof.readers.toolkit.content_parts import plain_text
from planproof.readers.toolkit.entries import LOOKED_AT, entries, first_entries
from planproof.readers.toolkit.text_pointers import held_at
from planproof.readers.toolkit.tool_calls import Call, as_call
from planproof.readers.toolkit.trace_builder import Result, Transcript

_STEP = frozenset(("action", "observation", "thought", "response"))
_ACTOR = "assistant"


class SweAgentReader:
    """Reads `trajectory` or `history`; the prompts that steps repeat are read once."""

    name = "swe-agent"

    def sniff(self, source: Source) -> bool:
        """Whether there are steps of a trajectory, or messages with thought and action apart."""
        if source.form == "text":
            return False
        if _steps(source):
            return True
        head = first_entries(source, ("history",))
        if not all(is_object(message) and is_swe_agent(message) for message in head):
            return False
        return any(message.get("role") == "assistant" for message in head)

    def read(self, source: Source) -> Trace:
        """Thoughts, commands and what came back; of the prompts only what came before them."""
        transcript = Transcript(source.skipped)
        steps = _steps(source)
        if steps:
            for pointer, message in _prompts(source, steps):
                _asked(transcript, message, pointer)
            for index, step in enumerate(steps):
                _step(transcript, step, f"/trajectory/{index}")
        else:
            _history(transcript, source)
        return transcript.trace(self.name)


def _steps(source: Source) -> list[Json]:
    document = source.document
    steps = document.get("trajectory") if is_object(document) else None
    return steps if is_list(steps) and any(map(_is_step, steps[:LOOKED_AT])) else []


def _is_step(step: Json) -> TypeGuard[dict[str, Json]]:
    return is_object(step) and step.keys() >= _STEP


def _prompts(source: Source, steps: list[Json]) -> Iterator[tuple[str, dict[str, Json]]]:
    """What the agent was told at the start: in the history, else in the prompt of step one."""
    held = [("/history", source.document.get("history"))]
    if is_object(steps[0]):
        held += [(f"/trajectory/0/{key}", steps[0].get(key)) for key in ("query", "messages")]
    for pointer, messages in held:
        if is_list(messages) and any(map(is_object, messages)):
            for index, message in enumerate(messages):
                if not is_object(message) or message.get("role") == "assistant":
                    return
                yield f"{pointer}/{index}", message
            return


def _asked(transcript: Transcript, message: dict[str, Json], pointer: str) -> None:
    transcript.begin_turn()
    text, place, _ = plain_text(message.get("content"), f"{pointer}/content")
    is_users = message.get("role") == "user" and not message.get("is_demo")
    kind, actor = (Kind.MESSAGE, "user") if is_users else (Kind.SYSTEM, "system")
    if transcript.say(kind, text, place, actor) is None:
        transcript.skip(pointer, "a message without text")


def _step(transcript: Transcript, step: Json, pointer: str) -> None:
    if not _is_step(step):
        transcript.skip(pointer, "is no step")
        return
    transcript.begin_turn()
    thought = text_at(step, "thought") or ""
    transcript.say(Kind.REASONING, thought, f"{pointer}/thought", _ACTOR)
    seen, place = step.get("observation"), f"{pointer}/observation"
    action = text_at(step, "action") or ""
    if action.strip():
        call = Call(command_name(action), text=action)
        draft = transcript.call(call, f"{pointer}/action", _ACTOR)
        if isinstance(seen, str):
            draft.returned(seen, place)
    elif isinstance(seen, str):
        transcript.say(Kind.SYSTEM, seen, place, "environment")


def _history(transcript: Transcript, source: Source) -> None:
    found = list(entries(source, ("history",)))
    before = list(takewhile(lambda entry: not _is_agents(entry[1]), found))
    for pointer, message in before:
        if is_object(message):
            _asked(transcript, message, pointer)
        else:
            transcript.skip(pointer, "is no message")
    for pointer, message in found[len(before) :]:
        if not is_object(message):
            transcript.skip(pointer, "is no message")
        elif _is_agents(message):
            _acted(transcript, message, pointer)
        else:
            where = held_at(message, "content", pointer)
            text, place, _ = plain_text(message.get("content"), where)
            ids = message.get("tool_call_ids")
            for identity in ids if is_list(ids) and ids else [None]:
                call_id = identity if isinstance(identity, str) else None
                transcript.answer(Result(text, place, call_id, actor="environment"))


def _is_agents(message: Json) -> bool:
    return is_object(message) and message.get("role") == "assistant"


def _acted(transcript: Transcript, message: dict[str, Json], pointer: str) -> None:
    transcript.begin_turn()
    thought = "thought" if text_at(message, "thought") else "content"
    text, place, _ = plain_text(message.get(thought), f"{pointer}/{thought}")
    transcript.say(Kind.REASONING, text, place, _ACTOR)
    calls = message.get("tool_calls")
    for index, value in enumerate(calls if is_list(calls) else ()):
        call, place = as_call(value), f"{pointer}/tool_calls/{index}"
        if call is None:
            transcript.skip(place, "a call without a name")
        else:
            transcript.call(call, place, _ACTOR)
    action = text_at(message, "action") or ""
    if not calls and action.strip():
        transcript.call(Call(command_name(action), text=action), f"{pointer}/action", _ACTOR)
