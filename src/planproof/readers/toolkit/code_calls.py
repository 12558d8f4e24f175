"""Parse calls as Python writes them: `search(query="x")`, and code that is nothing but calls."""

from __future__ import annotations

import re
from collections.abc import Callable

from planproof.core.content import Json
from planproof.core.json_values import is_object
from planproof.readers.toolkit.python_repr import ParsedRepr, parse_repr
from planproof.readers.toolkit.tool_calls import ToolCall, parse_arguments

_MAX_LINES = 100
_ASSIGNED = re.compile(r"[A-Za-z_]\w{0,80} ?= ?(?=[A-Za-z_])")
_PRINT = "print("
_KEYWORD = re.compile(r"^[A-Za-z_]\w{0,80} ?= ?")
_CONSTANTS = frozenset(("True", "False", "None"))
_TYPE, _POSITIONAL = "@type", "@args"


def parse_written_arguments(raw: str) -> tuple[Json, str]:
    """Return arguments that an agent wrote: as a JSON value or a Python dictionary, or as text."""
    arguments, text = parse_arguments(raw)
    if arguments is None and text.lstrip().startswith("{"):
        parsed = parse_repr(text.strip())
        is_whole = parsed is not None and parsed.end == len(text.strip())
        if parsed is not None and is_whole and is_object(parsed.value):
            return parsed.value, ""
    return arguments, text


def parse_named_arguments(call: str) -> dict[str, Json] | None:
    """Return the arguments of a call such as `f(x=1, y="a")`; None unless all have names."""
    parsed = parse_repr(call) if call.endswith(")") else None
    value = parsed.value if parsed is not None and parsed.end == len(call) else None
    if not is_object(value) or _TYPE not in value or _POSITIONAL in value:
        return None
    return {name: given for name, given in value.items() if name != _TYPE} or None


def split_code_calls(call: ToolCall, is_tool: Callable[[str], bool]) -> list[ToolCall]:
    """Return the calls that code makes, if each of its lines calls a tool with constants.

    A function is a tool if `is_tool` holds for its name; its result may be printed or assigned to a
    name. Other code is returned as the one call that it is.
    """
    lines = [line.rstrip() for line in call.text.split("\n", _MAX_LINES) if line.strip()]
    if call.name != "python" or not 0 < len(lines) <= _MAX_LINES:
        return [call]
    calls: list[ToolCall] = []
    for line in lines:
        made = _parse_line(line)
        if made is None or not is_tool(made.name):
            return [call]
        made.recognition = call.recognition
        calls.append(made)
    return calls


def _parse_line(line: str) -> ToolCall | None:
    assigned = _ASSIGNED.match(line)
    start = assigned.end() if assigned is not None else 0
    end = len(line)
    if line.startswith(_PRINT, start) and line.endswith(")"):
        start, end = start + len(_PRINT), end - 1
    text = line[start:end].strip()
    parsed = parse_repr(text)
    value = parsed.value if parsed is not None and parsed.end == len(text) else None
    if parsed is None or not is_object(value) or not text.endswith(")"):
        return None
    name = value.get(_TYPE)
    if (
        not isinstance(name, str)
        or not text.startswith(f"{name}(")
        or not _is_constant(parsed, text)
    ):
        return None
    return ToolCall(name, parse_named_arguments(text), text)


def _is_constant(parsed: ParsedRepr, text: str) -> bool:
    """Return whether no argument is a variable or another call: names are parsed as text."""
    inner = (text[start:end] for pointer, (start, end) in parsed.ranges.items() if pointer)
    values = (_KEYWORD.sub("", given, count=1) for given in inner)
    return all(value in _CONSTANTS or not value[:1].isidentifier() for value in values)
