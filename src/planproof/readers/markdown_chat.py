"""Read chats that tools keep as Markdown: Aider's history, and the sessions of SpecStory."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from planproof.core.content import Json
from planproof.core.trace import UNVERIFIED, EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.record_counts import count_text_lines
from planproof.readers.toolkit.code_fences import find_code_blocks
from planproof.readers.toolkit.entries import point_to_lines
from planproof.readers.toolkit.tool_calls import ToolCall
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder

_SNIFF_LENGTH = 40_000
_AGENT = "assistant"
_AIDER_START = "# aider chat started at "
_SPEAKER = re.compile(r"_\*\*(User|Agent|Assistant)(?: \(([^)\n]{0,200})\))?\*\*_\s{0,4}")


def is_markdown_chat(text: str) -> bool:
    """Return whether a text is one of the chats that this module reads."""
    head = text[:_SNIFF_LENGTH]
    return _is_aider(head) or _is_specstory(head)


def _is_aider(head: str) -> bool:
    return head.lstrip()[: len(_AIDER_START)] == _AIDER_START


def _is_specstory(head: str) -> bool:
    return "_**" in head and any(_SPEAKER.fullmatch(line) for line in head.split("\n"))


@dataclass(slots=True)
class _Section:
    """Lines of one speaker, the number of the first, and the ranges of the details in them.

    `heading` is the number of the line that names the speaker, if there is one.
    """

    kind: str
    first: int
    heading: int | None = None
    lines: list[str] = field(default_factory=list[str])
    time: str | None = None
    details: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def point(self, start: int = 0, end: int | None = None) -> str:
        """Return a pointer to lines of this section, without the blank ones around them.

        The first that is asked for also covers the heading.
        """
        end = len(self.lines) if end is None else end
        while end - 1 > start and not self.lines[end - 1].strip():
            end -= 1
        while start + 1 < end and not self.lines[start].strip():
            start += 1
        first, self.heading = self.heading or self.first + start, None
        return point_to_lines(first, self.first + end - 1)


def _finish(builder: TraceBuilder, source: Source, name: str) -> Trace:
    trace = builder.build(name)
    lines = source.document.count("\n") + 1
    return replace(trace, record_counts=count_text_lines(trace.events, lines, lines))


class AiderReader:
    """Reads `.aider.chat.history.md`: `####` lines of the user, `>` lines of the program."""

    name = "aider"

    def sniff(self, source: Source) -> bool:
        """Return whether the text begins with the heading of a chat."""
        return source.form == "text" and _is_aider(source.document[:_SNIFF_LENGTH])

    def read(self, source: Source) -> Trace:
        """Return messages, edits with what the program said of them, and the commands it ran."""
        builder = TraceBuilder(source.skipped)
        chat = _AiderChat(builder)
        for section in _split_aider(source.document):
            builder.time = section.time
            chat.add_section(section)
        return _finish(builder, source, self.name)


def _split_aider(text: str) -> Iterator[_Section]:
    current: _Section | None = None
    time: str | None = None
    lines = text.split("\n")
    quoted = next((line for line in lines if line.startswith("> ")), "")
    # Aider ends its lines with a Markdown line break; quotes and headings of the model have none.
    end = "  " if quoted.rstrip("\r").endswith("  ") else ""
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip()
        is_marked = raw.rstrip("\r").endswith(end)
        if line.startswith(_AIDER_START):
            time = line[len(_AIDER_START) :]
            kind, content = "start", line
        elif is_marked and raw.startswith("####"):
            kind, content = "user", line[4:].removeprefix(" ")
        elif is_marked and raw.startswith(">") and not raw.startswith(">>>>"):
            kind, content = "program", line[1:].removeprefix(" ")
        else:
            kind, content = "agent", raw.rstrip("\r")
        if current is not None and kind == "agent" != current.kind and not content:
            continue
        if current is None or current.kind != kind:
            if current is not None:
                yield current
            current = _Section(kind, number, time=time)
        # A blank line between two sections of the same kind was left out.
        current.lines += [""] * (number - current.first - len(current.lines))
        current.lines.append(content)
    if current is not None:
        yield current


_EDIT_MARKS = ("<<<<<<< SEARCH", ">>>>>>> REPLACE")
_FILE_LINE = re.compile(r"[\w./\\ @+\-()\[\]]{1,300}")
_UDIFF_FILE = re.compile(r"\+\+\+ (?:b/)?([^\s]{1,300})", re.MULTILINE)
_APPLIED = re.compile(r"(?:Applied edit to|Created|Creating empty file) ([^\n]{1,300})")
_REJECTED = re.compile(
    r"(?:## )?(?:SearchReplaceNoExactMatch|UnifiedDiffNoMatch|Did not apply edit to"
    r"|Skipping edits to)[^\n]{0,200}?(?: in)? ([^\s]{1,300})$"
)
_RUNNING = re.compile(r"(?:#{1,3} )?Running:? ([^\n]{1,2000})|Test Script: ([^\n]{1,2000})")
_COMMIT = re.compile(r"Commit ([0-9a-f]{6,40}) ([^\n]{1,400})")


class _AiderChat:
    """Adds the sections of a history in order."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._edits: dict[str, EventDraft] = {}

    def add_section(self, section: _Section) -> None:
        if section.kind == "start":
            self._builder.skip(section.point(), "says when the chat began")
        elif section.kind == "user":
            self._builder.begin_turn()
            self._builder.add_message(Kind.MESSAGE, section.text.strip(), section.point(), "user")
        elif section.kind == "program":
            self._add_program_lines(section)
        elif section.text.strip():
            self._builder.begin_turn()
            self._add_answer(section)

    def _add_answer(self, section: _Section) -> None:
        """Add an answer of the model: one edit for each file, and the prose around the edits."""
        text, builder = section.text, self._builder
        starts = [0]
        for line in section.lines:
            starts.append(starts[-1] + len(line) + 1)
        line_of = {start: index for index, start in enumerate(starts)}
        self._edits = {}
        blocks: dict[str, list[str]] = {}
        position = 0
        for block in find_code_blocks(text):
            first = line_of[block.start]
            last = bisect_right(starts, max(block.end - 1, 0))
            path, first = _find_edited_file(section.lines, first, block.language, block.code)
            if path is None:
                continue
            self._add_prose(section, position, first)
            position = last
            known = self._edits.get(path)
            if known is not None:
                # Aider reports on each file once: all edits of it are one event.
                blocks[path].append(block.code)
                begin = int(known.pointer[1:].partition("-")[0])
                known.pointer = point_to_lines(begin, section.first + last - 1)
                continue
            # As text, because every argument and name of a call must be found at its pointer.
            call = ToolCall("edit", text=f"{path}\n{block.code}".lstrip("\n"))
            pointer = section.point(first, last)
            self._edits[path] = draft = builder.add_call(call, pointer, _AGENT)
            draft.recognition = UNVERIFIED
            blocks[path] = [draft.text]
        for path, draft in self._edits.items():
            draft.text = "\n".join(blocks[path])
        self._add_prose(section, position, len(section.lines))

    def _add_prose(self, section: _Section, start: int, end: int) -> None:
        text = "\n".join(section.lines[start:end]).strip()
        self._builder.add_message(Kind.MESSAGE, text, section.point(start, end), _AGENT)

    def _add_program_lines(self, section: _Section) -> None:
        builder = self._builder
        notes = 0
        index = 0
        while index < len(section.lines):
            line = section.lines[index]
            applied, rejected = _APPLIED.fullmatch(line), _REJECTED.fullmatch(line)
            running, commit = _RUNNING.fullmatch(line), _COMMIT.fullmatch(line)
            edit = self._edits.get((applied or rejected or _NOTHING)[1])
            if edit is None and running is None and commit is None:
                index += 1
                continue
            self._add_notes(section, notes, index)
            end = index + 1
            if running is not None:
                end = _find_run_end(section.lines, end)
                self._add_run(section, index, end, running[1] or running[2])
            elif commit is not None:
                call = ToolCall("git_commit", text=commit[2])
                draft = builder.add_call(call, section.point(index, end), "aider")
                draft.set_output(commit[1], section.point(index, end))
            elif edit is not None and edit.output_pointer is None:
                status = EventStatus.OK if applied else EventStatus.ERROR
                result = ToolResult(line, section.point(index, end), status=status)
                builder.answer(edit, result)
                edit.recognition = "edit"
            index = notes = end
        self._add_notes(section, notes, len(section.lines))

    def _add_run(self, section: _Section, start: int, end: int, command: str) -> None:
        # Aider itself runs linters and tests after the edits of the model.
        self._builder.begin_turn()
        output = "\n".join(section.lines[start + 1 : end]).strip()
        call = ToolCall("run", text=command.strip())
        draft = self._builder.add_call(call, section.point(start, start + 1), "aider")
        failed = "Attempt to fix" in "\n".join(section.lines[end : end + 2])
        status = EventStatus.ERROR if failed else None
        if output:
            draft.set_output(output, section.point(start + 1, end), status)

    def _add_notes(self, section: _Section, start: int, end: int) -> None:
        text = "\n".join(section.lines[start:end]).strip()
        self._builder.add_message(Kind.SYSTEM, text, section.point(start, end), "aider")


