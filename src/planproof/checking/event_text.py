"""Extract the text, the argument values and the known commands of a call."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import repeat
from types import NoneType
from typing import TypeAlias, TypeGuard, cast

from planproof.contracts.terms import load_command_terms
from planproof.core.content import Json
from planproof.core.trace import Event

Leaves: TypeAlias = Collection[tuple[str, Json]]
"""The scalar values in arguments, each with its key."""

_SCALAR_TYPES = frozenset({str, int, float, bool, NoneType})
_NONE: frozenset[str] = frozenset()
_MAX_CODE_CHARS = 20_000
_MAX_SHELL_CHARS = 2_000
_MAX_CACHED_CHARS = 120
_SHELL_WORD = re.compile(
    r"(?:^|[|;&(`]|\$\(|-exec)\s*(?:(?:sudo|time|xargs(?:\s+-\S+)*)\s+)*([A-Za-z][\w.+-]*)",
    re.MULTILINE,
)
_SQL = re.compile(
    r"^\W*(?:select|show|describe|desc|insert|update|delete|create|alter|drop|with|use)\b",
    re.IGNORECASE,
)
_SQL_WORD = re.compile(
    r"\b(select|show\s+tables|show|describe|where|group\s+by|order\s+by|desc|asc|limit|count|sum"
    r"|avg|max|min|distinct|having|join|insert|update|delete|create|alter|drop|union|like|between"
    r"|not\s+in)\b",
    re.IGNORECASE,
)
_FUNCTION_CALL = re.compile(r"\b([A-Za-z_]\w{1,60})\s*\(")
_SPACE = re.compile(r"\s+")


def find_known_commands(event: Event, leaves: Leaves) -> frozenset[str]:
    """Return the known commands, keywords and functions that an action uses."""
    known = load_command_terms()
    commands = _NONE
    if event.name and (name := event.name.lower()) in known:
        commands |= {name}
    for text in (event.text, *[value for _, value in leaves if isinstance(value, str)]):
        if text.isidentifier():
            if (word := text.lower()) in known:
                commands |= {word}
        elif text:
            commands |= (
                _find_commands_cached(text)
                if len(text) <= _MAX_CACHED_CHARS
                else _find_commands(text)
            )
    return commands


def _find_commands(text: str) -> frozenset[str]:
    if _SQL.match(text):
        words = [_SPACE.sub("_", word) for word in _SQL_WORD.findall(text)]
    else:
        words = _SHELL_WORD.findall(text[:_MAX_SHELL_CHARS])
        if "(" in text:
            words += _FUNCTION_CALL.findall(text[:_MAX_CODE_CHARS])
    return frozenset(filter(load_command_terms().__contains__, map(str.lower, words)))


# Short texts are repeated many times in a trace.
_find_commands_cached = lru_cache(maxsize=4_096)(_find_commands)


def format_call(event: Event, leaves: Leaves | None = None) -> str:
    """Format an event with its arguments as one text."""
    if event.arguments is None:
        return event.text
    arguments_text = "\n".join(
        [
            f"{key}: {value}" if key else str(value)
            for key, value in (flatten_arguments(event.arguments) if leaves is None else leaves)
            if value is not None and value != ""
        ]
    )
    return (
        f"{event.text}\n{arguments_text}"
        if event.text and event.text not in arguments_text
        else arguments_text
    )


def collect_strings(value: Json) -> list[str]:
    """Return all strings in arguments, in order."""
    return [item for _, item in flatten_arguments(value) if isinstance(item, str)]


def flatten_arguments(value: Json) -> Leaves:
    """Return the scalar values in arguments, in order, each with its nearest key."""
    if value is None:
        return ()
    # Most arguments are a flat object.
    if _is_object(value) and _SCALAR_TYPES.issuperset(map(type, value.values())):
        return value.items()
    leaves: list[tuple[str, Json]] = []
    pending: list[Iterator[tuple[str, Json]]] = [iter([("", value)])]
    while pending:
        for key, item in pending[-1]:
            if _is_object(item):
                pending.append(iter(item.items()))
                break
            if isinstance(item, list):
                pending.append(zip(repeat(key), cast(list[Json], item), strict=False))
                break
            leaves.append((key, item))
        else:
            pending.pop()
    return leaves


def _is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    return isinstance(value, dict)
