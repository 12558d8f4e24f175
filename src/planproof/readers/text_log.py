"""Read plain-text logs: turns under headers, logger records, ReAct thoughts and actions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import NamedTuple

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, key_with_list, key_with_text
from planproof.core.pointer import escape
from planproof.core.trace import Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.markdown_chat import is_markdown_chat
from planproof.readers.profile_reader import is_claimed_by_profile
from planproof.readers.record_counts import count_text_lines
from planproof.readers.toolkit.conversation import AGENT_ROLES, ROLES, TOOL_ROLES, USER_ROLES
from planproof.readers.toolkit.entries import (
    PointerFactory,
    make_constant_pointer,
    make_range_pointer,
    point_to_lines,
)
from planproof.readers.toolkit.speakers import Speakers
from planproof.readers.toolkit.text_actions import (
    find_checklists,
    find_run_start,
    has_call,
    is_command_transcript,
    parse_call_line,
    parse_result_line,
    split_commands,
    split_segments,
)
from planproof.readers.toolkit.tool_calls import ToolCall, parse_arguments
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder

_LIST_KEYS = ("trajectory", "log", "logs", "lines")
_TEXT_KEYS = ("trace", "trajectory", "transcript", "log")
_TASK_KEYS = ("problem", "task", "question", "goal", "instruction")
_SNIFF_LINES = 400
_AGENT = "assistant"


class TextLogReader:
    """Reads plain-text logs, also as a JSON list of lines: turns, loguru, ReAct."""

    name = "text-log"

    def sniff(self, source: Source) -> bool:
        """Return whether the text has turns, calls or logger records."""
        log = _find_log(source)
        if log is None or source.form == "text":
            return (
                log is not None and has_structure(log.lines) and not is_claimed_by_profile(source)
            )
        if log.is_one_text:
            text = "\n".join(log.lines)
            return is_command_transcript(text) or has_actions(text)
        return has_structure(log.lines[:_SNIFF_LINES])

    def read(self, source: Source) -> Trace:
        """Return the events of the turns or records, each with a pointer to its lines."""
        builder = TraceBuilder(source.skipped)
        log = _find_log(source) or _Log([], point_to_lines)
        if source.form == "json" and is_object(source.document):
            _add_task(builder, source.document)
        if log.repeat:
            builder.skip(log.repeat, "the log repeats from here on")
        lines, read = _add_events(builder, log.lines, log.pointer_for)
        trace = builder.build(self.name)
        return replace(trace, record_counts=count_text_lines(trace.events, lines, read))


class _Log(NamedTuple):
    """The lines of a log, pointers to them, and one to where the log begins to repeat itself."""

    lines: list[str]
    pointer_for: PointerFactory
    is_one_text: bool = True
    repeat: str = ""


def _find_log(source: Source) -> _Log | None:
    """Return the log that a source is, or that it holds as a text or as a list of lines."""
    document, pointer = source.document, ""
    if source.form == "text":
        return _Log(document.split("\n"), point_to_lines)
    if source.form != "json":
        return None
    if is_object(document):
        key = key_with_text(document, _TEXT_KEYS) or key_with_list(document, _LIST_KEYS)
        document, pointer = document.get(key) if key else None, f"/{key}"
    if isinstance(document, str):

        def lines_at(first: int, last: int) -> str:
            return f"{pointer}/{point_to_lines(first, last)}"

        return _Log(document.split("\n"), lines_at)
    if not is_list(document) or not all(isinstance(item, str) for item in document):
        return None
    once = _find_repeat(document)
    repeat = f"{pointer}/{once}" if once < len(document) else ""
    split = [item.rstrip("\n").split("\n") for item in document[:once]]
    owners = [index for index, lines in enumerate(split) for _ in lines]

    def pointer_for(first: int, last: int) -> str:
        # Only the whole list contains text that spans several strings.
        one = owners[first - 1]
        return f"{pointer}/{one}" if one == owners[last - 1] else pointer

    return _Log(list(chain.from_iterable(split)), pointer_for, is_one_text=False, repeat=repeat)


def _add_task(builder: TraceBuilder, document: dict[str, Json]) -> None:
    """Add the task that stands next to a log; the other parts are skipped."""
    task = key_with_text(document, _TASK_KEYS)
    if task is not None:
        builder.begin_turn()
        builder.add_message(Kind.MESSAGE, document[task], f"/{task}", "user")
    for key in document:
        if key != task and key not in (*_TEXT_KEYS, *_LIST_KEYS):
            builder.skip(f"/{escape(key)}", "stands next to the log")


def _find_repeat(items: list[Json]) -> int:
    """Return the index at which the list repeats itself; its length if it does not."""
    if items[:1] and items[0] in items[1:]:
        again = items.index(items[0], 1)
        if items[again:] == items[: len(items) - again]:
            return again
    return len(items)


def has_structure(lines: list[str]) -> bool:
    """Return whether a text has turns, calls, logger records or more than one checklist."""
    text = "\n".join(lines)
    if is_markdown_chat(text):
        return False
    return (
        is_command_transcript(text)
        or bool(_find_record_starts(lines))
        or any(_parse_header(line, 0) for line in lines)
        or any(segment.kind != "prose" for segment in split_segments(text))
        or len(list(islice(find_checklists(text), 2))) > 1
    )


def _add_events(
    builder: TraceBuilder, lines: list[str], pointer_for: PointerFactory
) -> tuple[int, int]:
    """Add the events of a text.

    Return the number of lines or log records that are not the user's, and how many were read.
    """
    starts = _find_record_starts(lines)
    above = sum(1 for line in lines[: starts[0][0]] if line.strip()) if starts else 0
    if len(starts) > 1 and above * 2 <= len(starts):
        add_log_records(builder, lines, starts, pointer_for)
        # Log records can be anything: only a log that contains a thought is an agent's.
        thinks = any(draft.kind is Kind.REASONING for draft in builder.drafts)
        return len(starts), len(starts) if thinks else 0
    start = find_run_start(lines)
    if start:
        prompt = "\n".join(lines[:start]).strip()
        builder.begin_turn()
        builder.add_message(Kind.SYSTEM, prompt, pointer_for(1, start), "system")
        # Kept blank, so that the numbers of the lines stay.
        lines = [*[""] * start, *lines[start:]]
    text = "\n".join(lines)
    if is_command_transcript(text):
        add_commands(builder, text, pointer_for)
        return len(lines), len(lines)
    return add_turns(builder, lines, pointer_for)


def has_actions(text: str) -> bool:
    """Return whether a text has an action and the observation after it."""
    kinds = {segment.kind for segment in split_segments(text)}
    return "call" in kinds and "result" in kinds


def add_commands(builder: TraceBuilder, text: str, pointer_for: PointerFactory) -> None:
    """Add a transcript of commands at a prompt and what the environment answered."""
    point = make_range_pointer(text, range(1, text.count("\n") + 2), pointer_for)
    builder.begin_turn()
    # What comes before the first command is the user's, other text the environment's.
    other = (Kind.MESSAGE, "user")
    with builder.reading_text(text, point(0, len(text)), "assistant"):
        for segment in split_commands(text):
            pointer = point(segment.start, segment.end)
            content = text[segment.start : segment.end].strip()
            if segment.kind == "result":
                builder.add_result(ToolResult(content, pointer, actor="environment"))
                continue
            kind, actor = other
            if segment.kind != "prose":
                builder.begin_turn()
                kind, actor, other = Kind.REASONING, "assistant", (Kind.SYSTEM, "environment")
            if segment.call is not None:
                builder.add_call(segment.call, pointer, actor)
            else:
                builder.add_message(kind, content, pointer, actor)


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
# The question or task that comes before the first thought or action.
_QUESTION = re.compile(r"(?:Question|Task) ?: ?")
_STEP_LABEL = re.compile(r"[ \t*#]{0,8}(?:Thought|Action)(?: \d{1,4})? ?:")
# ReAct prompts explain the format, then mark the beginning of the run.
_BEGIN_MARK = re.compile(r"\s{0,8}Begin!\s{0,8}$")
_INPUT_ROLES = USER_ROLES | TOOL_ROLES
_MAX_HEADER_LENGTH = 300


@dataclass(slots=True)
class _Turn:
    """The lines under one header; text on the line of the header is the first."""

    speaker: str
    first: int
    lines: list[str]
    is_relayed: bool = False

    @classmethod
    def open(cls, speaker: str, rest: str, number: int, *, is_relayed: bool = False) -> _Turn:
        role = speaker.lower()
        who = _AGENT if role in AGENT_ROLES else role if role in ROLES else speaker
        return cls(who, number if rest else number + 1, [rest] if rest else [], is_relayed)


def add_turns(
    builder: TraceBuilder, lines: list[str], pointer_for: PointerFactory
) -> tuple[int, int]:
    """Add the turns of a text; `pointer_for` makes a pointer from a first and a last line.

    Return the number of lines that are not the user's, and how many of them are under the
    header of an agent.
    """
    speakers = Speakers(builder)
    before: _Turn | None = None
    count = read = 0
    for turn in _split_turns(lines):
        text = "\n".join(turn.lines)
        filled = sum(not line.isspace() for line in turn.lines if line)
        if not filled:
            continue
        if turn.speaker not in ROLES - AGENT_ROLES:
            count += filled
            read += filled if turn.speaker else 0
        numbers = range(turn.first, turn.first + len(turn.lines))
        point_to = make_range_pointer(text, numbers, pointer_for)
        who, whole = turn.speaker or _AGENT, point_to(0, len(text))
        if before is not None and (before.speaker, before.lines) == (turn.speaker, turn.lines):
            builder.skip(whole, "repeats the preceding turn")
        elif turn.is_relayed:
            # Actions in a relayed message were done before, if at all.
            speakers.flush()
            builder.begin_turn()
            builder.add_message(Kind.MESSAGE, text.strip(), whole, who)
        elif sent := _HANDOFF.search(text):
            speakers.add_turn(text[: sent.start()], point_to, f"{who} (thought)")
            goal = text[sent.end() :].strip()
            speakers.add_handoff(sent[1].strip(), goal, point_to(sent.start(), len(text)), who)
        else:
            speakers.add_turn(text, point_to, who)
        before = turn
    speakers.flush()
    return count, read


def _split_turns(lines: list[str]) -> list[_Turn]:
    turns = [_Turn("", 1, [])]
    is_inside, is_above = False, True
    headers = [_parse_header(line, number) for number, line in enumerate(lines, 1)]
    begins = _find_agent_start(lines, headers)
    for number, line in enumerate(lines, 1):
        # A header inside an observation is part of the observation.
        header = None if is_inside else headers[number - 1]
        is_step = number > begins and _STEP_LABEL.match(line)
        if is_above and header is None and (question := _QUESTION.match(line)):
            header = _Turn.open("user", line[question.end() :], number)
        elif is_step and turns[-1].speaker in _INPUT_ROLES:
            # Only the agent thinks and acts, even below the header of another role.
            header = _Turn.open("", line, number)
        is_above = is_above and not line.strip()
        is_inside = (is_inside or "<observation>" in line) and "</observation>" not in line
        if header is None:
            turns[-1].lines.append(line)
        else:
            turns.append(header)
    return turns


def _find_agent_start(lines: list[str], headers: list[_Turn | None]) -> int:
    """Return the number of the line after which thoughts and actions are the agent's own.

    If the agent acts under its own headers, text under other headers is not the agent's.
    """
    under = ""
    for line, header in zip(lines, headers, strict=True):
        under = header.speaker if header is not None else under
        content = "".join(header.lines).lstrip() if header is not None else line
        if under == _AGENT and _STEP_LABEL.match(content):
            return len(lines)
    return max((n for n, line in enumerate(lines, 1) if _BEGIN_MARK.match(line)), default=0)


def _parse_header(line: str, number: int) -> _Turn | None:
    if not line or len(line) > _MAX_HEADER_LENGTH:
        return None
    if line[0] in "=-#*":
        name = line.strip().strip(line[0]).strip()
        is_ruled = line.startswith(line[0] * 4) and line.rstrip().endswith(line[0] * 4)
        if is_ruled and name.lower() in ROLES:
            return _Turn.open(name, "", number)
    if label := _LABEL.match(line):
        return _Turn.open(label[1], line[label.end() :], number)
    if label := _RESPONSE.match(line):
        relayed = label[2] is not None
        return _Turn.open(label[1], line[label.end() :], number, is_relayed=relayed)
    notice = _NOTICE.match(line)
    return _Turn.open("system", line[notice.end() :], number) if notice is not None else None


_RECORD_START = re.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]?\d{0,9})\s{0,4}[|\-\[]?\s{0,4}"
    r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL|SUCCESS|TRACE)\b\s{0,8}\]?\s{0,4}[|:\-]\s{0,4}"
    r"(?:[\w.]{1,80}:[\w<>]{1,80}:\d{1,7}\s{0,4}-\s{0,4})?"
)
# Without a date or level; such a text is a log only if a record of it is a call.
_BRIEF_START = re.compile(
    r"\[?((?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?Z?)\]?[ \t|\-]{1,4}"
    r"(?:\[?(?:DEBUG|INFO|WARN|WARNING|ERROR)\]?[ \t:|\-]{1,4})?"
    r"|\[?(?:DEBUG|INFO|WARN|WARNING|ERROR)\]?[ \t:|\-]{1,4}"
)
_TOOLS_PREPARED = re.compile(r"Tools being prepared: ")
_NAME = re.compile(r"'([\w.\-]{1,80})'")
_TOOL_STARTED = re.compile(
    r"(?:(?:Activating|Using|Calling) tool\W{1,5}|Tool call: )([\w.\-]{1,80})"
)
_TOOL_ARGUMENTS = re.compile(r"Tool arguments:\s{0,4}")
_TOOL_COMPLETED = re.compile(r"Tool '([\w.\-]{1,80})' completed[^\n]{0,40}Result:\s{0,4}")
_THOUGHT = re.compile(r"thoughts?:\s{0,4}", re.IGNORECASE)
_PROMPT = re.compile(r"Enter your prompt[^:\n]{0,80}:\s{0,4}")
_HEAD_LENGTH = 200


def _find_record_starts(lines: list[str]) -> list[tuple[int, re.Match[str]]]:
    """Return the lines that begin a log record."""
    return _find_starts(lines, _RECORD_START) or _find_starts(lines, _BRIEF_START)


def _find_starts(lines: list[str], pattern: re.Pattern[str]) -> list[tuple[int, re.Match[str]]]:
    starts = [(i, m) for i, line in enumerate(lines) if (m := pattern.match(line, 0, _HEAD_LENGTH))]
    if pattern is _BRIEF_START and not any(
        parse_call_line(match.string[match.end() :]) for _, match in starts
    ):
        return []
    return starts


def add_log_records(
    builder: TraceBuilder,
    lines: list[str],
    starts: list[tuple[int, re.Match[str]]],
    pointer_for: PointerFactory,
) -> None:
    """Add the records of a log: calls, thoughts and plans, and the rest as notices."""
    log = _LogWriter(builder, pointer_for)
    _add_preamble(builder, lines[: starts[0][0]], pointer_for)
    ends = [start for start, _ in starts[1:]] + [len(lines)]
    for (start, match), end in zip(starts, ends, strict=True):
        last = end
        while last > start + 1 and not lines[last - 1].strip():
            last -= 1
        builder.time = match[1]
        text = "\n".join([lines[start][match.end() :], *lines[start + 1 : last]]).strip()
        log.add_record(text, start + 1, last)


def _add_preamble(builder: TraceBuilder, lines: list[str], pointer_for: PointerFactory) -> None:
    """Add the user's prompt from the lines above the first record; skip other output."""
    for number, line in enumerate(lines, 1):
        prompt = _PROMPT.match(line, 0, _HEAD_LENGTH)
        if prompt is not None:
            builder.begin_turn()
            where = pointer_for(number, len(lines))
            text = "\n".join([line[prompt.end() :], *lines[number:]]).strip()
            builder.add_message(Kind.MESSAGE, text, where, "user")
            return
    if any(line.strip() for line in lines):
        builder.skip(pointer_for(1, len(lines)), "text before the first log record")


