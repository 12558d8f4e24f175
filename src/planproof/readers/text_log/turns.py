"""Turns: a text in which headers say who speaks."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import islice

from planproof.core.trace import Kind
from planproof.readers.text_log.console import add_console_turn
from planproof.readers.toolkit.call_markup import split_segments
from planproof.readers.toolkit.checklists import find_checklists
from planproof.readers.toolkit.conversation import AGENT_ROLES, ROLES, TOOL_ROLES, USER_ROLES
from planproof.readers.toolkit.speakers import Speakers
from planproof.readers.toolkit.text_pointers import PointerFactory
from planproof.readers.toolkit.trace_builder import TraceBuilder

_ANSI = re.compile(r"\x1b?\[\d{1,3}(?:;\d{1,3}){0,3}m")
_LABEL = re.compile(
    r"(?:#{1,4} {0,2}|\*\*|\[)?(user|human|assistant|ai|agent|system|tool)(?:\*\*|\])? ?:(?:\*\*)?",
    re.IGNORECASE,
)
_LOGGER_PREFIX = r"\S{1,80} - (?:DEBUG|INFO|WARNING|ERROR|CRITICAL) - "
_RESPONSE = re.compile(
    rf"(?:{_LOGGER_PREFIX})?([\w. -]{{1,60}})(?:'s [Rr]esponse|(->)[\w. -]{{1,60}}):"
)
_HANDOFF = re.compile(r"^Intern Name: ?([\w .-]{1,80})\nSubgoal: ?", re.MULTILINE)
_NOTICE = re.compile(_LOGGER_PREFIX)
# What a text of thoughts and actions answers stands above the first of them.
_QUESTION = re.compile(r"(?:Question|Task) ?: ?")
_STEP_LABEL = re.compile(r"[ \t*#]{0,8}(?:Thought|Action)(?: \d{1,4})? ?:")
# Prompts for such texts explain the format, then say that the run begins.
_BEGIN_MARK = re.compile(r"\s{0,8}Begin!\s{0,8}$")
_INPUT_ROLES = USER_ROLES | TOOL_ROLES
_TYPED_HEADER = re.compile(r"(\w{1,60}) \(([\w. -]{1,80})\)")
_MAX_HEADER_LENGTH = 300
_MAX_DASHES = 12


@dataclass(slots=True)
class _Header:
    """Who speaks next, what is said on the same line, and the type that a console prints."""

    speaker: str
    rest: str = ""
    type: str = ""
    is_ruled: bool = False
    is_relayed: bool = False


@dataclass(slots=True)
class _Turn:
    """A stretch of lines under one header."""

    header: _Header
    first: int
    lines: list[str]


def has_turns(text: str) -> bool:
    """Whether there is a header in a text, an action written as one, or a list printed again."""
    lines = text.split("\n")
    if any(_parse_header(line) is not None for line in lines):
        return True
    if any(segment.kind != "prose" for segment in split_segments(text)):
        return True
    return len(list(islice(find_checklists(text), 2))) > 1


def add_turns(
    builder: TraceBuilder, lines: list[str], pointer_for: PointerFactory
) -> tuple[int, int]:
    """Write the turns of a text; `place` makes a pointer of a first and a last line.

    Returns how many lines are not the user's, and how many of these a header gives to an agent.
    """
    turns = _split_turns(lines)
    speakers = Speakers(builder)
    before: _Turn | None = None
    for number, turn in enumerate(turns):
        text = "\n".join(turn.lines)
        if not text or text.isspace():
            continue
        line_pointers = _LinePointers(text, turn, pointer_for)
        if number == 0 and len(turns) > 1 and turns[1].header.is_ruled and not _has_call(text):
            # A console prints whatever was installed or warned of before the agents speak.
            builder.skip(line_pointers.get_pointer(0, len(text)), "stands before the first turn")
        elif before is not None and before.header == turn.header and before.lines == turn.lines:
            builder.skip(
                line_pointers.get_pointer(0, len(text)), "the same turn was logged just before"
            )
        else:
            _add_turn(builder, speakers, turn.header, text, line_pointers.get_pointer)
        before = turn
    speakers.flush()
    return _count_lines(turns)


def _count_lines(turns: list[_Turn]) -> tuple[int, int]:
    lines = read = 0
    for turn in turns:
        filled = sum(not line.isspace() for line in turn.lines if line)
        role = _normalize_actor(turn.header.speaker) if turn.header.speaker else ""
        lines += filled if role not in ROLES - AGENT_ROLES else 0
        read += filled if role and role not in ROLES - AGENT_ROLES else 0
    return lines, read


def _add_turn(
    builder: TraceBuilder,
    speakers: Speakers,
    header: _Header,
    text: str,
    pointer_for: PointerFactory,
) -> None:
    who = _normalize_actor(header.speaker)
    sent = _HANDOFF.search(text)
    if header.type:
        add_console_turn(builder, speakers, text, pointer_for, header.type, who)
    elif header.is_relayed:
        # What an agent passes on to another it has done before, if at all.
        speakers.flush()
        builder.begin_turn()
        builder.add_message(Kind.MESSAGE, text.strip(), pointer_for(0, len(text)), who)
    elif sent is not None:
        speakers.add_turn(text[: sent.start()], pointer_for, f"{who} (thought)")
        goal = text[sent.end() :].strip()
        speakers.add_handoff(sent[1].strip(), goal, pointer_for(sent.start(), len(text)), who)
    else:
        speakers.add_turn(text, pointer_for, who)


def _has_call(text: str) -> bool:
    return any(segment.call is not None for segment in split_segments(text))


def _normalize_actor(speaker: str) -> str:
    who = speaker.lower().removesuffix(" message")
    if who in ROLES:
        return "assistant" if who in AGENT_ROLES else who
    return speaker or "assistant"


def _split_turns(lines: list[str]) -> list[_Turn]:
    turns = [_Turn(_Header(""), 1, [])]
    inside = False
    above = True
    headers = list(map(_parse_header, lines))
    begins = _find_agent_start(lines, headers)
    for number, line in enumerate(lines, 1):
        # A header within what came back is part of what came back.
        header = None if inside else headers[number - 1]
        if above and header is None and (question := _QUESTION.match(line)):
            header = _Header("user", line[question.end() :])
        elif number > begins and _is_input_turn(turns[-1]) and _STEP_LABEL.match(line):
            # Nobody but the agent thinks and acts, whoever was the last to be named.
            header = _Header("", line)
        above = above and not line.strip()
        if "<observation>" in line:
            inside = True
        if "</observation>" in line:
            inside = False
        if header is None:
            turns[-1].lines.append(line)
        elif header.rest:
            turns.append(_Turn(header, number, [header.rest]))
        else:
            turns.append(_Turn(header, number + 1, []))
    return turns


def _find_agent_start(lines: list[str], headers: list[_Header | None]) -> int:
    """Return the number of the line after which thoughts and actions are the agent's own.

    Where it acts under headers of its own, what stands under those of others is theirs.
    """
    under = ""
    for line, header in zip(lines, headers, strict=True):
        under = header.speaker.lower() if header is not None else under
        if under in AGENT_ROLES and _STEP_LABEL.match(
            header.rest.lstrip() if header is not None else line
        ):
            return len(lines)
    return max((n for n, line in enumerate(lines, 1) if _BEGIN_MARK.match(line)), default=0)


def _is_input_turn(turn: _Turn) -> bool:
    return turn.header.speaker.lower() in _INPUT_ROLES


def _parse_header(line: str) -> _Header | None:
    if not line or len(line) > _MAX_HEADER_LENGTH:
        return None
    if line[0] in "=-#*":
        bare = _ANSI.sub("", line).strip()
        name = bare.strip(line[0]).strip()
        ruled = len(bare) - len(bare.lstrip(line[0]))
        if ruled > 3 and bare.endswith(line[0] * 4):
            dashed = line[0] == "-" and ruled <= _MAX_DASHES
            typed = _TYPED_HEADER.fullmatch(name) if dashed else None
            if typed is not None:
                return _Header(typed[2], type=typed[1], is_ruled=True)
            if name.lower().removesuffix(" message") in ROLES:
                return _Header(name, is_ruled=dashed)
            if dashed and name.replace("_", "").isalnum():
                return _Header(name, is_ruled=True)
    label = _LABEL.match(line) or _RESPONSE.match(line)
    if label is not None:
        relays = label.re is _RESPONSE and label[2] is not None
        return _Header(label[1], line[label.end() :], is_relayed=relays)
    notice = _NOTICE.match(line)
    return _Header("system", line[notice.end() :]) if notice is not None else None


class _LinePointers:
    """Turns offsets in a turn's text into pointers to lines."""

    def __init__(self, text: str, turn: _Turn, pointer_for: PointerFactory) -> None:
        self._text = text
        self._pointer_for = pointer_for
        self._first = turn.first
        self._starts = [0]
        for line in turn.lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def get_pointer(self, start: int, end: int) -> str:
        """The lines that a stretch of the text covers, without blank lines around it."""
        fragment = self._text[start:end]
        first = start + len(fragment) - len(fragment.lstrip())
        last = max(first, end - (len(fragment) - len(fragment.rstrip())) - 1)
        above = self._first - 1
        return self._pointer_for(
            above + bisect_right(self._starts, first), above + bisect_right(self._starts, last)
        )
