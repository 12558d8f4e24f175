"""Answers that an agent gives as one JSON object: its thoughts, and the command to run."""

from __future__ import annotations

from collections.abc import Iterable

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at, written
from planproof.core.trace import Kind
from planproof.readers.toolkit.tool_calls import Call, arguments_of, as_call, raw_arguments
from planproof.readers.toolkit.trace_builder import Transcript

# Looked up once: most of such an answer are thoughts.
_REASONING = Kind.REASONING
# In the order in which they are read.
_THOUGHTS = {
    key: place
    for place, key in enumerate(
        ("thoughts", "thought", "reasoning", "analysis", "reflection", "current_state")
    )
}
_COMMANDS = ("command", "action", "tool_call", "function_call", "tool")
_PLANS = frozenset(("plan", "todo", "todos", "plan_steps", "next_steps"))
_NOTHING = frozenset(("", "n/a", "none", "null"))
_LONGEST_WORD = max(map(len, _NOTHING))
_LONGEST_NOTHING = 20


def write_structured(
    transcript: Transcript, value: dict[str, Json], pointer: str, actor: str
) -> bool:
    """Write down the thoughts and the command of such an answer; False when it is none."""
    call = _command(value)
    thoughts = [key for key in value if key in _THOUGHTS]
    if call is None and not (thoughts and len(thoughts) == len(value)):
        return False
    if len(thoughts) > 1:
        thoughts.sort(key=_THOUGHTS.__getitem__)
    for key in thoughts:
        thought = value[key]
        for name, entry in thought.items() if is_object(thought) else ((key, thought),):
            if name in _PLANS:
                # A plan that is stated anew with each answer notes progress; it does nothing.
                transcript.plan("\n".join(_texts(entry)), pointer, actor)
            elif isinstance(entry, str):
                # Only a short text can say nothing.
                if len(entry) > _LONGEST_NOTHING or _says(entry):
                    transcript.say(_REASONING, entry, pointer, actor)
            else:
                for text in _texts(entry):
                    transcript.say(_REASONING, text, pointer, actor)
    if call is not None:
        transcript.call(call, pointer, actor)
    return True


def _texts(entry: Json) -> Iterable[str]:
    if isinstance(entry, str):
        return (entry,) if len(entry) > _LONGEST_NOTHING or _says(entry) else ()
    return filter(_says, map(written, entry) if is_list(entry) else (written(entry),))


def _says(text: str) -> bool:
    bare = text.strip()
    return len(bare) > _LONGEST_WORD or bare.lower() not in _NOTHING


def _command(value: dict[str, Json]) -> Call | None:
    for key in _COMMANDS:
        found = value.get(key)
        if is_object(found):
            return as_call(found)
        if isinstance(found, str) and found and raw_arguments(value) is not None:
            arguments, text = arguments_of(raw_arguments(value))
            return Call(found, arguments, text)
    if text_at(value, "name") and is_object(raw_arguments(value)):
        return as_call(value)
    return None
