"""The queries that the docs show run on what planproof writes, and answer the question."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from scripts.doc_blocks import find_blocks_for
from tests.command_line import CommandLine
from tests.small_cases import FOLLOWED, IDLE, PLAN, PLANLESS

duckdb: Any = import_module("duckdb")


def _run(planproof: CommandLine, folder: Path, name: str, *cases: dict[str, Any]) -> None:
    (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    planproof("run", f"{name}.jsonl", "-o", f"{name}.parquet", "--tag", f"name={name}")


def test_queries_answer_what_is_asked(planproof: CommandLine, folder: Path) -> None:
    search, ads = {"metadata": {"team": "search"}}, {"metadata": {"team": "ads"}}
    first, second = {**FOLLOWED, **search, "id": "1"}, {**FOLLOWED, **ads, "id": "2"}
    _run(planproof, folder, "base", first, second)
    _run(planproof, folder, "new", {**IDLE, **search, "id": "1"}, second, {**PLANLESS, **ads})
    left_out, teams, worse = (
        duckdb.sql(query.text).fetchall() for query in find_blocks_for(__file__)
    )
    assert left_out == [(step, 1) for step in sorted(PLAN)]
    assert teams == [("ads", 1.0, 1), ("search", 0.0, 0)]
    [(id_, before, now, change)] = worse
    assert (id_, before, now) == ("1", 1.0, 0.0)
    assert change


@pytest.mark.parametrize("name", ["new.parquet", "new.csv", "new.jsonl"])
def test_a_run_is_exported_as_it_was_written(
    planproof: CommandLine, folder: Path, name: str
) -> None:
    (folder / "cases.jsonl").write_text(json.dumps(FOLLOWED), encoding="utf-8")
    assert planproof("run", "cases.jsonl", "-o", name).code == 0
    again = folder / "again"
    form = Path(name).suffix[1:]
    assert planproof("export", "latest", "-o", again, "--format", form).code == 0
    assert again.read_bytes() == (folder / name).read_bytes()
    again.unlink()
    assert planproof("export", "latest", "-o", again.with_suffix(f".{form}")).code == 0
    assert again.with_suffix(f".{form}").read_bytes() == (folder / name).read_bytes()


def test_lines_go_to_standard_output(planproof: CommandLine, folder: Path) -> None:
    (folder / "cases.jsonl").write_text(json.dumps(FOLLOWED), encoding="utf-8")
    planproof("run", "cases.jsonl", "-o", "out.jsonl")
    done = planproof("export", "latest")
    assert (done.code, done.out) == (0, (folder / "out.jsonl").read_text(encoding="utf-8"))


def test_a_missing_run_is_an_error_that_says_what_to_do_next(
    planproof: CommandLine, folder: Path
) -> None:
    done = planproof("export", "latest")
    assert done.code == 2
    assert "store not found" in done.err
    assert not (folder / ".planproof").exists()
