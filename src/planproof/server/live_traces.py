"""Traces under way: the plan ticking off, the best score still possible, deviations as they come.

They are read from the database, and only while somebody looks: it costs nothing otherwise, and it
is the same whichever of several servers took the spans in.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from sqlalchemy import select

from planproof.core.finding import Status, StepFinding
from planproof.core.verdict import Verdict
from planproof.errors import InvalidInput, StoreFailed
from planproof.monitor.trace_follower import Follower
from planproof.readers.decoding.source import Source
from planproof.reports.wording import shows
from planproof.runs.engines.case_judging import Judging
from planproof.runs.store.schema import spans, traces
from planproof.runs.store.sql_store import SqlStore
from planproof.server.ingestion.received_spans import document_of, service_of, spans_in_row
from planproof.server.json_logs import tell_fault

SHOWN = 50
TO_COME = "to_come"
_OPEN = (Status.MISSING, Status.AMBIGUOUS)
_GLANCE = 0.5
"""Seconds between looks."""
_LONGEST = 5_000
_LARGEST = 2 * 1024 * 1024
"""Spans and bytes of a trace beyond which it is not followed: it is read anew with each more."""


@dataclass(frozen=True, slots=True)
class LiveStep:
    """A step of the plan and what has become of it so far.

    `status` is that of a finding, or `to_come`: nothing has come after it yet.
    """

    number: str
    text: str
    status: str


@dataclass(frozen=True, slots=True)
class LiveDeviation:
    """Something off the plan."""

    certainty: str
    severity: str
    event: str | None
    step: str | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTrace:
    """A trace as it stands: times are seconds since 1970, `ceiling` the best that it can still get.

    Without a plan there are no steps, and no ceiling. Once it is judged, there is an `outcome`,
    and a result in `run` at `position`.
    """

    trace: str
    first: float
    last: float
    spans: int
    service: str | None = None
    events: int = 0
    ended: bool = False
    steps: tuple[LiveStep, ...] = ()
    ceiling: float | None = None
    deviations: tuple[LiveDeviation, ...] = ()
    outcome: str | None = None
    score: float | None = None
    run: str | None = None
    position: int | None = None


@dataclass(slots=True)
class _Followed:
    """A trace that is looked at, and how it was seen last."""

    follower: Follower
    seen: tuple[int, str | None, bool] | None = None
    view: LiveTrace | None = None


@dataclass(slots=True)
class _Look:
    """What was seen, and when."""

    at: float = -_GLANCE
    views: list[LiveTrace] = field(default_factory=list[LiveTrace])


class LiveTraces:
    """The traces to which something came last, those that are judged already among them."""

    def __init__(self, store: SqlStore, judging: Judging) -> None:
        self._store = store
        self._judging = judging
        self._followed: dict[str, _Followed] = {}
        self._look = _Look()
        self._one_looks = asyncio.Lock()

    async def snapshot(self) -> list[LiveTrace]:
        """The traces as they stand, the newest first."""
        async with self._one_looks:
            if monotonic() - self._look.at >= _GLANCE:
                try:
                    self._look.views = await asyncio.to_thread(self._looked)
                except StoreFailed as error:
                    tell_fault("looking at traces failed", error)
                self._look.at = monotonic()
            return self._look.views

    async def changes(self, closing: asyncio.Event) -> AsyncGenerator[list[LiveTrace], None]:
        """The same, now and whenever it has changed, until the server is about to end."""
        shown: list[LiveTrace] | None = None
        while not closing.is_set():
            views = await self.snapshot()
            if views != shown:
                yield views
                shown = views
            with suppress(TimeoutError):
                async with asyncio.timeout(_GLANCE):
                    await closing.wait()

    def _looked(self) -> list[LiveTrace]:
        newest = select(traces).order_by(traces.c.last.desc(), traces.c.trace).limit(SHOWN)
        with self._store.database.reading() as connection:
            found = connection.execute(newest).all()
        self._followed = {row.trace: self._followed.get(row.trace) or self._new() for row in found}
        return [self._view(row) for row in found]

    def _new(self) -> _Followed:
        judging = self._judging
        return _Followed(Follower(None, reader=judging.reader, vocabulary=judging.vocabulary))

    def _view(self, row: Any) -> LiveTrace:
        followed = self._followed[row.trace]
        seen = (row.revision, row.case, row.due is None)
        if followed.view is not None and followed.seen == seen:
            return followed.view
        bare = LiveTrace(
            trace=row.trace,
            first=row.first,
            last=row.last,
            spans=row.spans,
            ended=row.root is not None,
        )
        if row.due is None:
            followed.follower = self._new().follower  # what it holds is needed no more
            followed.view = self._judged(row, bare)
        else:
            followed.view = self._under_way(followed.follower, row, bare)
        followed.seen = seen
        return followed.view

    def _under_way(self, follower: Follower, row: Any, bare: LiveTrace) -> LiveTrace:
        if row.spans > _LONGEST or row.size > _LARGEST or row.case is not None:
            # Of one that was judged, only what came late is here.
            return bare
        own = select(spans).where(spans.c.trace == row.trace)
        with self._store.database.reading() as connection:
            rows = connection.execute(own).all()
        try:
            here = [span for found in rows for span in spans_in_row(found)]
            bare = replace(bare, service=service_of(here))
            follower.take(Source.of_text(document_of(here), limits=self._judging.limits))
        except InvalidInput:
            return bare  # its verdict will say so
        except Exception as error:
            # A fault in a reader is for its verdict to say, too, and takes no other from sight.
            tell_fault("following a trace failed", error, trace=row.trace)
            return bare
        monitor = follower.monitor
        if monitor is None:
            return replace(bare, events=follower.events)
        deviations = monitor.deviations
        lapsed = {each.step for each in deviations}
        steps = tuple(
            replace(step, status=TO_COME)
            if step.status in _OPEN and step.number not in lapsed
            else step
            for step in _steps(monitor.steps)
        )
        return replace(
            bare,
            events=follower.events,
            steps=steps,
            ceiling=monitor.ceiling,
            deviations=tuple(
                LiveDeviation(each.certainty, each.severity, each.event, each.step, each.why)
                for each in deviations
            ),
        )

    def _judged(self, row: Any, bare: LiveTrace) -> LiveTrace:
        try:
            verdict = self._store.result(row.run, row.position).verdict
        except InvalidInput:
            return bare  # somebody has removed it
        service = verdict.metadata.get("service")
        return replace(
            bare,
            service=service if isinstance(service, str) else None,
            events=0 if verdict.coverage is None else verdict.coverage.events,
            steps=_steps(verdict.steps),
            ceiling=verdict.score,
            deviations=_deviations(verdict),
            outcome=verdict.outcome.value,
            score=verdict.score,
            run=row.run,
            position=row.position,
        )


def masked(view: LiveTrace) -> LiveTrace:
    """The same as people are shown it: on a page, what looks like a secret is masked."""
    show = shows(secrets=False)
    return replace(
        view,
        service=view.service and show(view.service),
        steps=tuple(
            replace(step, number=show(step.number), text=show(step.text)) for step in view.steps
        ),
        deviations=tuple(replace(each, why=show(each.why)) for each in view.deviations),
    )


def _steps(findings: Iterable[StepFinding]) -> tuple[LiveStep, ...]:
    return tuple(LiveStep(step.number, step.text, step.status.value) for step in findings)


def _deviations(verdict: Verdict) -> tuple[LiveDeviation, ...]:
    """The extras of a verdict; what became of the steps stands with them."""
    return tuple(
        LiveDeviation("proven", extra.severity.value, extra.event, None, extra.what)
        for extra in verdict.extras
    )
