"""What a tool call looks like in JSON, whoever wrote it."""

from __future__ import annotations

from msgspec import Struct

from planproof.core.content import Json
from planproof.core.json_values import embedded, is_list, is_object, text_at

_TOOLS = ("tool_name", "toolName", "tool", "tool.name", "function_name")
# Some write the tool's name where others put an object with name and arguments.
_ANY_NAME = ("name", *_TOOLS, "function", "action", "type")
_ARGUMENTS = (
    "arguments",
    "args",
    "input",
    "parameters",
    "tool_input",
    "toolInput",
    "tool_args",
    "tool.args",
    "kwargs",
    "action_input",
    "params",
    "rawInput",
)
_IDS = ("id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "callId")
_IDENTIFIED = frozenset(_IDS)
_WRAPPERS = ("function", "functionCall", "function_call", "toolUse", "tool_call", "toolCall")
_WRAPPED = frozenset(_WRAPPERS)
_IDENTIFIED_OR_WRAPPED = _IDENTIFIED | _WRAPPED


class Call(Struct):
    """A call: the tool, its arguments, or the bare text that it was given."""

    name: str
    arguments: Json = None
    text: str = ""
    id: str | None = None


def as_call(value: Json) -> Call | None:
    """The call that an entry of `tool_calls` and the like stands for; None when it is none."""
    if not is_object(value):
        return None
    identity = None
    # Many have none of these keys: to look for all of them at once is quicker.
    if not _IDENTIFIED_OR_WRAPPED.isdisjoint(value):
        identity = value.get("id")
        if not identity or not isinstance(identity, str):
            identity = call_id_of(value)
        inner = value.get("function")
        if not is_object(inner):
            inner = _wrapped(value)
        if inner is not None:
            # The name and the arguments are one level down, the id need not be.
            value = inner
            identity = identity or call_id_of(inner)
    name = value.get("name")
    if not name or not isinstance(name, str):
        name = text_at(value, *_ANY_NAME)
        if name is None:
            return None
    raw = value.get("arguments")
    if raw is None:
        raw = raw_arguments(value)
    if is_object(raw):
        return Call(name, raw, "", identity)
    arguments, text = arguments_of(raw)
    return Call(name, arguments, text, identity)


def _wrapped(value: dict[str, Json]) -> dict[str, Json] | None:
    """The object with name and arguments that an entry holds under one of several keys."""
    if _WRAPPED.isdisjoint(value):
        return None
    return next((value[key] for key in _WRAPPERS if is_object(value.get(key))), None)


def looks_like_call(value: dict[str, Json]) -> bool:
    """Whether an object of unknown origin is a call: a tool's name together with arguments."""
    if "description" in value and is_object(value.get("parameters")):
        return False  # the definition of a tool, not its use
    for key in _WRAPPERS:
        inner = value.get(key)
        if is_object(inner):
            return text_at(inner, "name") is not None and any(k in inner for k in _ARGUMENTS)
    if text_at(value, *_TOOLS):
        return True
    given = raw_arguments(value)
    return text_at(value, "name", "function") is not None and (
        is_object(given) or isinstance(given, str)
    )


def raw_arguments(value: dict[str, Json]) -> Json:
    """What stands under the first key that arguments are known to have."""
    for key in _ARGUMENTS:
        if key in value:
            return value[key]
    return None


def arguments_of(raw: Json) -> tuple[Json, str]:
    """Arguments as a JSON value, or as text where they are no JSON."""
    if isinstance(raw, str):
        value = embedded(raw)
        return (None, raw) if value is None else (value, "")
    return (raw, "") if is_object(raw) or is_list(raw) else (None, "")


def call_id_of(value: dict[str, Json]) -> str | None:
    """The id that ties a call and its result together."""
    # Many have none of these, and none is the quicker to see.
    for key in _IDS if not _IDENTIFIED.isdisjoint(value) else ():
        found = value.get(key)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, int) and not isinstance(found, bool):
            return str(found)
    return None
