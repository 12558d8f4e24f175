"""Whether the user turned a plan down."""

from __future__ import annotations

import re
from collections.abc import Sequence

from planproof.core.trace import Event, Kind

_REFUSED = re.compile(
    r"\b(?:user\s+(?:doesn['’]t|does\s+not|did\s+not|didn['’]t)\s+want\s+to\s+proceed|"
    r"(?:was|been)\s+rejected|user\s+(?:has\s+)?(?:rejected|declined|denied|cancelled|canceled)|"
    r"rejected\s+by\s+(?:the\s+)?user|plan\s+(?:was\s+)?rejected|not\s+approved|"
    r"user\s+chose\s+to\s+stay\s+in\s+plan\s+mode|keep\s+planning)\b",
    re.IGNORECASE,
)
_INTERRUPTED = re.compile(
    r"\W{0,5}request\s+(?:was\s+)?interrupted\s+by\s+(?:the\s+)?user", re.IGNORECASE
)
_LONGEST = 2_000


def find_rejection(events: Sequence[Event], event_index: int) -> str | None:
    """The id of the event that says that the user refused the plan declared at this place."""
    event = events[event_index]
    if _REFUSED.search(event.output[:_LONGEST]):
        return event.id
    for index in range(event_index + 1, len(events)):
        later = events[index]
        if later.actor == "user":
            return later.id if _INTERRUPTED.match(later.text) else None
        if later.kind is Kind.ACTION or later.kind is Kind.MESSAGE:
            return None
    return None
