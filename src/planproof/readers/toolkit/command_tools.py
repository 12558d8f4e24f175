"""Command lines: which tool is behind one."""

from __future__ import annotations

import re

_FENCE = re.compile(r"\s{0,40}```[\w+-]{0,20}\s{1,40}")
_FENCED = re.compile(r"\n```[\w+-]{0,20}\n\s{0,40}")
_SQL = frozenset(
    "select insert update delete create alter drop show describe desc with use explain".split()
)
_WORD = re.compile(r"\s{0,40}([\w./+-]{1,60})")
_QUOTED = re.compile(r"`([^`\n]{1,4000})`")
_SEARCH_LIMIT = 4000


def get_command_name(command: str) -> str:
    """The tool behind a command line: "sql" for a query, else its first word."""
    opened = _FENCE.match(command) if "```" in command else None
    start = opened.end() if opened else 0
    if opened is None and "`" in command and command[:1].isupper():
        # Prose around a command: the command is what stands between backticks.
        fenced = _FENCED.search(command, 0, _SEARCH_LIMIT) if "\n```" in command else None
        quoted = _QUOTED.search(command, 0, _SEARCH_LIMIT) if fenced is None else None
        start = fenced.end() if fenced else quoted.start(1) if quoted else 0
    word = _WORD.match(command, start)
    if word is None:
        return "command"
    begins, ends = word.span(1)
    is_query = begins == start and word[1].lower() in _SQL and command[ends : ends + 1].isspace()
    return "sql" if is_query else word[1]
