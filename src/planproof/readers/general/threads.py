"""Threads: the work of a sub-agent, written between the lines of the agent that asked for it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from planproof.content import Json
from planproof.readers.pieces.shapes import is_object, text_at
from planproof.readers.pieces.transcript import Draft, Transcript
from planproof.trace import Kind


class Threads:
    """Finds, for each line of a sub-agent, the call that started the sub-agent."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._started_by: dict[str, Draft] = {}
        self._prompts: dict[str, Draft] = {}
        self._noted = 0

    @contextmanager
    def around(
        self, envelope: dict[str, Json], message: dict[str, Json]
    ) -> Generator[bool, None, None]:
        """Write under the call that a side line belongs to; says whether it is its prompt."""
        if envelope.get("isSidechain") is not True:
            yield False
            return
        starter = self._started_by.get(text_at(envelope, "parentUuid") or "")
        content = message.get("content")
        is_prompt = False
        if starter is None and isinstance(content, str):
            is_prompt = True
            starter = self._prompts.get(content)
        own = text_at(envelope, "uuid")
        if starter is not None and own is not None:
            self._started_by[own] = starter
        self._transcript.parent = starter
        try:
            yield is_prompt
        finally:
            self._transcript.parent = None

    def note_calls(self) -> None:
        """Remember the prompts of the calls that were written since the last time."""
        for draft in self._transcript.drafts[self._noted :]:
            if draft.kind is Kind.ACTION and is_object(draft.arguments):
                prompt = text_at(draft.arguments, "prompt")
                if prompt is not None:
                    self._prompts.setdefault(prompt, draft)
        self._noted = len(self._transcript.drafts)
