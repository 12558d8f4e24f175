"""Runs that are kept as parallel arrays: what was done, and what came back."""

from __future__ import annotations

from planproof.content import Json
from planproof.readers.general.commands import command_name
from planproof.readers.pieces.calls import Call, as_call
from planproof.readers.pieces.shapes import is_list, is_object, key_with_list, written
from planproof.readers.pieces.transcript import Transcript
from planproof.trace import EventStatus, Kind

_DONE = ("actions", "commands", "action", "tool_calls")
_CAME_BACK = ("observations", "results", "outputs", "observation", "responses")
_THOUGHT = ("thoughts", "thought", "reasoning")
_VALID = ("valid_action", "success", "valid")


def read_arrays(transcript: Transcript, value: dict[str, Json], pointer: str) -> bool:
    """Write the actions of such a run; False when the object is none."""
    done = key_with_list(value, _DONE)
    back = key_with_list(value, _CAME_BACK)
    if done is None or back is None or abs(len(value[done]) - len(value[back])) > 1:
        return False
    thoughts = key_with_list(value, _THOUGHT)
    valid = key_with_list(value, _VALID)
    for index, action in enumerate(value[done]):
        transcript.begin_turn()
        thought = _nth(value, thoughts, index)
        if isinstance(thought, str):
            transcript.say(Kind.REASONING, thought, f"{pointer}/{thoughts}/{index}", "agent")
        call = as_call(action) if is_object(action) else None
        if call is None:
            call = Call(command_name(written(action)), text=written(action))
        draft = transcript.call(call, f"{pointer}/{done}/{index}", "agent")
        if index < len(value[back]):
            rejected = _nth(value, valid, index) is False
            draft.returned(
                written(value[back][index]),
                f"{pointer}/{back}/{index}",
                EventStatus.ERROR if rejected else None,
            )
    return True


def _nth(value: dict[str, Json], key: str | None, index: int) -> Json:
    entries = value.get(key) if key is not None else None
    return entries[index] if is_list(entries) and index < len(entries) else None
