"""`make reading`: every format at 1, 10 and 50 MB, against json.loads of the same bytes.

`python -m benchmarks.reading langchain codex` measures only these.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.growing import grown, small_traces
from benchmarks.measure import Row, cpu_seconds, per_call, show
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace

MEGABYTE = 1_000_000
ROUNDS = {1: 5, 10: 2, 50: 1}
BUDGET = 5.0
# What json.loads itself loses on larger documents is in both.
STEADY = 2.0


def main(wanted: list[str]) -> int:
    """Print every row; 1 when a budget is missed, else 0."""
    files = small_traces()
    if unknown := set(wanted) - files.keys():
        sys.exit(f"No JSON trace of {', '.join(sorted(unknown))}. There are {', '.join(files)}.")
    rows = [row for name in wanted or files for row in reading(name, files[name])]
    show(rows)
    return 0 if all(row.holds for row in rows) else 1


def reading(name: str, file: Path) -> Iterator[Row]:
    """A row a size, and one that says whether reading stays as fast as it was."""
    ratios: dict[int, float] = {}
    for size, rounds in ROUNDS.items():
        data = grown(file, size * MEGABYTE)
        times = cpu_seconds(
            {
                "parse": lambda data=data: parse(data, is_lines=file.suffix == ".jsonl"),
                "read": lambda data=data: read(data, name),
            },
            rounds,
        )
        ratios[size] = times["read"] / times["parse"]
        yield Row(
            f"{name}, {size} MB / json.loads",
            per_call(times["read"]),
            per_call(times["parse"]),
            ratios[size],
            BUDGET,
        )
    yield Row(f"{name}, 50 MB / 1 MB", "", "", ratios[50] / ratios[1], STEADY)


def parse(data: bytes, *, is_lines: bool) -> list[object]:
    # Kept, as all of a document is: values dropped line by line cost a third of it at 50 MB.
    return [json.loads(line) for line in (data.splitlines() if is_lines else [data])]


def read(data: bytes, name: str) -> None:
    trace = read_trace(Source.of_bytes(data))
    if not name.startswith(trace.reader) or not trace.events:
        raise RuntimeError(f"a grown trace of {name} was read by {trace.reader}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
