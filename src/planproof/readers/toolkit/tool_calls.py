"""Parse tool calls of different frameworks from JSON, and the status of their results."""

from __future__ import annotations

import re

from msgspec import Struct

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_embedded_json, text_at
from planproof.core.trace import EventStatus

_TOOL_NAME_KEYS = ("tool_name", "toolName", "tool", "tool.name", "function_name", "action_name")
# Some formats have the tool's name where others have an object with name and arguments.
_NAME_KEYS = ("name", *_TOOL_NAME_KEYS, "function", "action", "action_type", "type")
_ARGUMENT_KEYS = (
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
    "action_args",
    "params",
    "rawInput",
)
_ID_KEYS = ("id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "callId")
_ID_KEY_SET = frozenset(_ID_KEYS)
_WRAPPER_KEYS = ("function", "functionCall", "function_call", "toolUse", "tool_call", "toolCall")
_WRAPPER_KEY_SET = frozenset(_WRAPPER_KEYS)
_ID_OR_WRAPPER_KEYS = _ID_KEY_SET | _WRAPPER_KEY_SET


class ToolCall(Struct):
    """A call: the tool, its arguments, or the plain text that it was given.

    `recognition` says how it was recognised in a text; it is empty for a recorded call.
    """

    name: str
    arguments: Json = None
    text: str = ""
    id: str | None = None
    recognition: str = ""


def parse_call(value: Json) -> ToolCall | None:
    """Parse the call in an entry of `tool_calls` or similar; None if it is not one."""
    if not is_object(value):
        return None
    identity = None
    # Many have none of these keys: one set comparison is faster.
    if not _ID_OR_WRAPPER_KEYS.isdisjoint(value):
        identity = value.get("id")
        if not identity or not isinstance(identity, str):
            identity = get_call_id(value)
        inner = value.get("function")
        if not is_object(inner):
            inner = _find_wrapped_call(value)
        if inner is not None:
            # Name and arguments are one level down; the id need not be.
            value = inner
            identity = identity or get_call_id(inner)
    name = value.get("name")
    if not name or not isinstance(name, str):
        name = text_at(value, *_NAME_KEYS)
        if name is None:
            return None
    raw = value.get("arguments")
    if raw is None:
        raw = get_raw_arguments(value)
    if is_object(raw):
        return ToolCall(name, raw, "", identity)
    arguments, text = parse_arguments(raw)
    return ToolCall(name, arguments, text, identity)


def _find_wrapped_call(value: dict[str, Json]) -> dict[str, Json] | None:
    """Return the object with name and arguments that an entry has under one of several keys."""
    if _WRAPPER_KEY_SET.isdisjoint(value):
        return None
    return next((value[key] for key in _WRAPPER_KEYS if is_object(value.get(key))), None)


def is_call_like(value: dict[str, Json]) -> bool:
    """Return whether an object of unknown origin is a call: a tool's name with arguments."""
    if "description" in value and is_object(value.get("parameters")):
        return False  # the definition of a tool, not its use
    for key in _WRAPPER_KEYS:
        inner = value.get(key)
        if is_object(inner):
            return text_at(inner, "name") is not None and any(k in inner for k in _ARGUMENT_KEYS)
    if text_at(value, *_TOOL_NAME_KEYS):
        return True
    arguments = get_raw_arguments(value)
    return text_at(value, "name", "function", "action_type") is not None and (
        is_object(arguments) or isinstance(arguments, str)
    )


def get_raw_arguments(value: dict[str, Json]) -> Json:
    """Return the value of the first known key for arguments."""
    for key in _ARGUMENT_KEYS:
        if key in value:
            return value[key]
    return None


def parse_arguments(raw: Json) -> tuple[Json, str]:
    """Return arguments as a JSON value, or as text if they are not JSON."""
    if isinstance(raw, str):
        value = parse_embedded_json(raw)
        return (None, raw) if value is None else (value, "")
    return (raw, "") if is_object(raw) or is_list(raw) else (None, "")


def get_call_id(value: dict[str, Json]) -> str | None:
    """Return the id that links a call and its result."""
    # Many have none of these keys, which one set comparison shows faster.
    for key in _ID_KEYS if not _ID_KEY_SET.isdisjoint(value) else ():
        call_id = value.get(key)
        if isinstance(call_id, str) and call_id:
            return call_id
        if isinstance(call_id, int) and not isinstance(call_id, bool):
            return str(call_id)
    return None


_FENCE = re.compile(r"\s{0,40}```[\w+-]{0,20}\s{1,40}")
_FENCED = re.compile(r"\n```[\w+-]{0,20}\n\s{0,40}")
_SQL = frozenset(
    "select insert update delete create alter drop show describe desc with use explain".split()
)
_WORD = re.compile(r"\s{0,40}([\w./+-]{1,60})")
_QUOTED = re.compile(r"`([^`\n]{1,4000})`")
_SEARCH_LIMIT = 4000


def get_command_name(command: str) -> str:
    """Return the tool of a command line: "sql" for a query, else its first word."""
    # A single character is found much faster, and few commands have it.
    has_backtick = "`" in command
    opened = _FENCE.match(command) if has_backtick and "```" in command else None
    start = opened.end() if opened else 0
    if opened is None and has_backtick and command[:1].isupper():
        # If there is prose around a command, the command is between backticks.
        fenced = _FENCED.search(command, 0, _SEARCH_LIMIT) if "\n```" in command else None
        quoted = _QUOTED.search(command, 0, _SEARCH_LIMIT) if fenced is None else None
        start = fenced.end() if fenced else quoted.start(1) if quoted else 0
    word = _WORD.match(command, start)
    if word is None:
        return "command"
    begins, ends = word.span(1)
    is_query = begins == start and word[1].lower() in _SQL and command[ends : ends + 1].isspace()
    return "sql" if is_query else word[1]


_HEAD_LENGTH = 400
_TAIL_LENGTH = 200
_EXIT_CODE = re.compile(
    r"\b(?:exit[ _]?(?:code|status)|return[ _]?code)\b[\"'>]?(?: was)? ?[:=]? ?(-?\d{1,5})\b"
)
_FAILURE_PREFIX = re.compile(
    r"""(?x)\s{0,40}(?:
        [<\[(*'"]{0,4}(?:error|fatal|exception|failure)s?\b(?!["'])
      | <tool_use_error> | failed\b | unable\ to\b | could\ not\b | invalid\b
      | http/?[\d.]{0,4}\ ?(?:error\ )?[45]\d\d\b
      | status(?:\ code)?:?\ ?[45]\d\d\b
      | (?:permission|access)\ denied | not\ found\b
    )"""
)
_INITIALS = frozenset("<[(*'\"efuihspanc")
_SHELL_ERRORS = (
    "command not found",
    "no such file or directory",
    "permission denied",
    "is a directory",
    "syntax error",
    "unexpected eof",
    "cannot access",
    "not found",
)
# Begins with a line end instead of ^, which is found in a fraction of the time.
_FAILURE_LINE = re.compile(
    rf"""(?x)\n(?:
      \ {{0,8}}traceback\ \(most\ recent\ call\ last\)
    | [\w.]{{0,80}}(?:error|exception):\s
    | [\w/.\-]{{1,80}}:\ (?:line\ \d{{1,6}}:\ )?(?:[^\n:]{{1,120}}:\ )?
      (?:{"|".join(map(re.escape, _SHELL_ERRORS))})
    )"""
)
_JSON_FAILURE = re.compile(
    r"""(?x)\s{0,40}\{\s{0,40}(?:
        "(?:error|errors|exception)"\s?:\s?(?!\s?(?:null|""|\[\]|\{\}|false))
      | "(?:success|ok)"\s?:\s?false
      | "(?:status|state)"\s?:\s?"(?:error|failed|failure)"
      | "is_?error"\s?:\s?true
    )"""
)
# Bound once: used for every result.
_OK, _ERROR = EventStatus.OK, EventStatus.ERROR
_STATUS_WORDS = {
    "ok": EventStatus.OK,
    "success": EventStatus.OK,
    "succeeded": EventStatus.OK,
    "completed": EventStatus.OK,
    "error": EventStatus.ERROR,
    "failed": EventStatus.ERROR,
    "failure": EventStatus.ERROR,
}


def infer_status(text: str) -> EventStatus:
    """Return an error status if a result reports a failure, else a success."""
    head = text[:_HEAD_LENGTH].lower()
    exit_code = _find_exit_code(head)
    if exit_code is None and len(text) > _HEAD_LENGTH:
        exit_code = _find_exit_code(text[max(_HEAD_LENGTH, len(text) - _TAIL_LENGTH) :].lower())
    if exit_code is not None:
        return _OK if exit_code == 0 else _ERROR
    return _ERROR if _is_failure(head) else _OK


def parse_status(value: Json) -> EventStatus | None:
    """Parse the status field of a record; None if it is not understood."""
    if is_object(value):
        value = value.get("status_code") or value.get("code")
    if isinstance(value, bool):  # `success: false`
        return _OK if value else _ERROR
    if isinstance(value, str):
        return _STATUS_WORDS.get(value.rpartition("_")[2].lower())
    return None


def _is_failure(head: str) -> bool:
    initial = head.lstrip()[:1]
    if initial == "{":
        if _JSON_FAILURE.match(head):
            return True
        if head.startswith("{") and "\n" not in head:
            return False
    elif initial in _INITIALS and _FAILURE_PREFIX.match(head):
        return True
    may_tell = ":" in head or "traceback (" in head
    return may_tell and _FAILURE_LINE.search(f"\n{head}") is not None


def _find_exit_code(text: str) -> int | None:
    # Few texts have an x, and searching for a single letter takes a tenth of the time.
    may_tell = ("x" in text and "exit" in text) or "return" in text
    match = _EXIT_CODE.search(text) if may_tell else None
    return int(match[1]) if match is not None else None
