"""A trace that grows, held against its plan: the plan that was given, or the one it declares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planproof.core.content import Json
from planproof.core.trace import Event, EventStatus, Kind, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.monitor.deviation import Certainty, Deviation, Key
from planproof.monitor.plan_monitor import Monitor
from planproof.planning.locate_plan import locate
from planproof.planning.located_plan import Declaration
from planproof.planning.plan_timeline import succession_of
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace


class Follower:
    """Takes the same trace again and again, each time with more of it, and tells what is new.

    A reader may see what it has read in another light once there is more, and another plan may
    come into force; then the run is held against its plan from the beginning, in a new `monitor`.
    """

    def __init__(self, plan: Json, *, reader: str | None, vocabulary: Vocabulary) -> None:
        self._plan = plan
        self._reader = reader
        self._vocabulary = vocabulary
        self._observed: list[Event] = []
        self._pending: set[str] = set()
        self._told: set[tuple[Key, Certainty]] = set()
        self.declaration: Declaration | None = None
        """Where the plan stands that is in force, if it was found in the trace."""
        self.monitor = None if plan is None else self._new_monitor(plan)
        self.events = 0

    def take(self, source: Source) -> list[Deviation]:
        """Hold what a source has by now against the plan; nothing is found before there is one."""
        return self.follow(read_trace(source, reader=self._reader, vocabulary=self._vocabulary))

    def follow(self, trace: Trace) -> list[Deviation]:
        """The same for a trace that was read already."""
        self.events = len(trace.events)
        events = trace.events if self._plan is not None else self._since_planned(trace)
        if self.monitor is None:
            return []
        if not self._goes_on(events):
            self.monitor = self._new_monitor(self.monitor.plan)
        told = self._observe(self.monitor, events)
        # After a new beginning much is found a second time.
        new = [found for found in told if (found.key, found.certainty) not in self._told]
        self._told.update((found.key, found.certainty) for found in new)
        return new

    def _since_planned(self, trace: Trace) -> tuple[Event, ...]:
        """What came after the plan was declared; with another plan, there is another monitor."""
        located = locate(trace)
        found = located.declaration
        if found is None:
            self.declaration = self.monitor = None
            return ()
        if self.declaration is None or self.declaration.plan != found.plan:
            self.monitor = self._new_monitor(found.plan)
        self.declaration = found
        return succession_of(trace, located, "first").trace.events

    def _new_monitor(self, plan: Json) -> Monitor:
        self._observed, self._pending = [], set()
        return Monitor(plan, vocabulary=self._vocabulary)

    def _goes_on(self, events: Sequence[Event]) -> bool:
        """Whether the events so far are as they were, but for results that have come since."""
        if len(events) < len(self._observed):
            return False
        pairs = zip(self._observed, events, strict=False)
        return all(
            old == new or (old.id in self._pending and _as_issued(old) == _as_issued(new))
            for old, new in pairs
        )

    def _observe(self, monitor: Monitor, events: Sequence[Event]) -> list[Deviation]:
        told: list[Deviation] = []
        for place, event in enumerate(events):
            new = place >= len(self._observed)
            if not new and event == self._observed[place] and event.id not in self._pending:
                continue
            pending = _awaits_result(event, events[-1])
            if new or not pending:
                told += monitor.observe(event, pending=pending)
            (self._pending.add if pending else self._pending.discard)(event.id)
        self._observed = list(events)
        return told


def _awaits_result(event: Event, last: Event) -> bool:
    """Whether the result of a call may be yet to come: nobody went on to another turn."""
    bare = not event.output and event.status is EventStatus.UNKNOWN
    current = event is last or 0 < event.turn == last.turn
    return event.kind is Kind.ACTION and bare and current


def _as_issued(event: Event) -> Event:
    return replace(
        event, output="", output_pointer=None, status=EventStatus.UNKNOWN, time=None, images=()
    )
