"""Read chats that tools keep as Markdown: Aider's history, and the sessions of SpecStory."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate, groupby

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


class _Page:
    """The lines of a chat, some without their marks, and the trace that they become."""

    def __init__(self, source: Source, lines: list[str]) -> None:
        self.builder = TraceBuilder(source.skipped)
        self.lines = lines

    def join(self, start: int, end: int) -> str:
        """Return the text of lines, without blanks around it."""
        return "\n".join(self.lines[start:end]).strip()

    def point(self, start: int, end: int) -> str:
        """Return a pointer to lines, without the blank ones around them."""
        while end - 1 > start and not self.lines[end - 1].strip():
            end -= 1
        while start + 1 < end and not self.lines[start].strip():
            start += 1
        return point_to_lines(start + 1, end)

    def add(self, kind: Kind, start: int, end: int, actor: str) -> None:
        """Add lines as a message, unless all are blank."""
        self.builder.add_message(kind, self.join(start, end), self.point(start, end), actor)

    def finish(self, name: str) -> Trace:
        """Return the trace; every line is accounted for."""
        trace = self.builder.build(name)
        count = len(self.lines)
        return replace(trace, record_counts=count_text_lines(trace.events, count, count))


class AiderReader:
    """Reads `.aider.chat.history.md`: `####` lines of the user, `>` lines of the program."""

    name = "aider"

    def sniff(self, source: Source) -> bool:
        """Return whether the text begins with the heading of a chat."""
        return source.form == "text" and _is_aider(source.document[:_SNIFF_LENGTH])

    def read(self, source: Source) -> Trace:
        """Return messages, edits with what the program said of them, and the commands it ran."""
        kinds, lines = _classify_aider(source.document.split("\n"))
        page = _AiderPage(source, lines)
        end = 0
        for kind, section in groupby(kinds):
            start, end = end, end + len(list(section))
            page.add_section(kind, start, end)
        return page.finish(self.name)


def _classify_aider(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return the speaker of each line, and the lines without their marks."""
    quoted = next((line for line in lines if line.startswith("> ")), "")
    # Aider ends its lines with a Markdown line break; quotes and headings of the model have none.
    end = "  " if quoted.rstrip("\r").endswith("  ") else ""
    kinds: list[str] = []
    contents: list[str] = []
    for raw in lines:
        line = raw.rstrip()
        is_marked = raw.rstrip("\r").endswith(end)
        if line.startswith(_AIDER_START):
            kind, content = "start", line
        elif is_marked and raw.startswith("####"):
            kind, content = "user", line[4:].removeprefix(" ")
        elif is_marked and raw.startswith(">") and not raw.startswith(">>>>"):
            kind, content = "program", line[1:].removeprefix(" ")
        else:
            kind, content = "agent", raw.rstrip("\r")
        # A blank line belongs to what is before it.
        kinds.append(kind if content or kind != "agent" or not kinds else kinds[-1])
        contents.append(content)
    return kinds, contents


_EDIT_MARKS = ("<<<<<<< SEARCH", ">>>>>>> REPLACE")
_FILE_LINE = re.compile(r"[\w./\\ @+\-()\[\]]{1,300}")
_UDIFF_FILE = re.compile(r"\+\+\+ (?:b/)?([^\s]{1,300})", re.MULTILINE)
_APPLIED = re.compile(r"(?:Applied edit to|Created|Creating empty file) ([^\n]{1,300})")
_REJECTED = re.compile(
    r"(?:## )?(?:SearchReplaceNoExactMatch|UnifiedDiffNoMatch|Did not apply edit to"
    r"|Skipping edits to)[^\n]{0,200}?(?: in)? ([^\s]{1,300})$"
)
_RUNNING = re.compile(r"(?:(?:#{1,3} )?Running:?|Test Script:) ([^\n]{1,2000})")
_COMMIT = re.compile(r"Commit ([0-9a-f]{6,40}) ([^\n]{1,400})")
_RUN_ENDS = ("Attempt to fix ", "Add command output to the chat")


