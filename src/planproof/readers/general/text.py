"""Text: turns under headers, and what stands inside them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from planproof.readers.general.logs import log_lines, read_log
from planproof.readers.pieces.conversation import AGENTS, ROLES, SYSTEMS, TOOLS, USERS
from planproof.readers.pieces.deeds import as_deed, write_deed
from planproof.readers.pieces.markup import segments
from planproof.readers.pieces.transcript import Result, Transcript
from planproof.trace import Kind

_ANSI = re.compile(r"\x1b?\[\d{1,3}(?:;\d{1,3}){0,3}m")
_LABEL = re.compile(
    r"(?:#{1,4} {0,2}|\*\*|\[)?(user|human|assistant|ai|agent|system|tool)(?:\*\*|\])? ?:(?:\*\*)?",
    re.IGNORECASE,
)
_RESPONSE = re.compile(
    r"(?:\S{1,80} - [A-Z]{4,8} - )?([\w. -]{1,60})(?:'s [Rr]esponse|->[\w. -]{1,60}):"
)
_CHECKBOX = re.compile(r"\s{0,40}(?:\d{1,3}[.)]|[-*])\s{1,8}\[[^\]\n]{1,3}\]")
_LONGEST_HEADER = 300
_MOST_DASHES = 12


@dataclass(slots=True)
class _Turn:
    """A stretch of lines under one header."""

    speaker: str
    first: int
    lines: list[str]


def read_text(transcript: Transcript, lines: list[str], place: Callable[[int, int], str]) -> bool:
    """Write the turns of a text; says whether there was any structure in it.

    `place` makes a pointer of a first and a last line number.
    """
    log = log_lines(lines)
    if log is not None:
        read_log(transcript, lines, log, place)
        return True
    turns = _turns(lines)
    for turn in turns:
        _read_turn(transcript, turn, place)
    return len(turns) > 1 or any(draft.kind is not Kind.MESSAGE for draft in transcript.drafts)


def _turns(lines: list[str]) -> list[_Turn]:
    turns = [_Turn("", 1, [])]
    inside = False
    for number, line in enumerate(lines, 1):
        # A header within what came back is part of what came back.
        speaker, rest = (None, "") if inside else _header(line)
        if "<observation>" in line:
            inside = True
        if "</observation>" in line:
            inside = False
        if speaker is None:
            turns[-1].lines.append(line)
        elif rest:
            turns.append(_Turn(speaker, number, [rest]))
        else:
            turns.append(_Turn(speaker, number + 1, []))
    return turns


def _header(line: str) -> tuple[str | None, str]:
    if not line or len(line) > _LONGEST_HEADER:
        return None, ""
    if line[0] in "=-#*":
        bare = _ANSI.sub("", line).strip()
        name = bare.strip(line[0]).strip()
        ruled = len(bare) - len(bare.lstrip(line[0]))
        is_role = name.lower().removesuffix(" message") in ROLES
        named = line[0] == "-" and ruled <= _MOST_DASHES and name.replace("_", "").isalnum()
        if ruled > 3 and bare.endswith(line[0] * 4) and (is_role or named):
            return name, ""
    label = _LABEL.match(line) or _RESPONSE.match(line)
    return (label[1], line[label.end() :]) if label is not None else (None, "")


def _read_turn(transcript: Transcript, turn: _Turn, place: Callable[[int, int], str]) -> None:
    text = "\n".join(turn.lines)
    if not text or text.isspace():
        return
    at = _Lines(turn, place)
    who = turn.speaker.lower().removesuffix(" message")
    whole = at.pointer(text, 0, len(text))
    if who in TOOLS:
        transcript.answer(Result(text.strip(), whole, actor="tool"))
        return
    transcript.begin_turn()
    if who in SYSTEMS:
        transcript.say(Kind.SYSTEM, text.strip(), whole, "system")
    elif who in USERS:
        transcript.say(Kind.MESSAGE, text.strip(), whole, "user")
    else:
        actor = turn.speaker if who and who not in AGENTS else "assistant"
        deed = as_deed(text)
        if deed is not None:
            write_deed(transcript, deed, whole, actor)
        else:
            _read_agent(transcript, text, at, actor)


def _read_agent(transcript: Transcript, text: str, at: _Lines, actor: str) -> None:
    found = segments(text)
    acts = any(segment.call is not None for segment in found)
    for segment in found:
        piece = text[segment.start : segment.end].strip()
        pointer = at.pointer(text, segment.start, segment.end)
        if segment.call is not None:
            transcript.call(segment.call, pointer, actor)
        elif segment.sort == "result":
            transcript.answer(Result(piece, pointer, actor="environment"))
        elif _restates_plan(piece):
            transcript.say(Kind.BOOKKEEPING, piece, pointer, actor)
        else:
            thought = segment.sort == "thought" or (acts and segment.sort == "prose")
            kind = Kind.REASONING if thought else Kind.MESSAGE
            transcript.say(kind, piece, pointer, actor)


def _restates_plan(text: str) -> bool:
    lines = [line for line in text.split("\n") if line and not line.isspace()]
    return sum(_CHECKBOX.match(line) is not None for line in lines) * 2 > len(lines)


class _Lines:
    """Turns offsets in a turn's text into pointers to lines."""

    def __init__(self, turn: _Turn, place: Callable[[int, int], str]) -> None:
        self._place = place
        self._first = turn.first
        self._starts = [0]
        for line in turn.lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def pointer(self, text: str, start: int, end: int) -> str:
        """The lines that a stretch of the text covers, without blank lines around it."""
        piece = text[start:end]
        first = start + len(piece) - len(piece.lstrip())
        last = max(first, end - (len(piece) - len(piece.rstrip())) - 1)
        above = self._first - 1
        return self._place(
            above + bisect_right(self._starts, first), above + bisect_right(self._starts, last)
        )
