"""What an event costs a monitor, early and late in a run; and against judging the run anew."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from benchmarks.cases import generate
from benchmarks.measure import Row, cpu_seconds, per_call
from planproof import Event, Monitor, evaluate
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace

_CASE = generate(steps=10, events=2_000)
_EARLY = slice(100, 300)
_LATE = slice(1_800, 2_000)


def monitoring() -> Iterator[Row]:
    """A long run, watched: its last events may cost no more than its first, but for noise."""
    trace = read_trace(Source.of_text(_CASE.trace))
    monitor = Monitor(_CASE.plan, _CASE.task)
    took = [_seconds(monitor, event) for event in trace.events]
    early, late = _typical(took[_EARLY]), _typical(took[_LATE])
    yield Row("monitor, event 2,000 / event 200", per_call(late), per_call(early), late / early, 2)
    whole = cpu_seconds({"anew": lambda: evaluate(plan=_CASE.plan, trace=_CASE.trace)}, rounds=3)
    anew = whole["anew"]
    yield Row("monitor, event 2,000 / judging anew", per_call(late), per_call(anew), late / anew)


def _seconds(monitor: Monitor, event: Event) -> float:
    start = time.process_time()
    monitor.observe(event)
    return time.process_time() - start


def _typical(took: Sequence[float]) -> float:
    """The mean of all but the slowest tenth: those were disturbed."""
    kept = sorted(took)[: len(took) * 9 // 10]
    return sum(kept) / len(kept)
