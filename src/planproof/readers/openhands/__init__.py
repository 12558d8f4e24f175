"""OpenHands: its list of events, of the first generation and of the agent SDK."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_time, text_at
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.openhands.events import OpenHandsEventWriter, is_event
from planproof.readers.openhands.sdk import SdkEventWriter, is_sdk_event
from planproof.readers.toolkit.entries import SNIFF_LIMIT, iter_entries
from planproof.readers.toolkit.trace_builder import TraceBuilder

_LIST_KEYS = ("history", "trajectory", "events", "items")


class OpenHandsReader:
    """Reads a list of events, bare or as the `history` of an instance that was evaluated."""

    name = "openhands"

    def sniff(self, source: Source) -> bool:
        """Whether the entries are actions and observations with a source."""
        if source.form == "text":
            return False
        has_events = False
        for _, event in islice(_iter_events(source), SNIFF_LIMIT):
            if not is_object(event) or not _is_known(event):
                return False
            has_events = True
        return has_events

    def read(self, source: Source) -> Trace:
        """Actions, what was observed after them, and messages."""
        builder = TraceBuilder(source.skipped)
        first, second = OpenHandsEventWriter(builder), SdkEventWriter(builder)
        for pointer, event in _iter_events(source):
            if not is_object(event):
                builder.skip(pointer, "is no event")
                continue
            moment = event.get("timestamp")
            builder.time = parse_time(moment) if moment is not None else None
            (second if text_at(event, "kind") else first).add_event(event, pointer)
        return builder.build(self.name)


def _is_known(event: dict[str, Json]) -> bool:
    return is_event(event) or is_sdk_event(event)


def _iter_events(source: Source) -> Iterator[tuple[str, Json]]:
    for pointer, entry in iter_entries(source, _LIST_KEYS, _is_known):
        if is_list(entry):
            # The first versions wrote an action and its observation as a pair.
            for index, event in enumerate(entry):
                yield f"{pointer}/{index}", event
        else:
            yield pointer, entry
