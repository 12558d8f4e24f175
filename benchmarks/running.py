"""Running many cases: cases a second, CPU over a bare loop, cores kept busy, memory.

    python -m benchmarks.running [CASES]

The cases are made by repeating and altering 200 generated ones of 10 steps and 50 events. Every row
is a `planproof run` of its own into a new store, from start to end; the bare loop reads the same
lines and judges them one after another, and keeps nothing. What keeping costs is in the ratio of
CPU; wall time tells something only on an idle machine.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.cases import generate

CASES = 20_000
FEW = 2_000
"""Cases that tell the rate of one process as well as many do."""
DIFFERENT = 200
BARE = """
import json, sys
from planproof.case_file import case_of
from planproof.evaluation import evaluate_case
for line in open(sys.argv[1], encoding="utf-8"):
    evaluate_case(case_of(json.loads(line), name="case"))
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command took, with all processes that it started; memory in bytes at the most."""

    cases: int
    wall: float
    cpu: float
    memory: int


def write_cases(path: Path, count: int) -> None:
    """A data set in which no case is like another."""
    made = [generate(steps=10, events=50, seed=seed) for seed in range(DIFFERENT)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            case = made[number % DIFFERENT]
            trace = json.loads(case.trace)
            # Every round leaves out another call, so that plans are broken in other places.
            if number >= DIFFERENT:
                gap = 1 + 2 * (number // DIFFERENT % ((len(trace) - 2) // 2))
                del trace[gap : gap + 2]
            fields = {
                "id": f"case-{number}",
                "user_task": f"{case.task} ({number})",
                "agent_plan": case.plan,
                "execution_trace": trace,
            }
            file.write(json.dumps(fields) + "\n")


def ran(command: Sequence[str], cases: int) -> Ran:
    """Run a command, and look at its memory while it does."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = perf_counter()
    most: list[int] = [0]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        watch = threading.Thread(target=_watch, args=(process, most))
        watch.start()
        if process.wait() not in (0, 3):
            raise SystemExit(f"{' '.join(command)} failed")
        watch.join()
    wall = perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(cases, wall, cpu, most[0])


def _watch(process: subprocess.Popen[bytes], most: list[int]) -> None:
    while True:
        most[0] = max(most[0], sum(map(_own_memory, _family(process.pid))))
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
        return


def _family(pid: int) -> Iterator[int]:
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:
        return
    for child in children.split():
        yield from _family(int(child))


def _own_memory(pid: int) -> int:
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    # Resident, without what is shared with other processes.
    return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE")


def rows(folder: Path, count: int) -> Iterator[tuple[str, Ran]]:
    """What is measured, one after another."""
    few, many = folder / "few.jsonl", folder / "many.jsonl"
    write_cases(few, min(FEW, count))
    write_cases(many, count)
    run = [sys.executable, "-m", "planproof", "run"]
    yield "bare loop", ran([sys.executable, "-c", BARE, str(few)], min(FEW, count))
    for name, cases, processes, number in (
        ("1 process", few, 1, min(FEW, count)),
        ("2 processes", few, 2, min(FEW, count)),
        ("2 processes", many, 2, count),
    ):
        store = folder / f"{cases.stem}-{processes}.db"
        options = ["--concurrency", str(processes), "--store", str(store), "-o", "/dev/null"]
        yield name, ran([*run, str(cases), *options], number)


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    print(f"{'':<14} {'cases':>7} {'a second':>9} {'CPU a case':>11} {'over bare':>10}", end="")
    print(f" {'cores busy':>11} {'memory':>8}")
    with tempfile.TemporaryDirectory() as folder:
        bare: Ran | None = None
        for name, took in rows(Path(folder), count):
            bare = bare or took
            each, floor = took.cpu / took.cases, bare.cpu / bare.cases
            print(
                f"{name:<14} {took.cases:>7,} {took.cases / took.wall:>9,.0f} "
                f"{each * 1e3:>8.2f} ms {each / floor:>10.2f} {took.cpu / took.wall:>11.2f} "
                f"{took.memory / 1e6:>5,.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
