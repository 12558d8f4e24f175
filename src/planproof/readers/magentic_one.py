"""Magentic-One: a history of turns whose role is free text, such as "Orchestrator (thought)"."""

from __future__ import annotations

import re

from planproof.core.json_values import is_object, time_of
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import entries, first_entries
from planproof.readers.toolkit.speakers import Speakers
from planproof.readers.toolkit.text_pointers import at
from planproof.readers.toolkit.trace_builder import Transcript

_HOLDERS = ("history", "messages", "chat_history")
_STAGE = re.compile(r"[^()]{1,80}\((?:thought|-> ?[^()]{1,80}|termination condition)\)")


class MagenticOneReader:
    """Reads `[{"role": "Orchestrator (-> WebSurfer)", "content": ...}]`, bare or under a key."""

    name = "magentic-one"

    def sniff(self, source: Source) -> bool:
        """Whether all turns have a role and text, and some role has a stage direction."""
        staged = False
        for turn in first_entries(source, _HOLDERS):
            role = turn.get("role") if is_object(turn) else None
            if not isinstance(role, str) or not isinstance(turn.get("content"), str):
                return False
            staged = staged or _STAGE.fullmatch(role.strip()) is not None
        return staged

    def read(self, source: Source) -> Trace:
        """Thoughts, hand-offs, and what the agents that were sent to work did and said."""
        transcript = Transcript(source.skipped)
        speakers = Speakers(transcript)
        for pointer, turn in entries(source, _HOLDERS):
            role = turn.get("role") if is_object(turn) else None
            content = turn.get("content") if is_object(turn) else None
            if role and isinstance(role, str) and isinstance(content, str):
                moment = turn.get("timestamp")
                transcript.time = time_of(moment) if moment else None
                speakers.said(content, at(f"{pointer}/content"), role)
            else:
                transcript.skip(pointer, "is no turn of a speaker")
        speakers.flush()
        return transcript.trace(self.name)
