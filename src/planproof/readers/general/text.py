"""Text logs: turns under headers, and what stands inside them."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from planproof.readers.calls import arguments_of
from planproof.readers.conversation import SYSTEMS, TOOLS, USERS
from planproof.readers.markup import segments
from planproof.readers.transcript import Draft, Result, Transcript
from planproof.trace import Kind

_ANSI = re.compile(r"\x1b?\[\d{1,3}(?:;\d{1,3}){0,3}m")
_RULED = re.compile(
    r"(?:={4,}|-{4,}|#{4,}|\*{4,})\s*([^=\-#*\n]{1,80}?)\s*(?:={4,}|-{4,}|#{4,}|\*{4,})"
)
_LABEL = re.compile(
    r"(?:#{1,4}\s*|\*\*|\[)?(user|human|assistant|ai|agent|system|tool)(?:\*\*|\])?\s*:(?:\*\*)?",
    re.IGNORECASE,
)
_LOG = re.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]?\d{0,9})\s*(?:\||-|\[)?\s*"
    r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL|SUCCESS|TRACE)\b\s*\]?\s*(?:\||-|:)\s*"
    r"(?:[\w.]{1,80}:[\w<>]{1,80}:\d{1,7}\s*-\s*)?"
)
_CHECKBOX = re.compile(r"\s*(?:\d{1,3}[.)]|[-*])\s*\[[^\]\n]{1,3}\]")
_TOOL_NAMED = re.compile(
    r"(?:Activating tool|Using tool|Calling tool|Tool call)\W{1,5}([\w.\-]{1,80})"
)
_TOOLS_NAMED = re.compile(r"Tools being prepared\W{1,5}([\w.\-]{1,80})")
_TOOL_GIVEN = re.compile(r"Tool arguments:\s*")
_TOOL_DONE = re.compile(r"Tool '([\w.\-]{1,80})' completed[^\n]{0,40}Result:\s*")
_THOUGHTS = re.compile(r"(?:\w{1,40}'s )?thoughts?:\s*", re.IGNORECASE)


@dataclass(slots=True)
class _Turn:
    """A stretch of lines under one header."""

    speaker: str | None
    first: int
    lines: list[str]


def read_text(transcript: Transcript, text: str) -> None:
    """Write the turns of a text log."""
    lines = text.split("\n")
    log = [_LOG.match(line[:200]) for line in lines]
    if sum(match is not None for match in log) * 4 >= sum(1 for line in lines if line.strip()):
        _read_log(transcript, lines, log)
        return
    for turn in _turns(lines):
        _read_turn(transcript, turn)


def _turns(lines: list[str]) -> list[_Turn]:
    turns = [_Turn(None, 1, [])]
    for number, line in enumerate(lines, 1):
        speaker, rest = _header(line)
        if speaker is not None:
            turns.append(_Turn(speaker, number if rest else number + 1, [rest] if rest else []))
        else:
            turns[-1].lines.append(line)
    return turns


def _header(line: str) -> tuple[str | None, str]:
    if len(line) > 300 or not line:
        return None, ""
    bare = _ANSI.sub("", line).strip() if "[" in line else line.strip()
    ruled = _RULED.fullmatch(bare)
    if ruled is not None:
        return ruled[1], ""
    label = _LABEL.match(line)
    if label is not None:
        return label[1], line[label.end() :]
    return None, ""


def _read_turn(transcript: Transcript, turn: _Turn) -> None:
    text = "\n".join(turn.lines)
    if not text.strip():
        return
    starts = [0]
    for line in turn.lines:
        starts.append(starts[-1] + len(line) + 1)
    who = (turn.speaker or "").lower().removesuffix(" message").strip()
    pointer = _Place(turn.first, starts)
    if who in TOOLS or who.startswith("tool"):
        transcript.answer(Result(text.strip(), pointer.at(text, 0, len(text)), actor=turn.speaker))
        return
    transcript.begin_turn()
    if who in SYSTEMS or who in USERS:
        kind = Kind.SYSTEM if who in SYSTEMS else Kind.MESSAGE
        actor = "system" if who in SYSTEMS else "user"
        transcript.add(Draft(kind, pointer.at(text, 0, len(text)), actor=actor, text=text.strip()))
        return
    _read_agent(transcript, text, pointer, turn.speaker or "assistant")


def _read_agent(transcript: Transcript, text: str, pointer: _Place, actor: str) -> None:
    found = segments(text)
    acts = any(segment.call is not None for segment in found)
    for segment in found:
        piece = text[segment.start : segment.end].strip()
        if not piece:
            continue
        place = pointer.at(text, segment.start, segment.end)
        call = segment.call
        if call is not None:
            transcript.call(
                Draft(Kind.ACTION, place, call.name, actor, call.text, call.arguments), call.id
            )
        elif segment.is_result:
            transcript.answer(Result(piece, place, actor="environment"))
        else:
            kind = Kind.REASONING if acts or segment.is_thought else Kind.MESSAGE
            if _restates_plan(piece):
                kind = Kind.BOOKKEEPING
            transcript.add(Draft(kind, place, actor=actor, text=piece))


def _restates_plan(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    boxes = sum(_CHECKBOX.match(line) is not None for line in lines)
    return boxes * 2 > len(lines)


def _read_log(transcript: Transcript, lines: list[str], log: list[re.Match[str] | None]) -> None:
    starts = [number for number, match in enumerate(log) if match is not None]
    name = "tool"
    for index, start in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else len(lines)
        match = log[start]
        assert match is not None
        transcript.time = match[1]
        text = "\n".join([lines[start][match.end() :], *lines[start + 1 : end]]).strip()
        place = f"L{start + 1}" if end == start + 1 else f"L{start + 1}-{end}"
        named = _TOOLS_NAMED.search(text[:200]) or _TOOL_NAMED.search(text[:200])
        given = _TOOL_GIVEN.search(text[:200])
        done = _TOOL_DONE.search(text[:200])
        thought = _THOUGHTS.search(text[:100])
        if given is not None:
            transcript.begin_turn()
            arguments, bare = arguments_of(text[given.end() :])
            transcript.call(Draft(Kind.ACTION, place, name, "assistant", bare, arguments))
        elif done is not None:
            transcript.answer(Result(text[done.end() :], place, name=done[1], actor="tool"))
        elif named is not None:
            name = named[1]
        elif thought is not None and text[thought.end() :].strip():
            transcript.add(
                Draft(Kind.REASONING, place, actor="assistant", text=text[thought.end() :].strip())
            )
        elif _CHECKBOX.search(text):
            transcript.add(Draft(Kind.BOOKKEEPING, place, actor="assistant", text=text))
        elif text:
            transcript.add(Draft(Kind.SYSTEM, place, actor="log", text=text))


@dataclass(slots=True)
class _Place:
    """Turns offsets in a turn's text into line numbers of the source."""

    first: int
    starts: list[int]

    def at(self, text: str, start: int, end: int) -> str:
        """The lines that a stretch of the text covers, without blank lines around it."""
        piece = text[start:end]
        start += len(piece) - len(piece.lstrip())
        end -= len(piece) - len(piece.rstrip())
        top = self.first + bisect_right(self.starts, start) - 1
        bottom = self.first + bisect_right(self.starts, max(start, end - 1)) - 1
        return f"L{top}" if top == bottom else f"L{top}-{bottom}"
