"""A run that is killed and started again asks only for what it lacks."""

from __future__ import annotations

import json
from contextlib import closing
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from planproof.runs.store.open_store import open_store
from tests.audit_models import answer_audit, honest
from tests.run_processes import start_run, wait_for_exit
from tests.scripted_model import ModelRequest, ScriptedModel
from tests.small_cases import FOLLOWED
from tests.timeouts import wait_until

CASES = 500
FEWER = 150
COMPARED = 250
"""Of the cases that a killed run had asked about, and of those that it had not."""
AT_ONCE = 8


def _answer(asked: ModelRequest) -> str:
    return answer_audit(asked, FOLLOWED, honest)


def _data_set(path: Path, cases: int) -> Path:
    lines = (
        json.dumps({**FOLLOWED, "id": str(n), "user_task": f"Tidy up folder {n}."})
        for n in range(cases)
    )
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _run(
    cases: Path, output: Path, server: ScriptedModel, cache: Path, store: str = "none"
) -> BaseProcess:
    asking = ("--judge", "audit", "--model", "openai:x", "--base-url", server.url)
    rest = ("--resume", "--concurrency", str(AT_ONCE))
    settings = {"OPENAI_API_KEY": "k", "PLANPROOF_CACHE": str(cache)}
    return start_run(cases.parent, store, cases, "-o", output, *asking, *rest, settings=settings)


def _verdicts(path: Path) -> list[dict[str, Any]]:
    # What a verdict cost is all that may differ: what is kept costs nothing.
    return [{**json.loads(line), "cost": None} for line in path.read_text("utf-8").splitlines()]


def test_a_killed_run_pays_nothing_twice(tmp_path: Path) -> None:
    cases = _data_set(tmp_path / "cases.jsonl", CASES)
    broken, whole = tmp_path / "broken.jsonl", tmp_path / "whole.jsonl"
    with ScriptedModel(_answer, latency=0.01) as server:
        killed = _run(cases, broken, server, tmp_path / "kept.sqlite3")
        wait_until(lambda: len(server.calls) >= CASES // 3)
        killed.kill()
        wait_for_exit(killed)
        asked = len(server.calls)
        assert CASES // 3 <= asked < CASES
        assert not broken.exists()

        assert wait_for_exit(_run(cases, broken, server, tmp_path / "kept.sqlite3")) == 0
        # Cases that were running when the run was killed had been asked about, but not stored.
        # One question is about the plan, which they share.
        assert CASES + 1 <= len(server.calls) <= CASES + 1 + AT_ONCE

        before = len(server.calls)
        some = _data_set(tmp_path / "some.jsonl", COMPARED)
        assert wait_for_exit(_run(some, whole, server, tmp_path / "other.sqlite3")) == 0
        assert len(server.calls) - before == COMPARED + 1
    verdicts = _verdicts(broken)
    assert [verdict["id"] for verdict in verdicts] == [str(n) for n in range(CASES)]
    assert verdicts[:COMPARED] == _verdicts(whole)


def test_a_killed_run_without_a_cache_asks_only_for_what_was_not_kept(tmp_path: Path) -> None:
    cases = _data_set(tmp_path / "cases.jsonl", FEWER)
    output, store = tmp_path / "out.jsonl", str(tmp_path / "runs.db")
    with ScriptedModel(_answer, latency=0.01) as server:
        killed = _run(cases, output, server, tmp_path / "one.sqlite3", store)
        # What was judged is kept after 64 cases at the latest.
        wait_until(lambda: len(server.calls) >= FEWER * 2 // 3)
        killed.kill()
        wait_for_exit(killed)
        with closing(open_store(store)) as kept:
            there = kept.find_run("latest").cases
        assert there
        before = len(server.calls)
        assert wait_for_exit(_run(cases, output, server, tmp_path / "two.sqlite3", store)) == 0
        assert len(server.calls) - before == FEWER - there + 1
    assert len(_verdicts(output)) == FEWER
