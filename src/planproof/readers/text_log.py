"""Read plain-text logs: turns under headers, logger records, ReAct thoughts and actions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, key_with_list, key_with_text
from planproof.core.pointer import escape
from planproof.core.trace import Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.markdown_chat import is_markdown_chat
from planproof.readers.profile_reader import is_claimed_by_profile
from planproof.readers.record_counts import count_text_lines
from planproof.readers.toolkit.checklists import find_checklists
from planproof.readers.toolkit.conversation import AGENT_ROLES, ROLES, TOOL_ROLES, USER_ROLES
from planproof.readers.toolkit.entries import (
    PointerFactory,
    make_range_pointer,
    point_to_lines,
)
from planproof.readers.toolkit.speakers import Speakers
from planproof.readers.toolkit.text_actions import (
    Segment,
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


class TextLogReader:
    """Reads plain-text logs, also as a JSON list of lines: turns, loguru, ReAct."""

    name = "text-log"

    def sniff(self, source: Source) -> bool:
        """Return whether the text has turns, calls or logger records."""
        if source.form == "text":
            return _has_structure(source.document) and not is_claimed_by_profile(source)
        if source.form != "json":
            return False
        text, _ = _find_text(source.document)
        if text:
            return is_command_transcript(text) or has_actions(text)
        lines, _ = _find_lines(source.document)
        head = lines[:_SNIFF_LINES]
        if not all(isinstance(line, str) for line in head):
            return False
        return _has_structure("\n".join(line.rstrip("\n") for line in head))

    def read(self, source: Source) -> Trace:
        """Return the events of the turns or records, each with a pointer to its lines."""
        builder = TraceBuilder(source.skipped)
        if source.form == "text":
            lines, read = _add_events(builder, source.document.split("\n"), point_to_lines)
        elif (found := _find_text(source.document))[0]:
            text, where = found
            _add_task(builder, source.document)

            def lines_at(first: int, last: int) -> str:
                return f"{where}/{point_to_lines(first, last)}"

            lines, read = _add_events(builder, text.split("\n"), lines_at)
        else:
            items, pointer = _find_lines(source.document)
            once = _find_repeat(items)
            if once < len(items):
                builder.skip(f"{pointer}/{once}", "the log repeats from here on")
            texts: list[str] = []
            owners: list[int] = []
            for index, item in enumerate(items[:once]):
                item_lines = item.rstrip("\n").split("\n") if isinstance(item, str) else [""]
                texts += item_lines
                owners += [index] * len(item_lines)

            def items_at(first: int, last: int) -> str:
                # Only the whole list contains text that spans several strings.
                one = owners[first - 1]
                return f"{pointer}/{one}" if one == owners[last - 1] else pointer

            lines, read = _add_events(builder, texts, items_at)
        trace = builder.build(self.name)
        return replace(trace, record_counts=count_text_lines(trace.events, lines, read))


def _add_events(
    builder: TraceBuilder, lines: list[str], pointer_for: PointerFactory
) -> tuple[int, int]:
    """Add the events of a text.

    Return the number of lines or log records that are not the user's, and how many were read.
    """
    log = find_record_starts(lines)
    if log is None:
        start = find_run_start(lines)
        if start:
            prompt = "\n".join(lines[:start]).strip()
            builder.begin_turn()
            builder.add_message(Kind.SYSTEM, prompt, pointer_for(1, start), "system")
            # Kept blank, so that the numbers of the lines stay.
            lines = [*[""] * start, *lines[start:]]
        text = "\n".join(lines)
        if is_command_transcript(text):
            return add_commands(builder, text, pointer_for)
        return add_turns(builder, lines, pointer_for)
    add_log_records(builder, lines, log, pointer_for)
    # Log records can be anything: only a log that contains a thought is an agent's.
    thinks = any(draft.kind is Kind.REASONING for draft in builder.drafts)
    return len(log), len(log) if thinks else 0


def _has_structure(text: str) -> bool:
    if is_markdown_chat(text):
        return False
    return is_command_transcript(text) or has_records(text) or has_turns(text)


def _find_text(document: Json) -> tuple[str, str]:
    """Return the log that an object holds as one text, and the pointer to it."""
    key = key_with_text(document, _TEXT_KEYS) if is_object(document) else None
    return (document[key], f"/{key}") if key is not None else ("", "")


def _add_task(builder: TraceBuilder, document: dict[str, Json]) -> None:
    """Add the task that stands next to a log; the other parts are skipped."""
    task = key_with_text(document, _TASK_KEYS)
    if task is not None:
        builder.begin_turn()
        builder.add_message(Kind.MESSAGE, document[task], f"/{task}", "user")
    for key in document:
        if key != task and key not in _TEXT_KEYS:
            builder.skip(f"/{escape(key)}", "stands next to the log")


def has_actions(text: str) -> bool:
    """Return whether a text has an action and the observation after it."""
    kinds = {segment.kind for segment in split_segments(text)}
    return "call" in kinds and "result" in kinds


def add_commands(builder: TraceBuilder, text: str, pointer_for: PointerFactory) -> tuple[int, int]:
    """Add a transcript of commands at a prompt and what the environment answered.

    Return the number of its lines, twice: all of them are read.
    """
    point = make_range_pointer(text, range(1, text.count("\n") + 2), pointer_for)
    builder.begin_turn()
    segments = split_commands(text)
    acted = False
    with builder.reading_text(text, point(0, len(text)), "assistant"):
        for segment in segments:
            pointer = point(segment.start, segment.end)
            content = text[segment.start : segment.end].strip()
            if segment.call is not None:
                acted = True
                builder.begin_turn()
                builder.add_call(segment.call, pointer, "assistant")
            elif segment.kind == "result":
                builder.add_result(ToolResult(content, pointer, actor="environment"))
            elif segment.kind == "thought":
                acted = True
                builder.begin_turn()
                builder.add_message(Kind.REASONING, content, pointer, "assistant")
            elif not acted:
                builder.add_message(Kind.MESSAGE, content, pointer, "user")
            else:
                builder.add_message(Kind.SYSTEM, content, pointer, "environment")
    count = text.count("\n") + 1
    return count, count


def _find_lines(document: Json) -> tuple[list[Json], str]:
    """Return the list of lines in a document, and the pointer to it."""
    if is_object(document):
        key = key_with_list(document, _LIST_KEYS)
        return (document[key], f"/{key}") if key is not None else ([], "")
    return (document, "") if is_list(document) else ([], "")


def _find_repeat(items: list[Json]) -> int:
    """Return the index at which the list repeats itself; its length if it does not."""
    if items[:1] and items[0] in items[1:]:
        again = items.index(items[0], 1)
        if items[again:] == items[: len(items) - again]:
            return again
    return len(items)


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
class _Header:
    """The speaker of a turn, and the text on the same line."""

    speaker: str
    rest: str = ""
    is_relayed: bool = False


@dataclass(slots=True)
class _Turn:
    """The lines under one header."""

    header: _Header
    first: int
    lines: list[str]


def has_turns(text: str) -> bool:
    """Return whether a text has a turn header, an action, or more than one checklist."""
    lines = text.split("\n")
    if any(_parse_header(line) is not None for line in lines):
        return True
    if any(segment.kind != "prose" for segment in split_segments(text)):
        return True
    return len(list(islice(find_checklists(text), 2))) > 1


def add_turns(
    builder: TraceBuilder, lines: list[str], pointer_for: PointerFactory
) -> tuple[int, int]:
    """Add the turns of a text; `pointer_for` makes a pointer from a first and a last line.

    Return the number of lines that are not the user's, and how many of them are under the
    header of an agent.
    """
    turns = _split_turns(lines)
    speakers = Speakers(builder)
    before: _Turn | None = None
    for turn in turns:
        text = "\n".join(turn.lines)
        if not text or text.isspace():
            continue
        numbers = range(turn.first, turn.first + len(turn.lines))
        point_to = make_range_pointer(text, numbers, pointer_for)
        if before is not None and before.header == turn.header and before.lines == turn.lines:
            builder.skip(point_to(0, len(text)), "repeats the preceding turn")
        else:
            _add_turn(builder, speakers, turn.header, text, point_to)
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
    if header.is_relayed:
        # Actions in a relayed message were done before, if at all.
        speakers.flush()
        builder.begin_turn()
        builder.add_message(Kind.MESSAGE, text.strip(), pointer_for(0, len(text)), who)
    elif sent is not None:
        speakers.add_turn(text[: sent.start()], pointer_for, f"{who} (thought)")
        goal = text[sent.end() :].strip()
        speakers.add_handoff(sent[1].strip(), goal, pointer_for(sent.start(), len(text)), who)
    else:
        speakers.add_turn(text, pointer_for, who)


def _normalize_actor(speaker: str) -> str:
    who = speaker.lower()
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
        # A header inside an observation is part of the observation.
        header = None if inside else headers[number - 1]
        if above and header is None and (question := _QUESTION.match(line)):
            header = _Header("user", line[question.end() :])
        elif number > begins and _is_input_turn(turns[-1]) and _STEP_LABEL.match(line):
            # Only the agent thinks and acts, even below the header of another role.
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

    If the agent acts under its own headers, text under other headers is not the agent's.
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
        name = line.strip().strip(line[0]).strip()
        is_ruled = line.startswith(line[0] * 4) and line.rstrip().endswith(line[0] * 4)
        if is_ruled and name.lower() in ROLES:
            return _Header(name)
    label = _LABEL.match(line) or _RESPONSE.match(line)
    if label is not None:
        relays = label.re is _RESPONSE and label[2] is not None
        return _Header(label[1], line[label.end() :], is_relayed=relays)
    notice = _NOTICE.match(line)
    return _Header("system", line[notice.end() :]) if notice is not None else None


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
    r"(?:Activating|Using|Calling) tool\W{1,5}([\w.\-]{1,80})|Tool call: (\w{1,80})"
)
_TOOL_ARGUMENTS = re.compile(r"Tool arguments:\s{0,4}")
_TOOL_COMPLETED = re.compile(r"Tool '([\w.\-]{1,80})' completed[^\n]{0,40}Result:\s{0,4}")
_THOUGHT = re.compile(r"thoughts?:\s{0,4}", re.IGNORECASE)
_PROMPT = re.compile(r"Enter your prompt[^:\n]{0,80}:\s{0,4}")
_HEAD_LENGTH = 200


def has_records(text: str) -> bool:
    """Return whether a line of a text begins a log record."""
    lines = text.split("\n")
    return any(
        _RECORD_START.match(line, 0, _HEAD_LENGTH) for line in lines if line[:1].isdigit()
    ) or bool(_find_starts(lines, _BRIEF_START))


def find_record_starts(lines: list[str]) -> list[tuple[int, re.Match[str]]] | None:
    """Return the lines that begin a record; None if the text is not a log."""
    starts = _find_starts(lines, _RECORD_START) or _find_starts(lines, _BRIEF_START)
    filled = sum(1 for line in lines[: starts[0][0]] if line.strip()) if starts else 0
    return starts if len(starts) > 1 and filled * 2 <= len(starts) else None


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
        if (call := parse_call_line(text)) is not None:
            builder.begin_turn()
            builder.add_call(call, pointer, "assistant")
        elif (result := parse_result_line(text)) is not None:
            name, output = result
            builder.add_result(ToolResult(output, pointer, name=name, actor="tool"))
        elif prepared := _TOOLS_PREPARED.search(head):
            builder.begin_turn()
            self._prepared_tools, self._prepared_line = _NAME.findall(head, prepared.end()), first
        elif arguments_match := _TOOL_ARGUMENTS.search(head):
            arguments, bare = parse_arguments(text[arguments_match.end() :])
            name = self._prepared_tools[0] if self._prepared_tools else "tool"
            if self._prepared_tools:
                # From the record that names the tool to the one with its arguments.
                pointer = self._pointer_for(self._prepared_line, last)
            self._announced_call = builder.add_call(
                ToolCall(name, arguments, bare), pointer, "assistant"
            )
        elif done := _TOOL_COMPLETED.search(head):
            self._announced_call = None
            builder.add_result(ToolResult(text[done.end() :], pointer, name=done[1], actor="tool"))
            if not self._prepared_tools:
                # The log does not mark turns: calls after a result belong to a later turn.
                builder.begin_turn()
        elif started := _TOOL_STARTED.search(head):
            self._add_started_call(started[1] or started[2], pointer)
        elif thought:
            builder.begin_turn()
            builder.add_message(Kind.REASONING, text[thought.end() :], pointer, "assistant")
        elif has_call(segments := split_segments(text)):
            self._add_written_call(text, segments, pointer)
        else:
            self._add_notice(text, pointer)

    def _add_written_call(self, text: str, segments: list[Segment], pointer: str) -> None:
        """Add the thought and the action of a record, as loops of browser agents log them."""
        self._builder.begin_turn()
        with self._builder.reading_text(text, pointer, "assistant"):
            for segment in segments:
                content = text[segment.start : segment.end].strip()
                if segment.call is not None:
                    self._builder.add_call(segment.call, pointer, "assistant")
                elif segment.kind == "result":
                    self._builder.add_result(ToolResult(content, pointer, actor="tool"))
                else:
                    self._builder.add_message(Kind.REASONING, content, pointer, "assistant")

    def _add_started_call(self, name: str, pointer: str) -> None:
        """Add a call, unless the record with its arguments has already added it.

        Older versions log the arguments of the first call only, or none.
        """
        announced, self._announced_call = self._announced_call, None
        if announced is None or announced.name != name:
            self._builder.add_call(ToolCall(name), pointer, "assistant")

    def _add_notice(self, text: str, pointer: str) -> None:
        lists = list(find_checklists(text))
        if lists:
            self._builder.add_plan(text[lists[0][0] : lists[-1][1]], pointer, "log")
        else:
            self._builder.add_message(Kind.SYSTEM, text, pointer, "log")
