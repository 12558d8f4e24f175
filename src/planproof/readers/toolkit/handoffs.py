"""Track hand-offs: which call started an agent, so that its work keeps its parent."""

from __future__ import annotations

import re
from functools import lru_cache

from planproof.core.json_values import is_object, text_at
from planproof.readers.toolkit.trace_builder import EventDraft

_TRANSFER = re.compile(r"(?:transfer|hand_?off|delegate)_(?:back_)?to_(.{1,80})", re.IGNORECASE)
_RECEIVER_KEYS = ("agent_name", "agent", "to_agent", "recipient", "subagent_type")
_NON_WORD = re.compile(r"\W{1,80}")


class Handoffs:
    """The call that handed off to each agent."""

    def __init__(self) -> None:
        self._call_by_agent: dict[str, EventDraft] = {}
        self._active_agents: set[str] = set()

    def find_parent_call(self, agent: str) -> EventDraft | None:
        """Return the call that started an agent, or None if there was no hand-off to it."""
        key = normalize_name(agent)
        parent = self._call_by_agent.get(key)
        if parent is None:
            self._active_agents.add(key)
        return parent

    def record_handoff(self, call: EventDraft, receiver: str | None = None) -> bool:
        """Record a call that hands off to another agent; return False if it does not."""
        receiver = receiver or get_receiver(call)
        if receiver is None:
            return False
        key = normalize_name(receiver)
        before = self._call_by_agent.get(key)
        # An agent that was active before gets the work back; it is not started.
        if key not in self._active_agents and (before is None or before.actor == call.actor):
            self._call_by_agent[key] = call
        return True


def get_receiver(call: EventDraft) -> str | None:
    """Return the agent that a call hands off to, from the tool's name and arguments."""
    named = _parse_receiver(call.name or "")
    if named is None:
        return None
    if is_object(call.arguments) and named.lower() in ("agent", "other_agent"):
        return text_at(call.arguments, *_RECEIVER_KEYS)
    return named


# A trace has few tools and agents, and each is named many times.
@lru_cache(maxsize=1024)
def _parse_receiver(tool: str) -> str | None:
    named = _TRANSFER.fullmatch(tool)
    return named[1] if named is not None else None


@lru_cache(maxsize=1024)
def normalize_name(agent: str) -> str:
    """Return the name of an agent as it is written in the name of a tool."""
    return _NON_WORD.sub("_", agent).strip("_").lower()