class _LogWriter:
    """Combines the log records that belong to one call."""

    def __init__(self, builder: TraceBuilder, pointer_for: PointerFactory) -> None:
        self._builder = builder
        self._pointer_for = pointer_for
        self._prepared_tools: list[str] = []
        self._prepared_line = 0
        self._announced_call: EventDraft | None = None

    def add_record(self, text: str, first: int, last: int) -> None:
        """Add the record in the lines from `first` to `last`."""
        builder, pointer = self._builder, self._pointer_for(first, last)
        head = text[:_HEAD_LENGTH]
        if thought := _THOUGHT.search(head):
            # What follows is the agent's own text.
            head = head[: thought.start()]
        if (result := parse_result_line(text)) is not None:
            builder.add_result(ToolResult(result[1], pointer, name=result[0], actor="tool"))
        elif prepared := _TOOLS_PREPARED.search(head):
            builder.begin_turn()
            self._prepared_tools, self._prepared_line = _NAME.findall(head, prepared.end()), first
        elif given := _TOOL_ARGUMENTS.search(head):
            name = self._prepared_tools[0] if self._prepared_tools else "tool"
            # From the record that names the tool to the one with its arguments.
            pointer = self._pointer_for(self._prepared_line or first, last)
            call = ToolCall(name, *parse_arguments(text[given.end() :]))
            self._announced_call = builder.add_call(call, pointer, _AGENT)
        elif done := _TOOL_COMPLETED.search(head):
            self._announced_call = None
            builder.add_result(ToolResult(text[done.end() :], pointer, name=done[1], actor="tool"))
            if not self._prepared_tools:
                # The log does not mark turns: calls after a result belong to a later turn.
                builder.begin_turn()
        elif (call := parse_call_line(text)) is not None:
            builder.begin_turn()
            builder.add_call(call, pointer, _AGENT)
        elif started := _TOOL_STARTED.search(head):
            announced, self._announced_call = self._announced_call, None
            # Logged already with its arguments, which some versions log for the first call only.
            if announced is None or announced.name != started[1]:
                builder.add_call(ToolCall(started[1]), pointer, _AGENT)
        elif thought:
            builder.begin_turn()
            builder.add_message(Kind.REASONING, text[thought.end() :], pointer, _AGENT)
        else:
            self._add_other(text, pointer)

    def _add_other(self, text: str, pointer: str) -> None:
        """Add a record with an action in it, as loops of browser agents log them, or a notice."""
        builder, segments = self._builder, split_segments(text)
        if has_call(segments):
            builder.begin_turn()
            pointer_for = make_constant_pointer(pointer)
            Speakers(builder).add_segments(segments, text, pointer_for, _AGENT)
        elif lists := list(find_checklists(text)):
            builder.add_plan(text[lists[0][0] : lists[-1][1]], pointer, "log")
        else:
            builder.add_message(Kind.SYSTEM, text, pointer, "log")
