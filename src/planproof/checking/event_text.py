"""Extract the text, the argument values and the known commands of an event, and quote from it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import repeat
from types import NoneType
from typing import TypeAlias, TypeGuard, cast

from planproof.contracts.terms import extract_terms, load_command_terms
from planproof.core.content import Json
from planproof.core.finding import Evidence
from planproof.core.trace import DERIVED, Event

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


def collect_strings(value: Json, *, derived: bool = True) -> list[str]:
    """Return all strings in arguments, in order; not `derived` leaves out those from elsewhere."""
    return [
        item
        for key, item in flatten_arguments(value)
        if isinstance(item, str) and (derived or not key.startswith(DERIVED))
    ]


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


_MAX_QUOTE_CHARS = 120
_MAX_TEXT_CHARS = 8_000
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?](?=\s)|\n|$)")


def cite(event: Event, terms: frozenset[str]) -> Evidence:
    """Return evidence from an event: the passage with most of the given terms."""
    best, best_worth = "", -1
    for passage in _list_passages(event, by_name=bool(terms)):
        worth = len(terms & extract_terms(passage))
        if worth > best_worth:
            best, best_worth = passage, worth
    if terms and best_worth <= 0 and event.output_pointer is not None:
        for passage in _split_sentences(event.output):
            if terms & extract_terms(passage):
                return Evidence(event.id, event.output_pointer, passage)
    return Evidence(event.id, event.pointer, best)


def _list_passages(event: Event, *, by_name: bool) -> list[str]:
    """Return the passages of an event that can be quoted, most informative first."""
    passages = [
        passage
        for text in collect_strings(event.arguments, derived=False)
        if (passage := _clip(text))
    ]
    if event.text:
        passages += _split_sentences(event.text)
    # A tool's name is part of its call; the name of an agent that was addressed need not be.
    if event.name and (event.arguments is not None or not passages):
        return [event.name, *passages] if by_name else [*passages, event.name]
    return passages


def _split_sentences(text: str) -> list[str]:
    sentences = _SENTENCE.findall(text[:_MAX_TEXT_CHARS])
    return list(filter(None, map(_clip, sentences)))


def _clip(text: str) -> str:
    return text.strip()[:_MAX_QUOTE_CHARS].rstrip()
