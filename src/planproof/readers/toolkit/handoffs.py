"""Hand-offs: which call an agent was started by, so that its work keeps its parent."""

from __future__ import annotations

import re
from functools import lru_cache

from planproof.core.json_values import is_object, text_at
from planproof.readers.toolkit.trace_builder import Draft

_TRANSFER = re.compile(r"(?:transfer|hand_?off|delegate)_(?:back_)?to_(.{1,80})", re.IGNORECASE)
_RECEIVERS = ("agent_name", "agent", "to_agent", "recipient", "subagent_type")
_NO_WORD = re.compile(r"\W{1,80}")


class Handoffs:
    """Remembers, for each agent, the call that handed over to it."""

    def __init__(self) -> None:
        self._started_by: dict[str, Draft] = {}
        self._began: set[str] = set()

    def parent_of(self, agent: str) -> Draft | None:
        """The call that started an agent; None for one that nobody handed over to."""
        key = _key(agent)
        parent = self._started_by.get(key)
        if parent is None:
            self._began.add(key)
        return parent

    def note(self, call: Draft, receiver: str | None = None) -> bool:
        """Remember a call that hands over to another agent; False when it does not."""
        receiver = receiver or receiver_of(call)
        if receiver is None:
            return False
        key = _key(receiver)
        before = self._started_by.get(key)
        # Whoever was at work before is handed the work back, not started.
        if key not in self._began and (before is None or before.actor == call.actor):
            self._started_by[key] = call
        return True


def receiver_of(call: Draft) -> str | None:
    """The agent that a call hands over to, by the name of the tool and what it was given."""
    named = _named_in(call.name or "")
    if named is None:
        return None
    if is_object(call.arguments) and named.lower() in ("agent", "other_agent"):
        return text_at(call.arguments, *_RECEIVERS)
    return named


# There are few tools and agents in a trace, and each is named many times.
@lru_cache(maxsize=1024)
def _named_in(tool: str) -> str | None:
    named = _TRANSFER.fullmatch(tool)
    return named[1] if named is not None else None


@lru_cache(maxsize=1024)
def _key(agent: str) -> str:
    return _NO_WORD.sub("_", agent).strip("_").lower()
