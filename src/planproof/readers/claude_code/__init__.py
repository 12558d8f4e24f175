"""Claude Code: the lines of a session, with its sub-agents, or what `-p` prints as stream-json."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from planproof.core.content import Json
from planproof.core.json_values import is_object
from planproof.core.trace import Trace
from planproof.readers.claude_code.order import sort_lines
from planproof.readers.claude_code.session import MESSAGE_TYPES, METADATA_TYPES, Session
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import SNIFF_LIMIT, iter_entries
from planproof.readers.toolkit.trace_builder import TraceBuilder

_LINE_KEYS = frozenset(("uuid", "parentUuid", "sessionId", "session_id", "leafUuid", "messageId"))


class ClaudeCodeReader:
    """Reads session files of Claude Code; sub-agents stand among the lines or in lines added."""

    name = "claude-code"

    def sniff(self, source: Source) -> bool:
        """Whether the lines are those of a session, and somebody speaks or may yet speak."""
        if source.form == "text":
            return False
        marked = False
        for _, line in islice(_iter_lines(source), SNIFF_LIMIT):
            if not _is_line(line):
                return False
            marked = marked or line["type"] in MESSAGE_TYPES or line["type"] in METADATA_TYPES
        return marked

    def read(self, source: Source) -> Trace:
        """The events of all lines, in the order of their times."""
        builder = TraceBuilder(source.skipped)
        session = Session(builder)
        lines = list(_iter_lines(source))
        session.index_subagents(lines)
        for pointer, line in sort_lines(lines):
            session.add_line(line, pointer)
        return builder.build(self.name)


def _iter_lines(source: Source) -> Iterator[tuple[str, Json]]:
    return iter_entries(source, is_entry=_is_line)


def _is_line(line: Json) -> bool:
    if not is_object(line) or not isinstance(line.get("type"), str) or "payload" in line:
        return False
    if line["type"] in MESSAGE_TYPES and not is_object(line.get("message")):
        return False
    return not _LINE_KEYS.isdisjoint(line)
