"""Follow traces while they run: step statuses, the best score still possible, deviations.

Traces are read from the database, and only while a client watches: this costs nothing otherwise,
and gives the same result whichever of several servers received the spans.
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
from planproof.monitor.trace_follower import TraceFollower
from planproof.readers.decoding.source import Source
from planproof.reports.wording import make_sanitizer
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.store.schema import spans, traces
from planproof.runs.store.sql_store import SqlStore
from planproof.server.ingestion.received_spans import build_document, find_service_name, read_row
from planproof.server.observability import log_error

MAX_TRACES = 50
TO_COME = "to_come"
_OPEN_STATUSES = (Status.MISSING, Status.AMBIGUOUS)
_POLL_SECONDS = 0.5
"""Seconds between reads of the database."""
_MAX_SPANS = 5_000
_MAX_BYTES = 2 * 1024 * 1024
"""Traces with more spans or bytes are not followed: a trace is read again with every new span."""


@dataclass(frozen=True, slots=True)
class LiveStep:
    """A plan step and its status so far.

    `status` is that of a finding, or `to_come` if the step can still be executed.
    """

    number: str
    text: str
    status: str


@dataclass(frozen=True, slots=True)
class LiveDeviation:
    """A deviation from the plan."""

    certainty: str
    severity: str
    event: str | None
    step: str | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTrace:
    """A trace as it is now.

    Times are seconds since 1970. `ceiling` is the best score that is still possible. Without a plan
    there are no steps and no ceiling. Once the trace is judged, it has an `outcome`, and a result
    in `run` at `position`.
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
class _FollowedTrace:
    """A followed trace, and its last view."""

    follower: TraceFollower
    last_version: tuple[int, str | None, bool] | None = None
    view: LiveTrace | None = None


@dataclass(slots=True)
class _Snapshot:
    """The views of all traces, and when they were read."""

    taken_at: float = -_POLL_SECONDS
    views: list[LiveTrace] = field(default_factory=list[LiveTrace])