class _AiderPage(_Page):
    """A history, whose sections are added in order."""

    def __init__(self, source: Source, lines: list[str]) -> None:
        super().__init__(source, lines)
        self._edits: dict[str, EventDraft] = {}

    def add_section(self, kind: str, start: int, end: int) -> None:
        """Add the lines of one speaker."""
        if kind == "start":
            self.builder.time = self.join(start, end).rpartition(_AIDER_START)[2]
            self.builder.skip(self.point(start, end), "says when the chat began")
        elif kind == "program":
            self._add_program_lines(start, end)
        elif self.join(start, end):
            self.builder.begin_turn()
            if kind == "user":
                self.add(Kind.MESSAGE, start, end, "user")
            else:
                self._add_answer(start, end)

    def _add_answer(self, start: int, end: int) -> None:
        """Add an answer of the model: one edit for each file, and the prose around the edits."""
        lines = self.lines[start:end]
        offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))
        self._edits = {}
        texts: dict[str, list[str]] = {}
        position = start
        for block in find_code_blocks("\n".join(lines)):
            first = bisect_right(offsets, block.start) - 1
            path, first = _find_edited_file(lines, first, block.language, block.code)
            if path is None:
                continue
            self.add(Kind.MESSAGE, position, start + first, _AGENT)
            position = start + bisect_right(offsets, max(block.end - 1, 0))
            known = self._edits.get(path)
            if known is not None:
                # Aider reports on each file once: all edits of it are one event.
                texts[path].append(block.code)
                begin = int(known.pointer[1:].partition("-")[0])
                known.pointer = point_to_lines(begin, position)
                continue
            # As text, because every argument and name of a call must be found at its pointer.
            texts[path] = [f"{path}\n{block.code}".lstrip("\n")]
            pointer = self.point(start + first, position)
            self._edits[path] = draft = self.builder.add_call(ToolCall("edit"), pointer, _AGENT)
            draft.recognition = UNVERIFIED
        for path, draft in self._edits.items():
            draft.text = "\n".join(texts[path])
        self.add(Kind.MESSAGE, position, end, _AGENT)

    def _add_program_lines(self, start: int, end: int) -> None:
        notes = index = start
        while index < end:
            line, at = self.lines[index], index
            index += 1
            applied = _APPLIED.fullmatch(line)
            told = applied or _REJECTED.fullmatch(line)
            edit = self._edits.get(told[1]) if told else None
            running, commit = _RUNNING.fullmatch(line), _COMMIT.fullmatch(line)
            if edit is None and running is None and commit is None:
                continue
            self.add(Kind.SYSTEM, notes, at, "aider")
            pointer = self.point(at, index)
            if running is not None:
                index = self._add_run(at, end, running[1].strip())
            elif commit is not None:
                call = ToolCall("git_commit", text=commit[2])
                self.builder.add_call(call, pointer, "aider").set_output(commit[1], pointer)
            elif edit is not None and edit.output_pointer is None:
                status = EventStatus.OK if applied else EventStatus.ERROR
                self.builder.answer(edit, ToolResult(line, pointer, status=status))
                edit.recognition = "edit"
            notes = index
        self.add(Kind.SYSTEM, notes, end, "aider")

    def _add_run(self, start: int, end: int, command: str) -> int:
        """Add a command that Aider ran, such as a linter after an edit; return where it ends."""
        last = start + 1
        while last < end and not (
            self.lines[last].startswith(_RUN_ENDS)
            or _RUNNING.fullmatch(self.lines[last])
            or _APPLIED.fullmatch(self.lines[last])
        ):
            last += 1
        self.builder.begin_turn()
        pointer = self.point(start, start + 1)
        draft = self.builder.add_call(ToolCall("run", text=command), pointer, "aider")
        if output := self.join(start + 1, last):
            failed = "Attempt to fix" in self.join(last, min(last + 2, end))
            status = EventStatus.ERROR if failed else None
            draft.set_output(output, self.point(start + 1, last), status)
        return last


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


_TOOL_NAME = re.compile(r"\b(?:data-tool-)?name=\"([^\"\n]{1,120})\"")
_SUMMARY = re.compile(
    r"<summary>Tool use: \*\*(?P<name>[^*\n]{1,120})\*\*(?P<told>[^\n]{0,600}?)</summary>"
)
_OPENINGS = (
    ("</think>", re.compile(r"<think><details><summary>[^\n]{0,200}</summary>\s{0,4}")),
    ("</tool-use>", re.compile(r"<tool-use\b[^\n]{0,400}")),
    ("</details>", _SUMMARY),
)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T][\d:.]{5,15}Z?")
_INLINE_CODE = re.compile(r"(?:(\w{1,40}) )?(`{1,2})([^`\n]{1,8000})\2(?!`)")
_TODO = re.compile(r"[-*] \[.\] (?:[^\w\s`\"'(\[]{1,4} )?([^\n]{1,600})")


