"""The execution trace: the events of an agent's run, each with a pointer into the source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Literal

from msgspec import Struct

from planproof.core.content import Image, Json


class Kind(StrEnum):
    """The kind of an event. Only an action can be evidence of an action."""

    ACTION = "action"
    """A tool call, a command, executed code, or a hand-off to another agent."""
    MESSAGE = "message"
    """Text addressed to somebody."""
    REASONING = "reasoning"
    """Text that the agent addresses to nobody."""
    OBSERVATION = "observation"
    """A result that could not be matched to the action that requested it."""
    BOOKKEEPING = "bookkeeping"
    """To-do updates, restated plans, ledgers, think-aloud tools."""
    SYSTEM = "system"
    """Instructions, settings and notices that the agent did not write."""


class EventStatus(StrEnum):
    """The result status of an action, as far as the trace states it."""

    OK = "ok"
    ERROR = "error"
    UNKNOWN = "unknown"


# A struct: reading a trace creates many, ten times as fast as frozen dataclasses.
class Event(Struct, frozen=True, kw_only=True, gc=False):
    """One record of the trace.

    `pointer` is the position in the source. `actor` is who did it ("user" for the human side), and
    `name` is the tool or command of an action. `text` is the message, reasoning or observation, or
    the command line or code of an action. `output` is the result of an action, found at
    `output_pointer`. `parent` is the id of the hand-off to the sub-agent that did this. Events
    issued together in one model turn share a `turn`. `recognition` says how a call was recognised
    in a text ("react", "tag", "json", "fence" ...); it is empty for a recorded call, and
    `UNVERIFIED` if nothing but that text itself answers any call of this kind. Of reasoning, it is
    `COMMENTARY` if the agent said it next to recorded calls.
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
    recognition: str = ""


DERIVED = "@"
"""Begins keys of arguments that a reader found elsewhere, so they can't be quoted from the call."""

COMMENTARY = "commentary"
"""The `recognition` of reasoning that is text of the conversation, next to recorded calls."""

UNVERIFIED = "unverified"
"""The `recognition` of calls in a flat text, of which no other record or role answers one."""


class SkippedPart(Struct, frozen=True):
    """A part of the source that did not become an event, and why.

    `repeats`: its text is also in parts that were read.
    """

    pointer: str
    why: str
    repeats: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordKind:
    """What a model said that a record of a trace is, for the reader `records`.

    `events` is an id or a range of ids (`e4`, `e7-e12`). `name` is the tool or command of an
    action, and `of` the action that a result belongs to. A `continuation` belongs to the record
    before it.
    """

    events: str
    kind: Literal["action", "result", "message", "reasoning", "user", "continuation", "other"]
    name: str | None = None
    of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCounts:
    """The number of agent records in the source, and how many of them a reader read.

    `records` counts what looks like the agent's in the source (for text: lines), `read` those that
    became events; `calls` and `calls_read` count the calls among them.
    """

    records: int
    read: int
    calls: int = 0
    calls_read: int = 0

    @property
    def is_understood(self) -> bool:
        """True if at least half of the records, and half of the calls, were read."""
        return 2 * self.read >= self.records and 2 * self.calls_read >= self.calls


@dataclass(frozen=True)
class Trace:
    """The events in the order in which they began, and how they were read.

    `record_counts` says how much of the source was read. If None, nothing was counted and the
    reader is trusted to have read everything.
    """

    events: tuple[Event, ...]
    reader: str = "native"
    skipped: tuple[SkippedPart, ...] = ()
    record_counts: RecordCounts | None = None

    @cached_property
    def by_id(self) -> dict[str, Event]:
        """The events by id."""
        return {event.id: event for event in self.events}
