"""Runs that are kept as parallel arrays: what was done, and what came back."""

from __future__ import annotations

import re

from planproof.content import Json
from planproof.readers.calls import as_call
from planproof.readers.outcomes import outcome_of
from planproof.readers.shapes import is_list, is_object, written
from planproof.readers.transcript import Draft, Transcript
from planproof.trace import EventStatus, Kind

_DONE = ("actions", "commands", "action", "tool_calls")
_CAME_BACK = ("observations", "results", "outputs", "observation", "responses")
_THOUGHT = ("thoughts", "thought", "reasoning")
_VALID = ("valid_action", "success", "valid")
_FENCE = re.compile(r"\s*```[\w+-]*\s*")
_SQL = re.compile(
    r"(?:select|insert|update|delete|create|alter|drop|show|describe|desc|with|use|explain)\s",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w./+-]{1,60}")


def read_arrays(transcript: Transcript, value: dict[str, Json], pointer: str) -> bool:
    """Write the actions of such a run; False when the object is none."""
    done_key = next((key for key in _DONE if is_list(value.get(key))), None)
    back_key = next((key for key in _CAME_BACK if is_list(value.get(key))), None)
    if done_key is None or back_key is None:
        return False
    done, back = value[done_key], value[back_key]
    if abs(len(done) - len(back)) > 1:
        return False
    thought_key = next((key for key in _THOUGHT if is_list(value.get(key))), None)
    valid = next((value[key] for key in _VALID if is_list(value.get(key))), [])
    for index, action in enumerate(done):
        transcript.begin_turn()
        if thought_key is not None and index < len(value[thought_key]):
            thought = value[thought_key][index]
            if isinstance(thought, str) and thought.strip():
                place = f"{pointer}/{thought_key}/{index}"
                transcript.add(Draft(Kind.REASONING, place, text=thought))
        draft = _action(action, f"{pointer}/{done_key}/{index}")
        if index < len(back):
            draft.output = written(back[index])
            draft.output_pointer = f"{pointer}/{back_key}/{index}"
            draft.status = outcome_of(draft.output)
            if index < len(valid) and valid[index] is False:
                draft.status = EventStatus.ERROR
        transcript.add(draft)
    return True


def command_name(command: str) -> str:
    """The tool behind a command line: "sql" for a query, else its first word."""
    opened = _FENCE.match(command)
    start = opened.end() if opened else len(command) - len(command.lstrip())
    if _SQL.match(command, start):
        return "sql"
    word = _WORD.match(command, start)
    return word[0] if word else "command"


def _action(action: Json, pointer: str) -> Draft:
    call = as_call(action) if is_object(action) else None
    if call is not None:
        return Draft(Kind.ACTION, pointer, call.name, None, call.text, call.arguments)
    text = written(action)
    return Draft(Kind.ACTION, pointer, command_name(text), text=text)