class SpecStoryReader:
    """Reads the sessions that SpecStory keeps of coding agents: headings of speakers, details."""

    name = "specstory"

    def sniff(self, source: Source) -> bool:
        """Return whether the text has the headings of speakers."""
        return source.form == "text" and _is_specstory(source.document[:_SNIFF_LENGTH])

    def read(self, source: Source) -> Trace:
        """Return the messages, thoughts and tool uses under the headings."""
        page = _SpecStoryPage(source, source.document.split("\n"))
        page.add_turns()
        return page.finish(self.name)


class _SpecStoryPage(_Page):
    """A session: what is under a heading is prose, thoughts and tool uses, each to its end mark."""

    _heading: int | None = None

    def point(self, start: int, end: int) -> str:
        """Return a pointer to lines; the first below a heading also covers the heading."""
        first, self._heading = start if self._heading is None else self._heading, None
        return super().point(first, end)

    def add_turns(self) -> None:
        """Add all turns in order."""
        actor = ""
        prose, opened, end_mark = 0, 0, ""
        last_ends = {
            mark: index
            for index, line in enumerate(self.lines)
            for mark, _ in _OPENINGS
            if line.rstrip().endswith(mark)
        }
        for index, line in enumerate(self.lines):
            if end_mark:
                # A heading inside the output of a tool is part of the output.
                if line.rstrip().endswith(end_mark):
                    self._add_details(opened, index, end_mark, actor)
                    prose, end_mark = index + 1, ""
            elif line.startswith("_**") and (heading := _SPEAKER.fullmatch(line)):
                self._add_prose(prose, index, actor)
                actor, prose = "user" if heading[1] == "User" else _AGENT, index + 1
                self._heading = index
                time = _TIME.search(heading[2] or "")
                self.builder.time = time[0] if time else None
                self.builder.begin_turn()
            elif actor == _AGENT:
                marks = (mark for mark, opening in _OPENINGS if opening.match(line))
                end_mark, opened = next(marks, ""), index
                # What is never closed is prose.
                end_mark = end_mark if last_ends.get(end_mark, -1) > index else ""
                if end_mark:
                    is_inside = self.lines[index - 1].strip() == "<details>"
                    self._add_prose(prose, index - is_inside, actor)
        self._add_prose(prose, len(self.lines), actor)

    def _add_prose(self, start: int, end: int, actor: str) -> None:
        text = self.join(start, end).removesuffix("---").rstrip()
        if actor and text:
            self.builder.add_message(Kind.MESSAGE, text, self.point(start, end), actor)
        elif text:
            self.builder.skip(self.point(start, end), "stands before the first turn")

    def _add_details(self, start: int, end: int, end_mark: str, actor: str) -> None:
        """Add a thought, or a tool use: inputs in backticks, the last code block is the output."""
        lines, pointer = self.lines, self.point(start, end + 1)
        if end_mark == "</think>":
            text = self.join(start + 1, end)
            self.builder.add_message(Kind.REASONING, text, pointer, actor)
            return
        named = _TOOL_NAME.search(lines[start])
        name, told, first = named[1] if named is not None else "tool", "", start + 1
        for index in range(min(start + 2, end), start - 1, -1):
            if summary := _SUMMARY.match(lines[index]):
                name, told, first = summary["name"], summary["told"].strip(" •:-"), index + 1
        fences = [index for index in range(first, end) if lines[index].startswith("```")]
        fence = fences[0] if fences else end
        given = "\n".join(lines[first:fence]).strip("\n")
        call = ToolCall(name, _parse_given(given), told if not given else "")
        draft = self.builder.add_call(call, pointer, actor)
        if fences:
            output = "\n".join(lines[fence + 1 : fences[-1]])
            draft.set_output(output, self.point(fence, fences[-1] + 1))


def _parse_given(given: str) -> Json:
    """Parse what a tool was given: a to-do list, named values, a command and a description."""
    todos = [match[1].strip() for match in _TODO.finditer(given)]
    if todos:
        return {"todos": todos}
    arguments: dict[str, Json] = {}
    for match in _INLINE_CODE.finditer(given):
        is_first = not match.start() or given[match.start() - 1] == "\n"
        is_alone = is_first and not match[1]
        named = match[1] if not is_first else None
        arguments.setdefault(named or ("command" if is_alone else "path"), match[3])
    if rest := _INLINE_CODE.sub("", given).strip():
        arguments["description"] = rest
    return arguments or None
