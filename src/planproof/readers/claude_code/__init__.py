"""Claude Code: the lines of a session, with its sub-agents, or what `-p` prints as stream-json."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from planproof.core.content import Json
from planproof.core.json_values import is_object
from planproof.core.trace import Trace
from planproof.readers.claude_code.order import in_order
from planproof.readers.claude_code.session import ASIDE, SPEAKERS, Session
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import LOOKED_AT, entries
from planproof.readers.toolkit.trace_builder import Transcript

_MARKS = frozenset(("uuid", "parentUuid", "sessionId", "session_id", "leafUuid", "messageId"))


class ClaudeCodeReader:
    """Reads session files of Claude Code; sub-agents stand among the lines or in lines added."""

    name = "claude-code"

    def sniff(self, source: Source) -> bool:
        """Whether the lines are those of a session, and somebody speaks or may yet speak."""
        if source.form == "text":
            return False
        marked = False
        for _, line in islice(_lines(source), LOOKED_AT):
            if not _is_line(line):
                return False
            marked = marked or line["type"] in SPEAKERS or line["type"] in ASIDE
        return marked

    def read(self, source: Source) -> Trace:
        """The events of all lines, in the order of their times."""
        transcript = Transcript(source.skipped)
        session = Session(transcript)
        lines = list(_lines(source))
        session.know(lines)
        for pointer, line in in_order(lines):
            session.take(line, pointer)
        return transcript.trace(self.name)


def _lines(source: Source) -> Iterator[tuple[str, Json]]:
    return entries(source, is_entry=_is_line)


def _is_line(line: Json) -> bool:
    if not is_object(line) or not isinstance(line.get("type"), str) or "payload" in line:
        return False
    if line["type"] in SPEAKERS and not is_object(line.get("message")):
        return False
    return not _MARKS.isdisjoint(line)
