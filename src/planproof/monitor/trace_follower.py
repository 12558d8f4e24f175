"""Follow a growing trace and report deviations from its given or declared plan."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from planproof.core.content import Json
from planproof.core.trace import Event, EventStatus, Kind, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.monitor.deviation import Certainty, Deviation, DeviationKey
from planproof.monitor.plan_monitor import Monitor
from planproof.planning.find_plan import find_declared_plan
from planproof.planning.plan_search import Declaration
from planproof.planning.plan_timeline import build_timeline
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.readers.recognition import Reader


class TraceFollower:
    """Takes the same trace repeatedly, each time with more events, and returns new deviations.

    With more events, a reader may interpret earlier ones differently, and another plan may come
    into force; then the run is checked again from the beginning, in a new `monitor`.
    """

    def __init__(
        self,
        plan: Json,
        *,
        reader: str | None,
        vocabulary: Vocabulary,
        profiles: Sequence[Reader] = (),
    ) -> None:
        self._plan = plan
        self._profiles = profiles
        self._reader = reader
        self._vocabulary = vocabulary
        self._observed: list[Event] = []
        self._pending: set[str] = set()
        self._reported: set[tuple[DeviationKey, Certainty]] = set()
        self.declaration: Declaration | None = None
        """The declaration of the plan in force, if it was found in the trace."""
        self.monitor = None if plan is None else self._create_monitor(plan)
        self.events = 0

    def follow_source(self, source: Source) -> list[Deviation]:
        """Check the current content of a source; without a plan there are no deviations."""
        return self.follow_trace(
            read_trace(
                source,
                reader=self._reader,
                vocabulary=self._vocabulary,
                profiles=self._profiles,
            )
        )

    def follow_trace(self, trace: Trace) -> list[Deviation]:
        """Check a trace that was already read; see `follow_source`."""
        self.events = len(trace.events)
        events = trace.events if self._plan is not None else self._select_events_since_plan(trace)
        if self.monitor is None:
            return []
        if not self._is_continuation(events):
            self.monitor = self._create_monitor(self.monitor.plan)
        deviations = self._observe(self.monitor, events)
        # After a restart most deviations are found a second time.
        new = [
            deviation
            for deviation in deviations
            if (deviation.key, deviation.certainty) not in self._reported
        ]
        self._reported.update((deviation.key, deviation.certainty) for deviation in new)
        return new

    def _select_events_since_plan(self, trace: Trace) -> tuple[Event, ...]:
        """Return the events after the plan declaration; a new plan gets a new monitor."""
        search = find_declared_plan(trace)
        declaration = search.declaration
        if declaration is None:
            self.declaration = self.monitor = None
            return ()
        if self.declaration is None or self.declaration.plan != declaration.plan:
            self.monitor = self._create_monitor(declaration.plan)
        self.declaration = declaration
        return build_timeline(trace, search, "first").trace.events

    def _create_monitor(self, plan: Json) -> Monitor:
        self._observed, self._pending = [], set()
        return Monitor(plan, vocabulary=self._vocabulary)

    def _is_continuation(self, events: Sequence[Event]) -> bool:
        """Return whether the earlier events are unchanged, except for results added since."""
        if len(events) < len(self._observed):
            return False
        pairs = zip(self._observed, events, strict=False)
        return all(
            old == new or (old.id in self._pending and _without_result(old) == _without_result(new))
            for old, new in pairs
        )

    def _observe(self, monitor: Monitor, events: Sequence[Event]) -> list[Deviation]:
        deviations: list[Deviation] = []
        for index, event in enumerate(events):
            new = index >= len(self._observed)
            if not new and event == self._observed[index] and event.id not in self._pending:
                continue
            pending = _is_awaiting_result(event, events[-1])
            if new or not pending:
                deviations += monitor.observe(event, pending=pending)
            (self._pending.add if pending else self._pending.discard)(event.id)
        self._observed = list(events)
        return deviations


def _is_awaiting_result(event: Event, last: Event) -> bool:
    """Return whether the result of a call may still come: no later turn has begun."""
    bare = not event.output and event.status is EventStatus.UNKNOWN
    current = event is last or 0 < event.turn == last.turn
    return event.kind is Kind.ACTION and bare and current


def _without_result(event: Event) -> Event:
    return structs.replace(
        event, output="", output_pointer=None, status=EventStatus.UNKNOWN, time=None, images=()
    )
