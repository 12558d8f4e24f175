"""The execution trace: the events of an agent's run, each with its place in the source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from planproof.core.content import Image, Json


class Kind(StrEnum):
    """What an event is; only some kinds can be evidence of an action."""

    ACTION = "action"
    """A tool call, a command, code that was run, a hand-off to another agent."""
    MESSAGE = "message"
    """Said to or asked of somebody."""
    REASONING = "reasoning"
    """Thought, to nobody."""
    OBSERVATION = "observation"
    """What came back, where it could not be tied to the action that asked for it."""
    BOOKKEEPING = "bookkeeping"
    """To-do updates, restated plans, ledgers, think-aloud tools."""
    SYSTEM = "system"
    """Instructions, settings and notices that the agent did not make."""


class EventStatus(StrEnum):
    """How an action ended, as far as the trace says so."""

    OK = "ok"
    ERROR = "error"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing in the trace.

    `actor` is who did it ("user" for the human side); `name` is the tool or command of an action.
    `text` is what was said, thought or observed, or the command line or code of an action.
    `output` is the result that came back to an action, found at `output_pointer`.
    Events that were issued together, in one model turn, share a `turn`.
    """

    id: str
    kind: Kind
    pointer: str
    name: str | None = None
    actor: str | None = None
    text: str = ""
    arguments: Json = None
    output: str = ""
    output_pointer: str | None = None
    status: EventStatus = EventStatus.UNKNOWN
    time: str | None = None
    parent: str | None = None
    turn: int = 0
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class SkippedPart:
    """A part of the source that gave no event, and why."""

    pointer: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCounts:
    """How much of what an agent did a reader can have seen.

    `records` counts what looks like the agent's in the source (for text: lines), `read` what of it
    became events; `calls` and `calls_read` count the calls among them.
    """

    records: int
    read: int
    calls: int = 0
    calls_read: int = 0

    @property
    def is_understood(self) -> bool:
        """Whether at least half of the records, and half of the calls, were read."""
        return 2 * self.read >= self.records and 2 * self.calls_read >= self.calls


@dataclass(frozen=True)
class Trace:
    """The events in the order in which they began, and how they were read.

    `accounted` says how much of the source they are; None where nobody counted, and then the
    reader is trusted to have read it all.
    """

    events: tuple[Event, ...]
    reader: str = "native"
    skipped: tuple[SkippedPart, ...] = ()
    record_counts: RecordCounts | None = None

    @cached_property
    def by_id(self) -> dict[str, Event]:
        """The events by their ids."""
        return {event.id: event for event in self.events}
