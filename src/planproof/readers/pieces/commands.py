"""Command lines: which tool is behind one."""

from __future__ import annotations

import re

_FENCE = re.compile(r"\s{0,40}```[\w+-]{0,20}\s{1,40}")
_FENCED = re.compile(r"\n```[\w+-]{0,20}\n\s{0,40}")
_SQL = re.compile(
    r"(?:select|insert|update|delete|create|alter|drop|show|describe|desc|with|use|explain)\s",
    re.IGNORECASE,
)
_WORD = re.compile(r"\s{0,40}([\w./+-]{1,60})")
_QUOTED = re.compile(r"`([^`\n]{1,4000})`")
_LOOKED_AT = 4000


def command_name(command: str) -> str:
    """The tool behind a command line: "sql" for a query, else its first word."""
    opened = _FENCE.match(command) if "```" in command else None
    start = opened.end() if opened else 0
    if opened is None and "`" in command and command[:1].isupper():
        # Prose around a command: the command is what stands between backticks.
        fenced = _FENCED.search(command, 0, _LOOKED_AT) if "\n```" in command else None
        quoted = _QUOTED.search(command, 0, _LOOKED_AT) if fenced is None else None
        start = fenced.end() if fenced else quoted.start(1) if quoted else 0
    if _SQL.match(command, start):
        return "sql"
    word = _WORD.match(command, start)
    return word[1] if word else "command"
