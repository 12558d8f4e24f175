"""`make bench-runs`: cases per second, CPU time against a bare loop, busy cores, memory.

    python -m benchmarks.runs [CASES]

The cases are 200 generated ones of 10 steps and 50 events, repeated with variations. Every row is a
`planproof run` into a new store, from start to exit; the bare loop reads the same lines, judges
them one after another, and stores nothing. The CPU ratio includes the cost of storing. Wall time is
only meaningful on an idle machine. Ray has a separate environment (`make test-ray` creates it); its
row includes starting and stopping a cluster.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.cases import generate_case

CASES = 20_000
FEW_CASES = 2_000
"""Enough cases to measure the rate of one process."""
DISTINCT_CASES = 200
RAY_PYTHON = Path(__file__).parents[1] / ".venvs" / "ray" / "bin" / "python"
BARE_LOOP_PROGRAM = """
import json, sys
from planproof.readers.decoding.case_files import parse_case
from planproof.evaluation import evaluate_case
for line in open(sys.argv[1], encoding="utf-8"):
    evaluate_case(parse_case(json.loads(line), name="case"))
"""


@dataclass(frozen=True, slots=True)
class RunMeasurement:
    """Time and peak memory of a command and all processes that it started."""

    cases: int
    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int


def write_cases(path: Path, count: int) -> None:
    """Write a data set of distinct cases."""
    generated = [generate_case(steps=10, events=50, seed=seed) for seed in range(DISTINCT_CASES)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            case = generated[number % DISTINCT_CASES]
            trace = json.loads(case.trace)
            # Every round omits another call, so that other steps are missing.
            if number >= DISTINCT_CASES:
                gap = 1 + 2 * (number // DISTINCT_CASES % ((len(trace) - 2) // 2))
                del trace[gap : gap + 2]
            fields = {
                "id": f"case-{number}",
                "user_task": f"{case.task} ({number})",
                "agent_plan": case.plan,
                "execution_trace": trace,
            }
            file.write(json.dumps(fields) + "\n")


def measure_command(command: Sequence[str], cases: int) -> RunMeasurement:
    """Run a command, and sample its memory."""
    began = perf_counter()
    most: list[int] = [0]
    cpu_by_pid: dict[int, float] = {}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        watch = threading.Thread(target=_watch_processes, args=(process, most, cpu_by_pid))
        watch.start()
        if process.wait() not in (0, 3):
            raise SystemExit(f"{' '.join(command)} failed")
        watch.join()
    return RunMeasurement(cases, perf_counter() - began, sum(cpu_by_pid.values()), most[0])


def _watch_processes(
    process: subprocess.Popen[bytes], peak: list[int], cpu_by_pid: dict[int, float]
) -> None:
    # Not every process is waited for by its parent, so CPU time is sampled while they run.
    while True:
        pids = list(find_process_tree(process.pid))
        peak[0] = max(peak[0], sum(map(read_private_memory, pids)))
        for pid in pids:
            cpu_by_pid[pid] = _read_cpu_seconds(pid) or cpu_by_pid.get(pid, 0.0)
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        return


def find_process_tree(pid: int) -> Iterator[int]:
    """Return a process and all its descendants."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            child_pids = children.read_text(encoding="ascii")
        except OSError:
            continue
        for child in child_pids.split():
            yield from find_process_tree(int(child))


def _read_cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def read_private_memory(pid: int) -> int:
    """Return the private memory of a process in bytes; 0 if it has ended."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    # Resident memory without shared pages.
    return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE")


def measure_runs(folder: Path, count: int) -> Iterator[tuple[str, RunMeasurement]]:
    """Yield the measurements."""
    few, many = folder / "few.jsonl", folder / "many.jsonl"
    write_cases(few, min(FEW_CASES, count))
    write_cases(many, count)
    run = [sys.executable, "-m", "planproof", "run"]
    yield (
        "bare loop",
        measure_command([sys.executable, "-c", BARE_LOOP_PROGRAM, str(few)], min(FEW_CASES, count)),
    )
    for name, cases, processes, number in (
        ("1 process", few, 1, min(FEW_CASES, count)),
        ("2 processes", few, 2, min(FEW_CASES, count)),
        ("2 processes", many, 2, count),
    ):
        options = [
            "--concurrency",
            str(processes),
            *_store_options(folder, f"{cases.stem}-{processes}"),
        ]
        yield name, measure_command([*run, str(cases), *options], number)
    if RAY_PYTHON.exists():
        options = ["--engine", "ray", "--concurrency", "2", *_store_options(folder, "ray")]
        yield (
            "Ray, 2 workers",
            measure_command([str(RAY_PYTHON), *run[1:], str(many), *options], count),
        )


def _store_options(folder: Path, name: str) -> list[str]:
    return ["--store", str(folder / f"{name}.db"), "-o", "/dev/null"]


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    print(f"{'':<14} {'cases':>7} {'per s':>9} {'CPU/case':>11} {'vs bare':>10}", end="")
    print(f" {'busy cores':>11} {'memory':>8}")
    with tempfile.TemporaryDirectory() as folder:
        bare: RunMeasurement | None = None
        for name, measurement in measure_runs(Path(folder), count):
            bare = bare or measurement
            cpu_per_case, floor = (
                measurement.cpu_seconds / measurement.cases,
                bare.cpu_seconds / bare.cases,
            )
            print(
                f"{name:<14} {measurement.cases:>7,} "
                f"{measurement.cases / measurement.wall_seconds:>9,.0f} "
                f"{cpu_per_case * 1e3:>8.2f} ms {cpu_per_case / floor:>10.2f} "
                f"{measurement.cpu_seconds / measurement.wall_seconds:>11.2f} "
                f"{measurement.peak_bytes / 1e6:>5,.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
