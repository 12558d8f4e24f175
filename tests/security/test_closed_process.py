"""Judging opens no connection, starts no process and writes no file; and hash order is no input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.cases import generate_case

JUDGE = "import sys; from planproof.cli import main; sys.argv[0] = 'planproof'; main()"
# Python tells an audit hook what it is about to do; this one stops the process instead.
GUARD = """
import os, sys
def stop(event, arguments):
    if event.split(".")[0] in ("socket", "subprocess", "pickle", "ctypes") or event in (
        "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"
    ):
        os.write(2, f"forbidden: {event}".encode())
        os._exit(86)
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        os.write(2, f"forbidden: writing {arguments[0]}".encode())
        os._exit(86)
sys.addaudithook(stop)
"""


@pytest.fixture(scope="module")
def case_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("cases")
    files: list[Path] = []
    for seed in range(3):
        case = generate_case(steps=8, events=60, seed=seed)
        path = folder / f"case-{seed}.json"
        content = {
            "id": f"generated-{seed}",
            "user_task": case.task,
            "agent_plan": case.plan,
            "execution_trace": json.loads(case.trace),
        }
        path.write_text(json.dumps(content), encoding="utf-8")
        files.append(path)
    return files


def _judge(case: Path, *, hash_seed: str = "0", before: str = "") -> bytes:
    done = subprocess.run(
        [sys.executable, "-B", "-c", before + JUDGE, "judge", str(case), "--format", "full"],
        capture_output=True,
        check=False,
        cwd=case.parent,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_judging_reaches_nowhere(case_files: list[Path]) -> None:
    verdict = json.loads(_judge(case_files[0], before=GUARD))
    assert verdict["outcome"] == "scored"


@pytest.mark.parametrize(
    "attempt",
    [
        "import socket; socket.socket()",
        "import subprocess; subprocess.run(['true'])",
        "import pickle; pickle.loads(b'cos\\nsystem\\n.')",
        "open('/tmp/planproof-guard', 'w')",
    ],
)
def test_the_guard_stops_what_it_should(attempt: str) -> None:
    done = subprocess.run([sys.executable, "-c", GUARD + attempt], capture_output=True, check=False)
    assert done.returncode == 86
    assert b"forbidden" in done.stderr


def test_same_bytes_in_same_bytes_out_whatever_the_hash_seed(case_files: list[Path]) -> None:
    for case in case_files:
        first, *others = [_judge(case, hash_seed=seed) for seed in ("0", "1", "4242")]
        assert all(other == first for other in others)
