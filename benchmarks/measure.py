"""Measure CPU time and memory in a way that is robust on a busy machine."""

from __future__ import annotations

import gc
import resource
import subprocess
import time
import tracemalloc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """A row of the table: a measurement, its baseline and its budget."""

    what: str
    value: str
    against: str
    ratio: float
    budget: float | None = None

    @property
    def is_within_budget(self) -> bool:
        """Return whether the ratio is within its budget, if it has one."""
        return self.budget is None or self.ratio <= self.budget


def measure_cpu_seconds(work: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the best CPU time of each function; rounds alternate, so noise affects all alike."""
    best = dict.fromkeys(work, float("inf"))
    for _ in range(rounds):
        for name, run in work.items():
            gc.collect()
            start = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - start)
    return best


def measure_child_cpu_seconds(
    commands: Mapping[str, Sequence[str]], rounds: int
) -> dict[str, float]:
    """Return the best CPU time of each command, run as a separate process."""
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(rounds):
        for name, command in commands.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            best[name] = min(best[name], used)
    return best


def measure_peak_bytes(run: Callable[[], object]) -> int:
    """Return the peak memory of Python objects while `run` is running."""
    gc.collect()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def print_rows(rows: Iterable[BenchmarkRow]) -> None:
    """Print the table."""
    print(f"{'what':<44} {'measured':>9} {'against':>9} {'ratio':>7} {'budget':>7}")
    for row in rows:
        budget = "" if row.budget is None else f"{row.budget:7.1f}"
        mark = "" if row.budget is None else ("  pass" if row.is_within_budget else "  FAIL")
        print(f"{row.what:<44} {row.value:>9} {row.against:>9} {row.ratio:7.2f} {budget:>7}{mark}")


def format_seconds(seconds: float) -> str:
    """Return seconds as text, with a fitting unit."""
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"
