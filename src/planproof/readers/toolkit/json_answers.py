"""Parse answers given as one JSON object: the agent's thoughts, and the command to run."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import format_value, is_list, is_object, text_at
from planproof.core.trace import Kind
from planproof.readers.toolkit.tool_calls import (
    ToolCall,
    get_raw_arguments,
    parse_arguments,
    parse_call,
)
from planproof.readers.toolkit.trace_builder import TraceBuilder

# In reading order.
_THOUGHT_KEYS = ("thoughts", "thought", "reasoning", "analysis", "reflection", "current_state")
_COMMAND_KEYS = ("command", "action", "tool_call", "function_call", "tool")
_PLAN_KEYS = frozenset(("plan", "todo", "todos", "plan_steps", "next_steps"))
_EMPTY_WORDS = frozenset(("", "n/a", "none", "null"))
# With blanks around it; longer texts are not compared.
_LONGEST = 20


def add_structured_answer(
    builder: TraceBuilder, value: dict[str, Json], pointer: str, actor: str
) -> bool:
    """Add the reasoning and the command of such an answer; return False if it is not one."""
    call = _parse_command(value)
    thoughts = [key for key in _THOUGHT_KEYS if key in value]
    if call is None and not (thoughts and len(thoughts) == len(value)):
        return False
    for key in thoughts:
        thought = value[key]
        for name, entry in thought.items() if is_object(thought) else ((key, thought),):
            if name in _PLAN_KEYS:
                # A plan restated with each answer records progress; it is not an action.
                builder.add_plan("\n".join(_list_texts(entry)), pointer, actor)
            else:
                for text in _list_texts(entry):
                    builder.add_message(Kind.REASONING, text, pointer, actor)
    if call is not None:
        call.recognition = "json"
        builder.add_call(call, pointer, actor)
    return True


def _list_texts(entry: Json) -> list[str]:
    """Return the texts of a thought, without words such as "none"."""
    texts = map(format_value, entry) if is_list(entry) else (format_value(entry),)
    return [text for text in texts if len(text) > _LONGEST or not _is_empty(text)]


def _is_empty(text: str) -> bool:
    return text.strip().lower() in _EMPTY_WORDS


def _parse_command(value: dict[str, Json]) -> ToolCall | None:
    for key in _COMMAND_KEYS:
        command = value.get(key)
        if is_object(command):
            return parse_call(command)
        if isinstance(command, str) and command and get_raw_arguments(value) is not None:
            arguments, text = parse_arguments(get_raw_arguments(value))
            return ToolCall(command, arguments, text)
    if text_at(value, "name") and is_object(get_raw_arguments(value)):
        return parse_call(value)
    return None
