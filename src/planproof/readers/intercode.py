"""InterCode: a run as parallel arrays of what was done and what came back."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import is_object, key_with_list, text_at, written
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.command_tools import command_name
from planproof.readers.toolkit.tool_calls import Call, as_call
from planproof.readers.toolkit.trace_builder import Transcript

_HOLDERS = ("turn_history", "logs")
_DONE = ("actions", "commands")
_CAME_BACK = ("observations", "results", "outputs")
_THOUGHT = ("thoughts", "thought")
_VALID = ("valid_action", "success")


class InterCodeReader:
    """Reads `actions` and `observations` side by side, bare or under `turn_history`."""

    name = "intercode"

    def sniff(self, source: Source) -> bool:
        """Whether the document is a run that is kept in arrays of the same length."""
        return source.form == "json" and _run_in(source.document) is not None

    def read(self, source: Source) -> Trace:
        """Each action with what came back; rewards are no events."""
        transcript = Transcript(source.skipped)
        document = source.document
        task = text_at(document, "query") if is_object(document) else None
        if task is not None:
            transcript.begin_turn()
            transcript.say(Kind.MESSAGE, task, "/query", "user")
        found = _run_in(document)
        if found is not None:
            read_arrays(transcript, *found)
        return transcript.trace(self.name)


def read_arrays(transcript: Transcript, value: dict[str, Json], pointer: str) -> bool:
    """Write the actions of such a run; False when the object is none."""
    if not _is_run(value):
        return False
    done, back = key_with_list(value, _DONE) or "", key_with_list(value, _CAME_BACK) or ""
    thoughts, valid = key_with_list(value, _THOUGHT), key_with_list(value, _VALID)
    results: list[Json] = value[back]
    for index, action in enumerate(value[done]):
        transcript.begin_turn()
        if thoughts is not None:
            thought = _nth(value[thoughts], index)
            if isinstance(thought, str):
                transcript.say(Kind.REASONING, thought, f"{pointer}/{thoughts}/{index}", "agent")
        call = as_call(action) if is_object(action) else None
        if call is None:
            text = written(action)
            call = Call(command_name(text), text=text)
        draft = transcript.call(call, f"{pointer}/{done}/{index}", "agent")
        if index < len(results):
            rejected = valid is not None and _nth(value[valid], index) is False
            draft.returned(
                written(results[index]),
                f"{pointer}/{back}/{index}",
                EventStatus.ERROR if rejected else None,
            )
    return True


def _run_in(document: Json) -> tuple[dict[str, Json], str] | None:
    """The object with the arrays, and the pointer to it."""
    pointer = ""
    for _ in range(len(_HOLDERS) + 1):
        if not is_object(document):
            return None
        if _is_run(document):
            return document, pointer
        key = next((key for key in _HOLDERS if is_object(document.get(key))), None)
        if key is None:
            return None
        document, pointer = document[key], f"{pointer}/{key}"
    return None


def _is_run(value: dict[str, Json]) -> bool:
    done, back = key_with_list(value, _DONE), key_with_list(value, _CAME_BACK)
    # The last action may be still without its result.
    return done is not None and back is not None and abs(len(value[done]) - len(value[back])) <= 1


def _nth(values: list[Json], index: int) -> Json:
    return values[index] if index < len(values) else None
