"""Log files: records that begin with a time and a level."""

from __future__ import annotations

import re
from collections.abc import Callable

from planproof.readers.pieces.calls import Call, arguments_of
from planproof.readers.pieces.transcript import Result, Transcript
from planproof.trace import Kind

_START = re.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]?\d{0,9})\s{0,4}[|\-\[]?\s{0,4}"
    r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL|SUCCESS|TRACE)\b\s{0,8}\]?\s{0,4}[|:\-]\s{0,4}"
    r"(?:[\w.]{1,80}:[\w<>]{1,80}:\d{1,7}\s{0,4}-\s{0,4})?"
)
_NAMED = re.compile(
    r"(?:Tools? being prepared|Activating tool|Using tool|Calling tool|Tool call)\W{1,5}"
    r"([\w.\-]{1,80})"
)
_GIVEN = re.compile(r"Tool arguments:\s{0,4}")
_DONE = re.compile(r"Tool '([\w.\-]{1,80})' completed[^\n]{0,40}Result:\s{0,4}")
_THOUGHT = re.compile(r"thoughts?:\s{0,4}", re.IGNORECASE)
_PLAN = re.compile(r"^\s{0,8}\d{1,3}[.)] \[[^\]\n]{1,3}\]", re.MULTILINE)
_HEAD = 200


def log_lines(lines: list[str]) -> list[tuple[int, re.Match[str]]] | None:
    """The lines that begin a record; None when this is no log."""
    found = [(i, m) for i, line in enumerate(lines) if (m := _START.match(line, 0, _HEAD))]
    filled = sum(1 for line in lines[: found[0][0]] if line.strip()) if found else 0
    return found if len(found) > 1 and filled * 2 <= len(found) else None


def read_log(
    transcript: Transcript,
    lines: list[str],
    starts: list[tuple[int, re.Match[str]]],
    place: Callable[[int, int], str],
) -> None:
    """Write the records of a log that tell of calls, thoughts and plans."""
    name = "tool"
    ends = [start for start, _ in starts[1:]] + [len(lines)]
    for (start, match), end in zip(starts, ends, strict=True):
        transcript.time = match[1]
        text = "\n".join([lines[start][match.end() :], *lines[start + 1 : end]]).strip()
        pointer = place(start + 1, end)
        head = text[:_HEAD]
        if given := _GIVEN.search(head):
            transcript.begin_turn()
            arguments, bare = arguments_of(text[given.end() :])
            transcript.call(Call(name, arguments, bare), pointer, "assistant")
        elif done := _DONE.search(head):
            transcript.answer(Result(text[done.end() :], pointer, name=done[1], actor="tool"))
        elif named := _NAMED.search(head):
            name = named[1]
        elif thought := _THOUGHT.search(head):
            transcript.say(Kind.REASONING, text[thought.end() :], pointer, "assistant")
        else:
            kind = Kind.BOOKKEEPING if _PLAN.search(text[:2000]) else Kind.SYSTEM
            transcript.say(kind, text, pointer, "log")
