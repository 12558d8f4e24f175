"""A store that is full or gone ends a run with a clear error, and nothing that was kept is lost."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from planproof.runs.run_records import RunState
from planproof.runs.store.open_store import open_store
from tests.postgresql import PostgreSQL
from tests.run_processes import start_run, wait_for_exit, write_data_set
from tests.timeouts import wait_until

CASES = 400


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    return write_data_set(tmp_path / "cases.jsonl", CASES)


def _read_output(folder: Path) -> str:
    words = folder / "told.txt"
    return words.read_text(encoding="utf-8") if words.exists() else ""


def _has_results(store: str) -> Callable[[], bool]:
    def some() -> bool:
        with closing(open_store(store)) as opened:
            runs = opened.list_runs(limit=1)
        return bool(runs and runs[0].cases)

    return some


def _check_resumes(folder: Path, store: str, cases: Path) -> None:
    with closing(open_store(store)) as opened:
        (run,) = opened.list_runs()
        before = list(opened.iter_results(run.id))
        assert 0 < len(before) < CASES
    assert wait_for_exit(start_run(folder, store, cases, "--resume")) == 3, _read_output(folder)
    with closing(open_store(store)) as opened:
        (run,) = opened.list_runs()
        assert run.state is RunState.FINISHED
        results = list(opened.iter_results(run.id))
    assert [result.position for result in results] == [*range(CASES)]
    assert results[: len(before)] == before


def test_a_file_that_can_grow_no_more(tmp_path: Path, cases: Path) -> None:
    store = str(tmp_path / "runs.db")
    failed = start_run(tmp_path, store, cases, "-o", "/dev/null", largest_file=900_000)
    assert wait_for_exit(failed) == 2
    assert f"planproof: error: {store}: the store failed: " in _read_output(tmp_path)
    assert "Results stored before are kept." in _read_output(tmp_path)
    assert "Traceback" not in _read_output(tmp_path)
    _check_resumes(tmp_path, store, cases)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=900k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can be made by root only")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_that_is_full(tmp_path: Path, small_disk: Path, cases: Path) -> None:
    store = str(small_disk / "runs.db")
    assert wait_for_exit(start_run(tmp_path, store, cases, "-o", "/dev/null")) == 2
    assert "database or disk is full" in _read_output(tmp_path)
    subprocess.run(["mount", "-o", "remount,size=50m", str(small_disk)], check=True)
    _check_resumes(tmp_path, store, cases)


def test_an_output_that_can_not_be_written(tmp_path: Path, cases: Path) -> None:
    store = str(tmp_path / "runs.db")
    assert wait_for_exit(start_run(tmp_path, store, cases, "-o", "/dev/full")) == 2
    assert "/dev/full: can't be written: No space left on device." in _read_output(tmp_path)
    _check_resumes(tmp_path, store, cases)


def test_a_file_that_is_taken_away(tmp_path: Path, cases: Path) -> None:
    store, away = tmp_path / "runs.db", tmp_path / "away.db"
    process = start_run(tmp_path, str(store), cases, "-o", "/dev/null")
    wait_until(store.exists)
    wait_until(_has_results(str(store)))
    store.rename(away)
    assert wait_for_exit(process) == 2
    assert "was removed or replaced while it was in use" in _read_output(tmp_path)
    away.rename(store)
    _check_resumes(tmp_path, str(store), cases)


def test_a_server_that_goes_away(
    tmp_path: Path, cases: Path, postgresql_server: PostgreSQL
) -> None:
    store = postgresql_server.new_database()
    process = start_run(tmp_path, store, cases, "-o", "/dev/null")
    wait_until(_has_results(store))
    postgresql_server.stop()
    try:
        assert wait_for_exit(process) == 2
        assert "the store failed: " in _read_output(tmp_path)
        assert "Traceback" not in _read_output(tmp_path)
        assert wait_for_exit(start_run(tmp_path, store, cases, "--resume")) == 2
    finally:
        postgresql_server.start()
    _check_resumes(tmp_path, store, cases)


def _children(process: BaseProcess) -> list[int]:
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(pid) for pid in listed.read_text(encoding="ascii").split()]


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_no_process_stays_behind(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    cases = write_data_set(tmp_path / "cases.jsonl", 20_000)
    store = str(tmp_path / "runs.db")
    process = start_run(
        tmp_path, store, cases, "--concurrency", "2", "-o", "/dev/null", patience=0.0
    )
    wait_until(lambda: len(_children(process)) >= 2)
    wait_until(_has_results(store))
    children = _children(process)
    assert process.pid is not None
    os.kill(process.pid, sent)
    assert wait_for_exit(process) == code, _read_output(tmp_path)
    wait_until(lambda: not any(map(_is_running, children)))
    assert "Traceback" not in _read_output(tmp_path)
    assert ("--resume" in _read_output(tmp_path)) == (sent is signal.SIGINT)
