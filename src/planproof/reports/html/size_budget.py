"""How much of the traces a page shows: it must stay small enough to be opened and sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planproof.core.trace import Event

# All texts of a page together, in characters; a text gets at least and at most so much of it.
_MAX_PAGE_CHARACTERS = 32_000_000
_MIN_TEXT_LENGTH, _MOST_TEXT = 160, 8_000
# Events of all cases together.
_MAX_PAGE_EVENTS = 200_000
_MIN_EVENTS = 100


@dataclass(frozen=True, slots=True)
class SizeBudget:
    """The characters that one text of an event may take, and the share of events that is shown."""

    max_characters: int = _MOST_TEXT
    event_share: float = 1.0

    @classmethod
    def for_event_count(cls, events: int) -> SizeBudget:
        """The room that each of so many events has."""
        characters = min(max(_MAX_PAGE_CHARACTERS // max(events, 1), _MIN_TEXT_LENGTH), _MOST_TEXT)
        return cls(characters, min(_MAX_PAGE_EVENTS / max(events, 1), 1.0))

    def select_events(self, events: Sequence[Event], cited: set[str]) -> Iterator[Event | int]:
        """The events that are shown, and between them how many are not.

        Those that a finding names come first; what room is left goes to the earliest others.
        """
        limit = max(int(len(events) * self.event_share), _MIN_EVENTS)
        others = max(limit - len(cited), 0)
        omitted = 0
        for event in events:
            if event.id not in cited:
                if others == 0:
                    omitted += 1
                    continue
                others -= 1
            if omitted:
                yield omitted
                omitted = 0
            yield event
        if omitted:
            yield omitted
