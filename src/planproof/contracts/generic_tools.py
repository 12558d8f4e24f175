"""Recognise tools that can do anything: shells, code, SQL, HTTP, browser and computer actions.

Their name does not say which action a call is, so a requirement must say it with `is`.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal, TypeAlias

from planproof.core.contract import ANY_ARGUMENT
from planproof.core.knowledge import read_knowledge

Language: TypeAlias = Literal["shell", "python", "sql"]

_LANGUAGES: tuple[Language, ...] = ("shell", "python", "sql")
_KINDS = (*_LANGUAGES, "http", "browser", "computer")
_NAMESPACE = re.compile(r".*(?:__|[./:])(?=.)", re.DOTALL)
_MAX_NAME_CHARS = 200


@lru_cache(maxsize=4_096)
def find_language(tool: str, argument: str = ANY_ARGUMENT) -> Language | None:
    """Return the language that an argument of a tool holds; `*` stands for the only argument."""
    return _find_language(tool[:_MAX_NAME_CHARS], argument[:_MAX_NAME_CHARS])


@lru_cache(maxsize=4_096)
def _find_language(tool: str, argument: str) -> Language | None:
    known, names = _load_known_names(), _list_names(tool)
    argument = argument if argument == ANY_ARGUMENT else _fold(argument)
    for language in _LANGUAGES:
        if names & known[language] and argument in known[f"{language}_argument"]:
            return language
    for language in _LANGUAGES:
        if argument in known[f"{language}_anywhere"]:
            return language
    return None


def is_generic(tool: str) -> bool:
    """Return whether a tool can do anything, so that its name does not say what a call does."""
    known, names = _load_known_names(), _list_names(tool)
    return any(names & known[kind] for kind in _KINDS)


def runs_code(tool: str) -> bool:
    """Return whether a tool runs what it is given: a shell, code, SQL or HTTP.

    Other generic tools, such as click and type, at least name an action.
    """
    known, names = _load_known_names(), _list_names(tool)
    return any(names & known[kind] for kind in (*_LANGUAGES, "http"))


@cache
def _load_known_names() -> dict[str, frozenset[str]]:
    return {
        kind: frozenset(name if name == ANY_ARGUMENT else _fold(name) for name in names)
        for kind, names in read_knowledge("generic_tools.txt")
    }


@lru_cache(maxsize=4_096)
def _list_names(tool: str) -> frozenset[str]:
    """Return the name of a tool with and without its namespace ("mcp__server__bash" -> bash)."""
    tool = tool[:_MAX_NAME_CHARS]
    return frozenset({_fold(tool), _fold(_NAMESPACE.sub("", tool, count=1))})


def _fold(name: str) -> str:
    """Return the letters and digits of a name, so that `runCommand` equals `run_command`."""
    return "".join(filter(str.isalnum, name[:_MAX_NAME_CHARS].lower()))