class LiveTraces:
    """The traces that received spans most recently, including those already judged."""

    def __init__(self, store: SqlStore, evaluator: CaseEvaluator) -> None:
        self._store = store
        self._evaluator = evaluator
        self._followed: dict[str, _FollowedTrace] = {}
        self._snapshot = _Snapshot()
        self._snapshot_lock = asyncio.Lock()

    async def get_snapshot(self) -> list[LiveTrace]:
        """Return the traces as they are now, newest first."""
        async with self._snapshot_lock:
            if monotonic() - self._snapshot.taken_at >= _POLL_SECONDS:
                try:
                    self._snapshot.views = await asyncio.to_thread(self._read_traces)
                except StoreFailed as error:
                    log_error("reading live traces failed", error)
                self._snapshot.taken_at = monotonic()
            return self._snapshot.views

    async def watch_changes(self, closing: asyncio.Event) -> AsyncGenerator[list[LiveTrace], None]:
        """Yield the traces now and after every change, until the server shuts down."""
        shown: list[LiveTrace] | None = None
        while not closing.is_set():
            views = await self.get_snapshot()
            if views != shown:
                yield views
                shown = views
            with suppress(TimeoutError):
                async with asyncio.timeout(_POLL_SECONDS):
                    await closing.wait()

    def _read_traces(self) -> list[LiveTrace]:
        newest = select(traces).order_by(traces.c.last.desc(), traces.c.trace).limit(MAX_TRACES)
        with self._store.database.begin_read() as connection:
            rows = connection.execute(newest).all()
        self._followed = {
            row.trace: self._followed.get(row.trace) or self._make_followed() for row in rows
        }
        return [self._build_view(row) for row in rows]

    def _make_followed(self) -> _FollowedTrace:
        evaluator = self._evaluator
        return _FollowedTrace(
            TraceFollower(
                None,
                reader=evaluator.reader,
                vocabulary=evaluator.vocabulary,
                profiles=evaluator.profiles,
            )
        )

    def _build_view(self, row: Any) -> LiveTrace:
        followed = self._followed[row.trace]
        version = (row.revision, row.case, row.due is None)
        if followed.view is not None and followed.last_version == version:
            return followed.view
        base_view = LiveTrace(
            trace=row.trace,
            first=row.first,
            last=row.last,
            spans=row.spans,
            ended=row.root is not None,
        )
        if row.due is None:
            followed.follower = self._make_followed().follower  # free its memory
            followed.view = self._build_judged_view(row, base_view)
        else:
            followed.view = self._build_running_view(followed.follower, row, base_view)
        followed.last_version = version
        return followed.view

    def _build_running_view(
        self, follower: TraceFollower, row: Any, base_view: LiveTrace
    ) -> LiveTrace:
        if row.spans > _MAX_SPANS or row.size > _MAX_BYTES or row.case is not None:
            # The database holds only the late spans of a trace that was judged.
            return base_view
        query = select(spans).where(spans.c.trace == row.trace)
        with self._store.database.begin_read() as connection:
            rows = connection.execute(query).all()
        try:
            trace_spans = [span for span_row in rows for span in read_row(span_row)]
            base_view = replace(base_view, service=find_service_name(trace_spans))
            follower.follow_source(
                Source.from_text(build_document(trace_spans), limits=self._evaluator.limits)
            )
        except InvalidInput:
            return base_view  # its verdict will report it
        except Exception as error:
            # Its verdict will report a bug in a reader, too; other traces must stay visible.
            log_error("following a trace failed", error, trace=row.trace)
            return base_view
        monitor = follower.monitor
        if monitor is None:
            return replace(base_view, events=follower.events)
        deviations = monitor.deviations
        deviating_steps = {deviation.step for deviation in deviations}
        steps = tuple(
            replace(step, status=TO_COME)
            if step.status in _OPEN_STATUSES and step.number not in deviating_steps
            else step
            for step in _build_live_steps(monitor.steps)
        )
        return replace(
            base_view,
            events=follower.events,
            steps=steps,
            ceiling=monitor.ceiling,
            deviations=tuple(
                LiveDeviation(
                    deviation.certainty,
                    deviation.severity,
                    deviation.event,
                    deviation.step,
                    deviation.why,
                )
                for deviation in deviations
            ),
        )

    def _build_judged_view(self, row: Any, base_view: LiveTrace) -> LiveTrace:
        try:
            verdict = self._store.get_result(row.run, row.position).verdict
        except InvalidInput:
            return base_view  # it was deleted
        service = verdict.metadata.get("service")
        return replace(
            base_view,
            service=service if isinstance(service, str) else None,
            events=0 if verdict.coverage is None else verdict.coverage.events,
            steps=_build_live_steps(verdict.steps),
            ceiling=verdict.score,
            deviations=_build_live_deviations(verdict),
            outcome=verdict.outcome.value,
            score=verdict.score,
            run=row.run,
            position=row.position,
        )


def mask_secrets(view: LiveTrace) -> LiveTrace:
    """Return a copy for display, with text that looks like a secret masked."""
    show = make_sanitizer(secrets=False)
    return replace(
        view,
        service=view.service and show(view.service),
        steps=tuple(
            replace(step, number=show(step.number), text=show(step.text)) for step in view.steps
        ),
        deviations=tuple(
            replace(deviation, why=show(deviation.why)) for deviation in view.deviations
        ),
    )


def _build_live_steps(findings: Iterable[StepFinding]) -> tuple[LiveStep, ...]:
    return tuple(LiveStep(step.number, step.text, step.status.value) for step in findings)


def _build_live_deviations(verdict: Verdict) -> tuple[LiveDeviation, ...]:
    """Return the extras of a verdict as deviations; the steps show their own status."""
    return tuple(
        LiveDeviation("proven", extra.severity.value, extra.event, None, extra.what)
        for extra in verdict.extras
    )
