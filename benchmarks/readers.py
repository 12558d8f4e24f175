"""`make bench-readers`: every format at 1, 10 and 50 MB, against json.loads of the same bytes.

`python -m benchmarks.readers langchain codex` measures only these.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.large_traces import find_small_traces, grow_trace
from benchmarks.measure import BenchmarkRow, format_seconds, measure_cpu_seconds, print_rows
from planproof.core.limits import Limits
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace

MEGABYTE = 1_000_000
ROUNDS = {1: 5, 10: 2, 50: 1}
BUDGET = 5.0
# json.loads also gets slower on larger documents, so the ratios are compared.
SIZE_RATIO_BUDGET = 2.0
# Grown traces have more values than the default allows.
_LIMITS = Limits(values=100_000_000)


def main(names: list[str]) -> int:
    """Print every row; return 1 if a budget is exceeded, else 0."""
    files = find_small_traces()
    if unknown := set(names) - files.keys():
        sys.exit(f"No JSON trace of {', '.join(sorted(unknown))}. There are {', '.join(files)}.")
    rows = [row for name in names or files for row in measure_reader(name, files[name])]
    print_rows(rows)
    return 0 if all(row.is_within_budget for row in rows) else 1


def measure_reader(name: str, file: Path) -> Iterator[BenchmarkRow]:
    """Yield a row for each size, and one that compares the largest with the smallest."""
    ratios: dict[int, float] = {}
    for size, rounds in ROUNDS.items():
        data = grow_trace(file, size * MEGABYTE)
        times = measure_cpu_seconds(
            {
                "parse": lambda data=data: parse_json(data, is_lines=file.suffix == ".jsonl"),
                "read": lambda data=data: read_trace_bytes(data, name),
            },
            rounds,
        )
        ratios[size] = times["read"] / times["parse"]
        yield BenchmarkRow(
            f"{name}, {size} MB / json.loads",
            format_seconds(times["read"]),
            format_seconds(times["parse"]),
            ratios[size],
            BUDGET,
        )
    yield BenchmarkRow(f"{name}, 50 MB / 1 MB", "", "", ratios[50] / ratios[1], SIZE_RATIO_BUDGET)


def parse_json(data: bytes, *, is_lines: bool) -> list[object]:
    # Keep all values, as for one document: dropping them line by line saves a third at 50 MB.
    return [json.loads(line) for line in (data.splitlines() if is_lines else [data])]


def read_trace_bytes(data: bytes, name: str) -> None:
    trace = read_trace(Source.from_bytes(data, limits=_LIMITS))
    if not name.startswith(trace.reader) or not trace.events:
        raise RuntimeError(f"a grown trace of {name} was read by {trace.reader}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
