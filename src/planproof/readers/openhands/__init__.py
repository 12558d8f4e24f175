"""OpenHands: its list of events, of the first generation and of the agent SDK."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at, time_of
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.openhands.events import Events, is_event
from planproof.readers.openhands.sdk import SdkEvents, is_sdk_event
from planproof.readers.toolkit.entries import LOOKED_AT, entries
from planproof.readers.toolkit.trace_builder import Transcript

_HOLDERS = ("history", "trajectory", "events", "items")


class OpenHandsReader:
    """Reads a list of events, bare or as the `history` of an instance that was evaluated."""

    name = "openhands"

    def sniff(self, source: Source) -> bool:
        """Whether the entries are actions and observations with a source."""
        if source.form == "text":
            return False
        found = False
        for _, event in islice(_events(source), LOOKED_AT):
            if not is_object(event) or not _is_known(event):
                return False
            found = True
        return found

    def read(self, source: Source) -> Trace:
        """Actions, what was observed after them, and messages."""
        transcript = Transcript(source.skipped)
        first, second = Events(transcript), SdkEvents(transcript)
        for pointer, event in _events(source):
            if not is_object(event):
                transcript.skip(pointer, "is no event")
                continue
            moment = event.get("timestamp")
            transcript.time = time_of(moment) if moment is not None else None
            (second if text_at(event, "kind") else first).take(event, pointer)
        return transcript.trace(self.name)


def _is_known(event: dict[str, Json]) -> bool:
    return is_event(event) or is_sdk_event(event)


def _events(source: Source) -> Iterator[tuple[str, Json]]:
    for pointer, entry in entries(source, _HOLDERS, _is_known):
        if is_list(entry):
            # The first versions wrote an action and its observation as a pair.
            for index, event in enumerate(entry):
                yield f"{pointer}/{index}", event
        else:
            yield pointer, entry
