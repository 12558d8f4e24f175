"""`make bench`: measure, print the table, and fail if a budget is exceeded."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from benchmarks import peers
from benchmarks.cases import GeneratedCase, generate_case
from benchmarks.floor import match_in_order
from benchmarks.measure import (
    BenchmarkRow,
    format_seconds,
    measure_child_cpu_seconds,
    measure_cpu_seconds,
    measure_peak_bytes,
    print_rows,
)
from benchmarks.monitor import measure_monitor
from benchmarks.prompts import measure_cascade_length, measure_prompt_length
from planproof import evaluate

SMALL = [generate_case(steps=10, events=50, seed=seed) for seed in range(12)]
ROUNDS = 40
LARGE = generate_case(steps=100, events=5_000)


def main() -> int:
    """Print every row; return 1 if a budget is exceeded, else 0."""
    rows = [
        *measure_small_cases(),
        *measure_large_case(),
        *measure_memory(),
        *measure_start_up(),
        *measure_prompt_length(),
        *measure_cascade_length(),
        *measure_monitor(),
    ]
    print_rows(rows)
    return 0 if all(row.is_within_budget for row in rows) else 1


def judge(case: GeneratedCase) -> None:
    verdict = evaluate(task=case.task, plan=case.plan, trace=case.trace)
    if verdict.score is None:
        raise RuntimeError(f"a generated case was not judged: {verdict.reason}")


def measure_small_cases() -> Iterator[BenchmarkRow]:
    """Yield rows for small cases: from raw JSON to a verdict, against the floor."""
    tools: dict[str, Callable[[GeneratedCase], object]] = {
        "floor": lambda case: match_in_order(case.trace, case.tools),
        "rules": judge,
        **peers.find_peers(),
    }
    # Plans are cached: these rows measure many traces of one plan, the last row new plans.
    unseen = (generate_case(steps=10, events=50, seed=seed) for seed in count(len(SMALL)))
    fresh = iter([[next(unseen) for _ in SMALL] for _ in range(ROUNDS)])
    work: dict[str, Callable[[], object]] = {
        name: lambda run=run: [run(case) for case in SMALL] for name, run in tools.items()
    }
    work["rules, new plans"] = lambda: [judge(case) for case in next(fresh)]
    times = measure_cpu_seconds(work, ROUNDS)
    floor = times.pop("floor") / len(SMALL)
    for name, seconds in times.items():
        seconds_per_case = seconds / len(SMALL)
        budget = 27 if name == "rules" else None
        yield BenchmarkRow(
            f"{name}, 10 steps x 50 events / floor",
            format_seconds(seconds_per_case),
            format_seconds(floor),
            seconds_per_case / floor,
            budget,
        )


def measure_large_case() -> Iterator[BenchmarkRow]:
    """Yield a row for a long trace, against only parsing its JSON."""
    times = measure_cpu_seconds(
        {"parse": lambda: json.loads(LARGE.trace), "rules": lambda: judge(LARGE)}, rounds=5
    )
    yield BenchmarkRow(
        "rules, 100 steps x 5,000 events / json.loads",
        format_seconds(times["rules"]),
        format_seconds(times["parse"]),
        times["rules"] / times["parse"],
        50,
    )


def measure_memory() -> Iterator[BenchmarkRow]:
    """Yield rows for peak memory: linear in the number of events, with 25 % tolerance."""
    cases = {events: generate_case(steps=100, events=events) for events in (1_250, 2_500, 5_000)}
    peaks = {
        events: measure_peak_bytes(lambda case=case: judge(case)) / 1e6
        for events, case in cases.items()
    }
    for events, budget in ((2_500, 2.5), (5_000, 5.0)):
        yield BenchmarkRow(
            f"memory, 100 steps, {events:,} / 1,250 events",
            f"{peaks[events]:.1f} MB",
            f"{peaks[1_250]:.1f} MB",
            peaks[events] / peaks[1_250],
            budget,
        )


def measure_start_up() -> Iterator[BenchmarkRow]:
    """Yield rows for start-up time, against importing only pydantic."""
    python, script = sys.executable, str(Path(sys.executable).with_name("planproof"))
    times = measure_child_cpu_seconds(
        {
            "pydantic": [python, "-c", "import pydantic"],
            "import planproof": [python, "-c", "import planproof"],
            "planproof --help": [script, "--help"],
        },
        rounds=7,
    )
    for name, budget in (("import planproof", 1.3), ("planproof --help", 3.0)):
        yield BenchmarkRow(
            f"{name} / import pydantic",
            format_seconds(times[name]),
            format_seconds(times["pydantic"]),
            times[name] / times["pydantic"],
            budget,
        )


if __name__ == "__main__":
    sys.exit(main())
