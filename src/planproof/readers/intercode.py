"""Read InterCode runs: parallel arrays of actions and observations."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import format_value, is_object, key_with_list, text_at
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.tool_calls import ToolCall, get_command_name, parse_call
from planproof.readers.toolkit.trace_builder import TraceBuilder

_WRAPPER_KEYS = ("turn_history", "logs")
_ACTION_KEYS = ("actions", "commands")
_RESULT_KEYS = ("observations", "results", "outputs")
_THOUGHT_KEYS = ("thoughts", "thought")
_VALID_KEYS = ("valid_action", "success")


class InterCodeReader:
    """Reads turn histories of InterCode: parallel arrays `actions` and `observations`."""

    name = "intercode"

    def sniff(self, source: Source) -> bool:
        """Return whether the document is a run stored in arrays of the same length."""
        return source.form == "json" and _find_run(source.document) is not None

    def read(self, source: Source) -> Trace:
        """Return each action with its observation; rewards are not events."""
        builder = TraceBuilder(source.skipped)
        document = source.document
        task = text_at(document, "query") if is_object(document) else None
        if task is not None:
            builder.begin_turn()
            builder.add_message(Kind.MESSAGE, task, "/query", "user")
        run = _find_run(document)
        if run is not None:
            add_arrays(builder, *run)
        return builder.build(self.name)


def add_arrays(builder: TraceBuilder, value: dict[str, Json], pointer: str) -> bool:
    """Add the actions of a run in parallel arrays; return False if the object is not one."""
    if not _is_run(value):
        return False
    done, back = key_with_list(value, _ACTION_KEYS) or "", key_with_list(value, _RESULT_KEYS) or ""
    thoughts, valid = key_with_list(value, _THOUGHT_KEYS), key_with_list(value, _VALID_KEYS)
    results: list[Json] = value[back]
    for index, action in enumerate(value[done]):
        builder.begin_turn()
        if thoughts is not None:
            thought = _get_item(value[thoughts], index)
            if isinstance(thought, str):
                builder.add_message(
                    Kind.REASONING, thought, f"{pointer}/{thoughts}/{index}", "agent"
                )
        call = parse_call(action) if is_object(action) else None
        if call is None:
            text = format_value(action)
            call = ToolCall(get_command_name(text), text=text)
        draft = builder.add_call(call, f"{pointer}/{done}/{index}", "agent")
        if index < len(results):
            rejected = valid is not None and _get_item(value[valid], index) is False
            draft.set_output(
                format_value(results[index]),
                f"{pointer}/{back}/{index}",
                EventStatus.ERROR if rejected else None,
            )
    return True


def _find_run(document: Json) -> tuple[dict[str, Json], str] | None:
    """Return the object with the arrays, and the pointer to it."""
    pointer = ""
    for _ in range(len(_WRAPPER_KEYS) + 1):
        if not is_object(document):
            return None
        if _is_run(document):
            return document, pointer
        key = next((key for key in _WRAPPER_KEYS if is_object(document.get(key))), None)
        if key is None:
            return None
        document, pointer = document[key], f"{pointer}/{key}"
    return None


def _is_run(value: dict[str, Json]) -> bool:
    done, back = key_with_list(value, _ACTION_KEYS), key_with_list(value, _RESULT_KEYS)
    # The last action may not have a result yet.
    return done is not None and back is not None and abs(len(value[done]) - len(value[back])) <= 1


def _get_item(values: list[Json], index: int) -> Json:
    return values[index] if index < len(values) else None
