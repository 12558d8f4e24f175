"""How much of the traces a page shows: it must stay small enough to be opened and sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planproof.core.trace import Event

# All texts of a page together, in characters; a text gets at least and at most so much of it.
_ALL_TEXT = 32_000_000
_LEAST_TEXT, _MOST_TEXT = 160, 8_000
# Events of all cases together.
_ALL_EVENTS = 200_000
_LEAST_EVENTS = 100


@dataclass(frozen=True, slots=True)
class Room:
    """The characters that one text of an event may take, and the share of events that is shown."""

    characters: int = _MOST_TEXT
    share: float = 1.0

    @classmethod
    def among(cls, events: int) -> Room:
        """The room that each of so many events has."""
        characters = min(max(_ALL_TEXT // max(events, 1), _LEAST_TEXT), _MOST_TEXT)
        return cls(characters, min(_ALL_EVENTS / max(events, 1), 1.0))

    def shown(self, events: Sequence[Event], named: set[str]) -> Iterator[Event | int]:
        """The events that are shown, and between them how many are not.

        Those that a finding names come first; what room is left goes to the earliest others.
        """
        most = max(int(len(events) * self.share), _LEAST_EVENTS)
        others = max(most - len(named), 0)
        passed = 0
        for event in events:
            if event.id not in named:
                if others == 0:
                    passed += 1
                    continue
                others -= 1
            if passed:
                yield passed
                passed = 0
            yield event
        if passed:
            yield passed