_NOTHING: dict[int, str] = {1: ""}


def _find_run_end(lines: list[str], start: int) -> int:
    """Return where the output of a command ends: before the program's next question."""
    for index in range(start, len(lines)):
        if lines[index].startswith(("Attempt to fix ", "Add command output to the chat")):
            return index
        if _RUNNING.fullmatch(lines[index]) or _APPLIED.fullmatch(lines[index]):
            return index
    return len(lines)


def _find_edited_file(
    lines: list[str], first: int, language: str, code: str
) -> tuple[str | None, int]:
    """Return the file that a code block edits, and the line with which the edit begins.

    The name is on the line above the block, or, in fenced edits, on its first line. Without edit
    marks, a block below the bare name of a file is its whole new content.
    """
    is_edit = all(mark in code for mark in _EDIT_MARKS)
    if language == "diff" and (named := _UDIFF_FILE.search(code)):
        return named[1], first
    above = lines[first - 1].strip().strip("*`:#").strip() if first else ""
    inside = code.split("\n", 1)[0].strip()
    if is_edit and inside != _EDIT_MARKS[0] and _is_file_name(inside):
        return inside, first
    if _is_file_name(above) and (is_edit or above == lines[first - 1].strip()):
        return above, first - 1
    return ("", first) if is_edit else (None, first)


