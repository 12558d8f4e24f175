"""Time of an event in a monitor: late against early in a run, and against judging the whole run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from benchmarks.cases import generate_case
from benchmarks.measure import BenchmarkRow, format_seconds, measure_cpu_seconds
from planproof import Event, Monitor, evaluate
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace

_CASE = generate_case(steps=10, events=2_000)
_EARLY = slice(100, 300)
_LATE = slice(1_800, 2_000)


def measure_monitor() -> Iterator[BenchmarkRow]:
    """Yield rows for a long run: late events must not take longer than early ones."""
    trace = read_trace(Source.from_text(_CASE.trace))
    monitor = Monitor(_CASE.plan, _CASE.task)
    event_seconds = [_time_observe(monitor, event) for event in trace.events]
    early, late = _trimmed_mean(event_seconds[_EARLY]), _trimmed_mean(event_seconds[_LATE])
    yield BenchmarkRow(
        "monitor, event 2,000 / event 200",
        format_seconds(late),
        format_seconds(early),
        late / early,
        2,
    )
    times = measure_cpu_seconds(
        {"evaluate": lambda: evaluate(plan=_CASE.plan, trace=_CASE.trace)}, rounds=3
    )
    judge_seconds = times["evaluate"]
    yield BenchmarkRow(
        "monitor, event 2,000 / evaluate",
        format_seconds(late),
        format_seconds(judge_seconds),
        late / judge_seconds,
    )


def _time_observe(monitor: Monitor, event: Event) -> float:
    start = time.process_time()
    monitor.observe(event)
    return time.process_time() - start


def _trimmed_mean(seconds: Sequence[float]) -> float:
    """Return the mean without the slowest tenth, which is noise."""
    fastest = sorted(seconds)[: len(seconds) * 9 // 10]
    return sum(fastest) / len(fastest)
