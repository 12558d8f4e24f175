"""Read Magentic-One histories: turns whose role is text such as "Orchestrator (thought)"."""

from __future__ import annotations

import re

from planproof.core.json_values import is_object, parse_time
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import (
    iter_entries,
    make_constant_pointer,
    take_first_entries,
)
from planproof.readers.toolkit.speakers import Speakers
from planproof.readers.toolkit.trace_builder import TraceBuilder

_LIST_KEYS = ("history", "messages", "chat_history")
_STAGE_DIRECTION = re.compile(r"[^()]{1,80}\((?:thought|-> ?[^()]{1,80}|termination condition)\)")


class MagenticOneReader:
    """Reads histories of Magentic-One: roles such as `Orchestrator (-> WebSurfer)`."""

    name = "magentic-one"

    def sniff(self, source: Source) -> bool:
        """Return whether all turns have a role and text, and some role has a stage direction."""
        staged = False
        for turn in take_first_entries(source, _LIST_KEYS):
            role = turn.get("role") if is_object(turn) else None
            if not isinstance(role, str) or not isinstance(turn.get("content"), str):
                return False
            staged = staged or _STAGE_DIRECTION.fullmatch(role.strip()) is not None
        return staged

    def read(self, source: Source) -> Trace:
        """Return the thoughts, the hand-offs, and the agents' actions and messages."""
        builder = TraceBuilder(source.skipped)
        speakers = Speakers(builder)
        for pointer, turn in iter_entries(source, _LIST_KEYS):
            role = turn.get("role") if is_object(turn) else None
            content = turn.get("content") if is_object(turn) else None
            if role and isinstance(role, str) and isinstance(content, str):
                moment = turn.get("timestamp")
                builder.time = parse_time(moment) if moment else None
                # The role says who speaks to whom, so the pointer covers it too.
                speakers.add_turn(content, make_constant_pointer(pointer), role)
            else:
                builder.skip(pointer, "not a speaker turn")
        speakers.flush()
        return builder.build(self.name)
