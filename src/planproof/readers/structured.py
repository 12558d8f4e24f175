"""Answers that an agent gives as one JSON object: its thoughts, and the command to run."""

from __future__ import annotations

from planproof.content import Json
from planproof.readers.calls import Call, arguments_of, as_call
from planproof.readers.shapes import is_list, is_object, text_at, written
from planproof.readers.transcript import Draft, Transcript
from planproof.trace import Kind

_THOUGHTS = ("thoughts", "thought", "reasoning", "analysis", "reflection", "current_state")
_PLANS = frozenset(("plan", "todo", "todos", "plan_steps", "next_steps"))
_NOTHING = frozenset(("", "n/a", "none", "null"))


def write_structured(
    transcript: Transcript, value: dict[str, Json], pointer: str, actor: str
) -> bool:
    """Write down the thoughts and the command of such an answer; False when it is none."""
    call = _command(value)
    thoughts = [(key, value[key]) for key in _THOUGHTS if key in value]
    if call is None and not (thoughts and len(thoughts) == len(value)):
        return False
    for key, thought in thoughts:
        entries = thought.items() if is_object(thought) else [(key, thought)]
        for name, entry in entries:
            _write_thought(transcript, name, entry, pointer, actor)
    if call is not None:
        transcript.call(
            Draft(Kind.ACTION, pointer, call.name, actor, call.text, call.arguments), call.id
        )
    return True


def _write_thought(
    transcript: Transcript, name: str, entry: Json, pointer: str, actor: str
) -> None:
    kind = Kind.BOOKKEEPING if name in _PLANS else Kind.REASONING
    if is_list(entry):
        text = "\n".join(written(item) for item in entry)
    else:
        text = written(entry)
    if text.strip().lower() not in _NOTHING:
        transcript.add(Draft(kind, pointer, actor=actor, text=text))


def _command(value: dict[str, Json]) -> Call | None:
    for key in ("command", "action", "tool_call", "function_call", "tool"):
        found = value.get(key)
        if is_object(found):
            return as_call(found)
        if isinstance(found, str) and found:
            for place in ("args", "arguments", "action_input", "parameters", "input"):
                if place in value:
                    arguments, text = arguments_of(value[place])
                    return Call(found, arguments, text)
    if text_at(value, "name") and is_object(value.get("arguments")):
        return as_call(value)
    return None