def _is_file_name(text: str) -> bool:
    is_name = _FILE_LINE.fullmatch(text) is not None and not text.endswith((".", ")"))
    return is_name and ("." in text or "/" in text) and " " not in text


class SpecStoryReader:
    """Reads the sessions that SpecStory keeps of coding agents: headings of speakers, details."""

    name = "specstory"

    def sniff(self, source: Source) -> bool:
        """Return whether the text has the headings of speakers."""
        return source.form == "text" and _is_specstory(source.document[:_SNIFF_LENGTH])

    def read(self, source: Source) -> Trace:
        """Return the messages, thoughts and tool uses under the headings."""
        builder = TraceBuilder(source.skipped)
        for section in _split_specstory(source.document):
            if section.kind == "before":
                if section.text.strip():
                    builder.skip(section.point(), "stands before the first turn")
                continue
            builder.time = section.time
            builder.begin_turn()
            actor = "user" if section.kind == "User" else _AGENT
            _add_details(builder, section, actor)
        return _finish(builder, source, self.name)


_THOUGHT = re.compile(r"<think><details><summary>[^\n]{0,200}</summary>\s{0,4}")
_TOOL_USE = re.compile(r"<tool-use\b[^\n]{0,400}")
_TOOL_NAME = re.compile(r"\b(?:data-tool-)?name=\"([^\"\n]{1,120})\"")
_SUMMARY = re.compile(
    r"<summary>Tool use: \*\*(?P<name>[^*\n]{1,120})\*\*(?P<told>[^\n]{0,600}?)</summary>"
)
_ENDS = {"thought": "</think>", "tool": "</tool-use>", "old": "</details>"}
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T][\d:.]{5,15}Z?")


