"""Records of a logger: each begins with a time and a level, and tells of a call or a thought."""

from __future__ import annotations

import re

from planproof.core.trace import Kind
from planproof.readers.toolkit.checklists import find_checklists
from planproof.readers.toolkit.text_pointers import PointerFactory
from planproof.readers.toolkit.tool_calls import ToolCall, parse_arguments
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder

_RECORD_START = re.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]?\d{0,9})\s{0,4}[|\-\[]?\s{0,4}"
    r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL|SUCCESS|TRACE)\b\s{0,8}\]?\s{0,4}[|:\-]\s{0,4}"
    r"(?:[\w.]{1,80}:[\w<>]{1,80}:\d{1,7}\s{0,4}-\s{0,4})?"
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
    """Whether a line of a text begins a record."""
    return any(
        _RECORD_START.match(line, 0, _HEAD_LENGTH)
        for line in text.split("\n")
        if line[:1].isdigit()
    )


def find_record_starts(lines: list[str]) -> list[tuple[int, re.Match[str]]] | None:
    """The lines that begin a record; None when this is no log."""
    starts = [
        (i, m) for i, line in enumerate(lines) if (m := _RECORD_START.match(line, 0, _HEAD_LENGTH))
    ]
    filled = sum(1 for line in lines[: starts[0][0]] if line.strip()) if starts else 0
    return starts if len(starts) > 1 and filled * 2 <= len(starts) else None


def add_log_records(
    builder: TraceBuilder,
    lines: list[str],
    starts: list[tuple[int, re.Match[str]]],
    pointer_for: PointerFactory,
) -> None:
    """Write the records of a log: the calls, thoughts and plans in it, and the rest as notices."""
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
    """What stands above the first record: the user's prompt, and noise."""
    for number, line in enumerate(lines, 1):
        prompt = _PROMPT.match(line, 0, _HEAD_LENGTH)
        if prompt is not None:
            builder.begin_turn()
            where = pointer_for(number, len(lines))
            text = "\n".join([line[prompt.end() :], *lines[number:]]).strip()
            builder.add_message(Kind.MESSAGE, text, where, "user")
            return
    if any(line.strip() for line in lines):
        builder.skip(pointer_for(1, len(lines)), "stands before the first record of the log")


class _LogWriter:
    """Puts together what a log tells of a call in several records."""

    def __init__(self, builder: TraceBuilder, pointer_for: PointerFactory) -> None:
        self._builder = builder
        self._pointer_for = pointer_for
        self._prepared_tools: list[str] = []
        self._prepared_line = 0
        self._announced_call: EventDraft | None = None

    def add_record(self, text: str, first: int, last: int) -> None:
        """Write one record, which stands in these lines."""
        builder, pointer = self._builder, self._pointer_for(first, last)
        head = text[:_HEAD_LENGTH]
        if prepared := _TOOLS_PREPARED.search(head):
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
                # The log names no turns: what follows a result was issued later.
                builder.begin_turn()
        elif started := _TOOL_STARTED.search(head):
            self._add_started_call(started[1] or started[2], pointer)
        elif thought := _THOUGHT.search(head):
            builder.begin_turn()
            builder.add_message(Kind.REASONING, text[thought.end() :], pointer, "assistant")
        else:
            self._add_notice(text, pointer)

    def _add_started_call(self, name: str, pointer: str) -> None:
        """Older versions tell of the arguments of the first call only, or of none."""
        announced, self._announced_call = self._announced_call, None
        if announced is None or announced.name != name:
            self._builder.add_call(ToolCall(name), pointer, "assistant")

    def _add_notice(self, text: str, pointer: str) -> None:
        lists = list(find_checklists(text))
        if lists:
            self._builder.add_plan(text[lists[0][0] : lists[-1][1]], pointer, "log")
        else:
            self._builder.add_message(Kind.SYSTEM, text, pointer, "log")
