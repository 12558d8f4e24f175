"""A run that is killed goes on: every case once, and as if nothing had happened."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import sleep

from planproof.runs.run_records import Result, RunState
from planproof.runs.store.open_store import open_store
from planproof.runs.store.store_protocol import Store
from tests.run_processes import start_run, wait_for_exit, write_data_set
from tests.timeouts import wait_until

CASES = 500
KILLS = 20


def _count_stored_cases(store: Store) -> int:
    runs = store.list_runs(limit=1)
    return runs[0].cases if runs else 0


def _results(store: Store) -> list[Result]:
    return [
        replace(result, seconds=0.0) for result in store.iter_results(store.find_run("latest").id)
    ]


def test_a_run_that_is_killed_twenty_times_ends_as_if_it_had_not_been(
    store_url: str, tmp_path: Path
) -> None:
    cases = write_data_set(tmp_path / "cases.jsonl", CASES)
    chance = random.Random(7)
    with closing(open_store(store_url)) as store:
        for kill in range(KILLS):
            process = start_run(tmp_path, store_url, cases, "-o", "out.jsonl", "--resume")
            # Some die young; the others get a little further than those before them.
            wanted = 0 if kill % 5 == 0 else CASES * kill // (KILLS + KILLS // 2)
            wait_until(
                lambda wanted=wanted, process=process: (
                    _count_stored_cases(store) >= wanted or not process.is_alive()
                )
            )
            sleep(chance.uniform(0.0, 0.03))
            process.kill()
            code = wait_for_exit(process)
            if code == 3 and kill > KILLS // 2:
                (tmp_path / "out.jsonl").unlink()
                break  # on a busy machine, the last ones may finish before they are killed
            assert code == -9, (tmp_path / "told.txt").read_text()
            assert not (tmp_path / "out.jsonl").exists()
        assert (
            wait_for_exit(start_run(tmp_path, store_url, cases, "-o", "out.jsonl", "--resume")) == 3
        )
        broken = _results(store)
        assert [run.state for run in store.list_runs()] == [RunState.FINISHED]
    assert [result.position for result in broken] == [*range(CASES)]

    assert (
        wait_for_exit(start_run(tmp_path, str(tmp_path / "other.db"), cases, "-o", "whole.jsonl"))
        == 3
    )
    with closing(open_store(str(tmp_path / "other.db"))) as other:
        assert _results(other) == broken
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not list(tmp_path.glob("*.partial"))


def test_two_runs_at_once_into_one_store_lose_nothing(store_url: str, tmp_path: Path) -> None:
    names = ("one", "two")
    sources = [write_data_set(tmp_path / f"{name}.jsonl", 150, task=name) for name in names]
    # The store is made by both of them, too.
    processes = [
        start_run(tmp_path, store_url, source, "--tag", f"n={source.stem}") for source in sources
    ]
    assert [wait_for_exit(process) for process in processes] == [3, 3], (
        tmp_path / "told.txt"
    ).read_text()
    with closing(open_store(store_url)) as store:
        for name in names:
            (run,) = store.list_runs(tags={"n": name})
            assert (run.state, run.cases) == (RunState.FINISHED, 150)
            results = list(store.iter_results(run.id))
            assert [result.position for result in results] == [*range(150)]
            scored = next(result for result in results if result.case)
            assert f"{name} " in store.get_case(scored.case).text


def test_two_processes_that_go_on_with_one_run_get_it_whole(store_url: str, tmp_path: Path) -> None:
    cases = write_data_set(tmp_path / "cases.jsonl", 200)
    first = start_run(tmp_path, store_url, cases)
    with closing(open_store(store_url)) as store:
        wait_until(lambda: _count_stored_cases(store) > 0)
        first.kill()
        wait_for_exit(first)
        both = [start_run(tmp_path, store_url, cases, "--resume") for _ in range(2)]
        assert [wait_for_exit(process) for process in both] == [3, 3]
        (run,) = store.list_runs()
        assert [result.position for result in store.iter_results(run.id)] == [*range(200)]