def _split_specstory(text: str) -> Iterator[_Section]:
    current = _Section("before", 1)
    opened: tuple[str, int] | None = None
    lines = text.split("\n")
    last_ends = _find_last_ends(lines)
    for number, line in enumerate(lines, 1):
        index = len(current.lines)
        # A heading inside the output of a tool is part of the output.
        heading = _SPEAKER.fullmatch(line) if opened is None and line.startswith("_**") else None
        if heading is not None:
            yield current
            time = _TIME.search(heading[2] or "")
            current = _Section(heading[1], number + 1, number, time=time[0] if time else None)
            continue
        if opened is None and current.kind != "User":
            kind = _classify_details(line)
            # What is never closed is prose.
            opened = (kind, index) if kind and last_ends[kind] >= number else None
        elif opened is not None and line.rstrip().endswith(_ENDS[opened[0]]):
            current.details.append((*opened, index))
            opened = None
        current.lines.append(line)
    yield current


def _find_last_ends(lines: list[str]) -> dict[str, int]:
    """Return the index of the last line that ends each kind of details; -1 if there is none."""
    last_ends = dict.fromkeys(_ENDS, -1)
    for index, line in enumerate(lines):
        if line.rstrip().endswith(">"):
            last_ends |= {k: index for k, end in _ENDS.items() if line.rstrip().endswith(end)}
    return last_ends


def _classify_details(line: str) -> str:
    if _TOOL_USE.match(line):
        return "tool"
    if _THOUGHT.match(line):
        return "thought"
    return "old" if _SUMMARY.match(line) else ""


def _add_details(builder: TraceBuilder, section: _Section, actor: str) -> None:
    """Add the prose of a section, and the thoughts and tool uses in it."""
    lines = section.lines
    position = 0
    for kind, start, end in section.details:
        is_inside = kind == "old" and lines[start - 1].strip() == "<details>"
        _add_prose(builder, section, position, start - 1 if is_inside else start, actor)
        if kind == "thought":
            text = "\n".join(lines[start + 1 : end]).strip()
            builder.add_message(Kind.REASONING, text, section.point(start, end + 1), actor)
        else:
            _add_tool_use(builder, section, start, end, actor)
        position = end + 1
    _add_prose(builder, section, position, len(lines), actor)


def _add_prose(builder: TraceBuilder, section: _Section, start: int, end: int, actor: str) -> None:
    text = "\n".join(section.lines[start:end]).strip()
    text = text.removesuffix("---").rstrip()
    if text:
        builder.add_message(Kind.MESSAGE, text, section.point(start, end), actor)


_INLINE_CODE = re.compile(r"(?:(\w{1,40}) )?(`{1,2})([^`\n]{1,8000})\2(?!`)")
_TODO = re.compile(r"[-*] \[.\] (?:[^\w\s`\"'(\[]{1,4} )?([^\n]{1,600})")


def _add_tool_use(
    builder: TraceBuilder, section: _Section, start: int, end: int, actor: str
) -> None:
    """Add a tool use: its inputs are in backticks, its output is the last code block."""
    lines = section.lines
    named = _TOOL_NAME.search(lines[start])
    name, first = named[1] if named is not None else "tool", start + 1
    for index in range(start, min(start + 3, end)):
        if (summary := _SUMMARY.match(lines[index])) is not None:
            name, first = summary["name"], index + 1
            told = summary["told"].strip(" •:-")
            break
    else:
        told = ""
    fence = next((i for i in range(first, end) if lines[i].startswith("```")), end)
    given = "\n".join(lines[first:fence]).strip("\n")
    output_end = end
    while output_end > fence and not lines[output_end - 1].startswith("```"):
        output_end -= 1
    call = ToolCall(name, _parse_given(given), told if not given else "")
    draft = builder.add_call(call, section.point(start, end + 1), actor)
    if fence < end:
        output = "\n".join(lines[fence + 1 : output_end - 1])
        draft.set_output(output, section.point(fence, output_end))


def _parse_given(given: str) -> Json:
    """Parse what a tool was given: a to-do list, named values, a command and a description."""
    todos = [match[1].strip() for match in _TODO.finditer(given)]
    if todos:
        return {"todos": todos}
    arguments: dict[str, Json] = {}
    rest = _INLINE_CODE.sub("", given).strip()
    is_line = {match.start() for match in re.finditer(r"^", given, re.MULTILINE)}
    for match in _INLINE_CODE.finditer(given):
        named = match[1] if match[1] and match.start() not in is_line else None
        key = named or ("command" if match.start(2) in is_line else "path")
        arguments.setdefault(key, match[3])
    if rest:
        arguments["description"] = rest
    return arguments or None
