"""Commands in processes of their own, with what they used."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_MAIN = "import sys; from planproof.cli import main; sys.argv[0] = 'planproof'; main()"
_EXIT_CODES = {0, 1, 2, 3}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended; times and sizes include the processes that it waited for."""

    code: int
    err: str
    cpu_seconds: float
    memory: int


def run_command(words: list[str], folder: Path) -> Ended:
    """Run `planproof` in a folder; it must end with a documented exit code, and no traceback."""
    with (folder / "err.txt").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-c", _MAIN, *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=err,
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    told = (folder / "err.txt").read_text(encoding="utf-8", errors="replace")
    assert process.returncode in _EXIT_CODES, told
    assert "Usage:" not in told, told  # a test that calls a command wrongly tests nothing
    assert "Traceback" not in told
    assert "internal error" not in told
    cpu_seconds = used.ru_utime + used.ru_stime
    return Ended(process.returncode, told, cpu_seconds, 1024 * used.ru_maxrss)
