"""Running many cases: cases a second, CPU over a bare loop, cores kept busy, memory.

    python -m benchmarks.running [CASES]

The cases are made by repeating and altering 200 generated ones of 10 steps and 50 events. Every row
is a `planproof run` of its own into a new store, from start to end; the bare loop reads the same
lines and judges them one after another, and keeps nothing. What keeping costs is in the ratio of
CPU; wall time tells something only on an idle machine. Ray has an environment of its own
(`make test-ray` makes it); its row holds what it takes to start a cluster and to end it.
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

from benchmarks.cases import generate

CASES = 20_000
FEW = 2_000
"""Cases that tell the rate of one process as well as many do."""
DIFFERENT = 200
RAY = Path(__file__).parents[1] / ".venvs" / "ray" / "bin" / "python"
BARE = """
import json, sys
from planproof.readers.decoding.case_files import parse_case
from planproof.evaluation import evaluate_case
for line in open(sys.argv[1], encoding="utf-8"):
    evaluate_case(parse_case(json.loads(line), name="case"))
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
    began = perf_counter()
    most: list[int] = [0]
    spent: dict[int, float] = {}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        watch = threading.Thread(target=_watch, args=(process, most, spent))
        watch.start()
        if process.wait() not in (0, 3):
            raise SystemExit(f"{' '.join(command)} failed")
        watch.join()
    return Ran(cases, perf_counter() - began, sum(spent.values()), most[0])


def _watch(process: subprocess.Popen[bytes], most: list[int], spent: dict[int, float]) -> None:
    # Not all of them are waited for by those that started them: they are asked while they live.
    while True:
        members = list(family(process.pid))
        most[0] = max(most[0], sum(map(own_memory, members)))
        for pid in members:
            spent[pid] = _cpu(pid) or spent.get(pid, 0.0)
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        return


def family(pid: int) -> Iterator[int]:
    """A process and all that it started."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found = children.read_text(encoding="ascii")
        except OSError:
            continue
        for child in found.split():
            yield from family(int(child))


def _cpu(pid: int) -> float:
    """Seconds that a process has spent; 0 when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def own_memory(pid: int) -> int:
    """The bytes that a process has for itself; 0 when it is gone."""
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
        options = ["--concurrency", str(processes), *_kept(folder, f"{cases.stem}-{processes}")]
        yield name, ran([*run, str(cases), *options], number)
    if RAY.exists():
        options = ["--engine", "ray", "--concurrency", "2", *_kept(folder, "ray")]
        yield "Ray, 2 workers", ran([str(RAY), *run[1:], str(many), *options], count)


def _kept(folder: Path, name: str) -> list[str]:
    return ["--store", str(folder / f"{name}.db"), "-o", "/dev/null"]


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
