"""Read SWE-agent .traj files: the steps, or the message history if there are none."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import TypeGuard

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at
from planproof.core.trace import Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.chat_dialects import is_swe_agent_message
from planproof.readers.toolkit.content_parts import extract_text
from planproof.readers.toolkit.entries import (
    SNIFF_LIMIT,
    iter_entries,
    key_pointer,
    take_first_entries,
)
from planproof.readers.toolkit.tool_calls import ToolCall, get_command_name, parse_call
from planproof.readers.toolkit.trace_builder import ToolResult, TraceBuilder

_STEP_KEYS = frozenset(("action", "observation", "thought", "response"))
_ACTOR = "assistant"


class SweAgentReader:
    """Reads `trajectory` or `history` of SWE-agent; prompts repeated in steps are read once."""

    name = "swe-agent"

    def sniff(self, source: Source) -> bool:
        """Return whether there are trajectory steps, or messages with thought and action apart."""
        if source.form == "text":
            return False
        if _find_steps(source):
            return True
        head = take_first_entries(source, ("history",))
        if not all(is_object(message) and is_swe_agent_message(message) for message in head):
            return False
        return any(message.get("role") == "assistant" for message in head)

    def read(self, source: Source) -> Trace:
        """Return the thoughts, commands and observations, and the prompts before them."""
        builder = TraceBuilder(source.skipped)
        steps = _find_steps(source)
        if steps:
            for pointer, message in _iter_prompts(source, steps):
                _add_prompt(builder, message, pointer)
            for index, step in enumerate(steps):
                _add_step(builder, step, f"/trajectory/{index}")
        else:
            _add_history(builder, source)
        return builder.build(self.name)


def _find_steps(source: Source) -> list[Json]:
    document = source.document
    steps = document.get("trajectory") if is_object(document) else None
    return steps if is_list(steps) and any(map(_is_step, steps[:SNIFF_LIMIT])) else []


def _is_step(step: Json) -> TypeGuard[dict[str, Json]]:
    return is_object(step) and step.keys() >= _STEP_KEYS


def _iter_prompts(source: Source, steps: list[Json]) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield the initial prompts: from the history, else from the prompt of the first step."""
    candidates = [("/history", source.document.get("history"))]
    if is_object(steps[0]):
        candidates += [(f"/trajectory/0/{key}", steps[0].get(key)) for key in ("query", "messages")]
    for pointer, messages in candidates:
        if is_list(messages) and any(map(is_object, messages)):
            for index, message in enumerate(messages):
                if not is_object(message) or message.get("role") == "assistant":
                    return
                yield f"{pointer}/{index}", message
            return


def _add_prompt(builder: TraceBuilder, message: dict[str, Json], pointer: str) -> None:
    builder.begin_turn()
    text, content_pointer, _ = extract_text(message.get("content"), f"{pointer}/content")
    is_users = message.get("role") == "user" and not message.get("is_demo")
    kind, actor = (Kind.MESSAGE, "user") if is_users else (Kind.SYSTEM, "system")
    if builder.add_message(kind, text, content_pointer, actor) is None:
        builder.skip(pointer, "message without text")


def _add_step(builder: TraceBuilder, step: Json, pointer: str) -> None:
    if not _is_step(step):
        builder.skip(pointer, "not a step")
        return
    builder.begin_turn()
    thought = text_at(step, "thought") or ""
    builder.add_message(Kind.REASONING, thought, f"{pointer}/thought", _ACTOR)
    seen, observation_pointer = step.get("observation"), f"{pointer}/observation"
    action = text_at(step, "action") or ""
    if action.strip():
        call = ToolCall(get_command_name(action), text=action)
        draft = builder.add_call(call, pointer, _ACTOR)
        if isinstance(seen, str):
            draft.set_output(seen, observation_pointer)
    elif isinstance(seen, str):
        builder.add_message(Kind.SYSTEM, seen, observation_pointer, "environment")


def _add_history(builder: TraceBuilder, source: Source) -> None:
    messages = list(iter_entries(source, ("history",)))
    before = list(takewhile(lambda entry: not _is_agent_message(entry[1]), messages))
    for pointer, message in before:
        if is_object(message):
            _add_prompt(builder, message, pointer)
        else:
            builder.skip(pointer, "not a message")
    for pointer, message in messages[len(before) :]:
        if not is_object(message):
            builder.skip(pointer, "not a message")
        elif _is_agent_message(message):
            _add_agent_message(builder, message, pointer)
        else:
            where = key_pointer(message, "content", pointer)
            text, content_pointer, _ = extract_text(message.get("content"), where)
            ids = message.get("tool_call_ids")
            for identity in ids if is_list(ids) and ids else [None]:
                call_id = identity if isinstance(identity, str) else None
                builder.add_result(ToolResult(text, content_pointer, call_id, actor="environment"))


def _is_agent_message(message: Json) -> bool:
    return is_object(message) and message.get("role") == "assistant"


def _add_agent_message(builder: TraceBuilder, message: dict[str, Json], pointer: str) -> None:
    builder.begin_turn()
    thought = "thought" if text_at(message, "thought") else "content"
    text, event_pointer, _ = extract_text(message.get(thought), f"{pointer}/{thought}")
    builder.add_message(Kind.REASONING, text, event_pointer, _ACTOR)
    calls = message.get("tool_calls")
    for index, value in enumerate(calls if is_list(calls) else ()):
        call, event_pointer = parse_call(value), f"{pointer}/tool_calls/{index}"
        if call is None:
            builder.skip(event_pointer, "tool call without a name")
        else:
            builder.add_call(call, event_pointer, _ACTOR)
    action = text_at(message, "action") or ""
    if not calls and action.strip():
        builder.add_call(ToolCall(get_command_name(action), text=action), pointer, _ACTOR)
