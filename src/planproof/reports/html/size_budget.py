"""Size budget of HTML pages: limits the events and text shown, so that a page can be opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planproof.core.trace import Event

# Characters of all texts on a page together; and the minimum and maximum per text.
_MAX_PAGE_CHARACTERS = 32_000_000
_MIN_TEXT_LENGTH, _MAX_TEXT_LENGTH = 160, 8_000
# Events of all cases together, and the minimum per case.
_MAX_PAGE_EVENTS = 200_000
_MIN_EVENTS = 100


@dataclass(frozen=True, slots=True)
class SizeBudget:
    """Maximum length of one text of an event, and the share of events that is shown."""

    max_characters: int = _MAX_TEXT_LENGTH
    event_share: float = 1.0

    @classmethod
    def for_event_count(cls, events: int) -> SizeBudget:
        """Return the budget for a page with this many events."""
        characters = min(
            max(_MAX_PAGE_CHARACTERS // max(events, 1), _MIN_TEXT_LENGTH), _MAX_TEXT_LENGTH
        )
        return cls(characters, min(_MAX_PAGE_EVENTS / max(events, 1), 1.0))

    def select_events(self, events: Sequence[Event], cited: set[str]) -> Iterator[Event | int]:
        """Yield the events to show, and between them the number of omitted ones.

        Events cited by a finding are always shown; the earliest others fill the rest of the budget.
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
