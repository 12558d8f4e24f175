"""`planproof runs`, `show`, `compare` and `gate` over a store."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from planproof.runs.run_records import Result, Run, RunState
from planproof.runs.store.open_store import open_store
from scripts.doc_blocks import find_blocks_for
from tests.command_line import CommandLine
from tests.run_builders import RUN, make_results, make_scored_results, verdict_with
from tests.unit.finding_builders import findings

FIRST, SECOND = RUN.id, "20260102-030000-def456"


def _store_run(run: Run, results: list[Result], state: RunState = RunState.FINISHED) -> None:
    store = open_store()
    store.begin(run)
    store.add(run.id, results, [])
    if state is not RunState.RUNNING:
        store.close_run(run.id, state)
    store.close()


@pytest.fixture(autouse=True)
def stored_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs: the second has one case worse, one better, one the same, and one unscored."""
    monkeypatch.delenv("PLANPROOF_STORE", raising=False)
    base = {
        "a": verdict_with(findings("EE")),
        "b": verdict_with(findings("EL")),
        "c": 1.0,
        "d": 0.5,
    }
    new = {
        "a": verdict_with(findings("EL")),
        "b": verdict_with(findings("EE")),
        "c": 1.0,
        "d": None,
    }
    _store_run(RUN, make_results(dict(base)))
    day = timedelta(days=1)
    second = replace(RUN, id=SECOND, created=RUN.created + day, tags={"branch": "pr-7"})
    _store_run(second, make_results(dict(new)))
    return folder


def test_the_query_in_the_docs_counts_what_was_left_out(stored_runs: Path) -> None:
    [query] = (block.text for block in find_blocks_for(__file__))
    [step] = (
        step
        for result in make_results({"b": verdict_with(findings("EL"))})
        for step in result.verdict.steps[1:]
    )
    with closing(sqlite3.connect(stored_runs / ".planproof" / "planproof.db")) as store:
        assert store.execute(query).fetchall() == [(step.text, 1)]


def test_runs_are_listed_newest_first(planproof: CommandLine) -> None:
    done = planproof("runs")
    assert [line.split()[0] for line in done.out.splitlines()] == [SECOND, FIRST]
    assert [line.split()[0] for line in planproof("runs", "-n", "1").out.splitlines()] == [SECOND]
    listed = json.loads(planproof("runs", "--tag", "branch=main", "--format", "json").out)
    assert [(run["id"], run["cases"], run["tags"]) for run in listed] == [
        (FIRST, 4, {"branch": "main"})
    ]
    none = planproof("runs", "--tag", "branch=other")
    assert (none.code, none.out, none.err) == (0, "", "planproof: no runs found\n")
    assert planproof("runs", "--tag", "branch").code == 2


@pytest.mark.parametrize(
    "words", [("runs",), ("show", "latest"), ("gate", "latest"), ("export", "latest")]
)
def test_a_damaged_store_is_an_error(
    planproof: CommandLine, stored_runs: Path, words: tuple[str, ...]
) -> None:
    store = stored_runs / ".planproof" / "planproof.db"
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page_size = connection.execute("PRAGMA page_size").fetchone()[0]
        index = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_results_1'"
        ).fetchone()[0]
    # The index, which results are counted with, loses an entry: the count of its page is lowered.
    content = bytearray(store.read_bytes())
    content[page_size * (index - 1) + 4] -= 1
    store.write_bytes(content)
    done = planproof(*words)
    assert done.code == 2, done.out
    assert "the store is damaged" in done.err


def test_rows_that_were_changed_are_an_error(planproof: CommandLine, stored_runs: Path) -> None:
    with closing(sqlite3.connect(stored_runs / ".planproof" / "planproof.db")) as connection:
        connection.execute("UPDATE runs SET created = 'yesterday'")
        connection.commit()
    done = planproof("runs")
    assert done.code == 2
    assert "the store is damaged: ValueError" in done.err


def test_a_run_is_shown(planproof: CommandLine) -> None:
    done = planproof("show", "latest")
    assert done.code == 0
    assert done.out.startswith(f"{SECOND}  finished  rules  cases.jsonl  branch=pr-7\n\nmean 0.833")
    assert planproof("show", "20260101").out.startswith(FIRST)
    assert planproof("show", "branch=main").out.startswith(FIRST)
    assert "no run with the tag branch=x." in planproof("show", "branch=x").err
    shown = json.loads(planproof("show", "latest", "--format", "json").out)
    assert shown["run"]["id"] == SECOND
    assert (shown["summary"]["scored"], shown["summary"]["passed"]) == (3, 2)
    assert shown["summary"]["levels"] == {"1.0": 2, "0.75": 0, "0.5": 1, "0.25": 0, "0.0": 0}
    assert planproof("show", "latest", "-f", "markdown").out.startswith("### planproof: mean 0.833")


def test_a_case_of_a_run_is_shown(planproof: CommandLine) -> None:
    assert "It scores 0.5." in planproof("show", "latest", "a").out
    full = json.loads(planproof("show", "latest", "0", "--format", "json").out)
    assert (full["id"], full["score"], full["outcome"]) == ("a", 0.5, "scored")
    assert planproof("show", "latest", "a", "-f", "markdown").out.startswith("### planproof: 0.5")
    assert planproof("show", "latest", "a", "-f", "junit").code == 2


def test_junit_goes_to_a_file(planproof: CommandLine, stored_runs: Path) -> None:
    done = planproof("show", "latest", "--format", "junit", "-o", "junit.xml")
    assert (done.code, done.out) == (0, "")
    suite = ET.parse(stored_runs / "junit.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "1", "1")


def test_two_runs_are_compared(planproof: CommandLine) -> None:
    done = planproof("compare", FIRST, SECOND)
    assert done.code == 0
    assert "3 pairs: 1 better, 1 worse, 1 the same" in done.out
    compared = json.loads(planproof("compare", FIRST, "latest", "-f", "json").out)
    assert (compared["base"]["id"], compared["new"]["id"]) == (FIRST, SECOND)
    assert compared["comparison"]["paired"] == 3
    assert compared["comparison"]["no_longer_scored"] == 1
    assert compared["comparison"]["worst"][0]["broken"] == [
        {"number": "2", "text": "Do thing 2", "status": "missing"}
    ]
    markdown = planproof("compare", FIRST, SECOND, "-f", "markdown").out
    assert markdown.startswith("### planproof: 1 better, 1 worse, 1 the same")


@pytest.mark.parametrize("base", ["previous", "branch=main"])
def test_the_base_is_found_by_what_it_is(planproof: CommandLine, base: str) -> None:
    done = planproof("compare", base, "latest")
    assert done.out.startswith(f"base  {FIRST}")


def test_a_base_is_finished_earlier_and_over_the_same_data(planproof: CommandLine) -> None:
    nothing = planproof("compare", "previous", FIRST)
    assert nothing.code == 2
    assert f"no finished run of cases.jsonl before {FIRST}." in nothing.err
    assert (
        "no finished run with the tag branch=x before"
        in planproof("compare", "branch=x", "latest").err
    )
    third = replace(RUN, id="20260103-030000-fff000", created=RUN.created + timedelta(days=2))
    _store_run(third, make_scored_results([1.0]), RunState.INTERRUPTED)
    other = replace(third, id="20260104-030000-fff000", created=RUN.created + timedelta(days=3))
    _store_run(replace(other, source="other.jsonl"), make_scored_results([1.0]))
    last = replace(third, id="20260105-030000-fff000", created=RUN.created + timedelta(days=4))
    _store_run(last, make_scored_results([1.0]))
    assert planproof("compare", "previous", "latest").out.startswith(f"base  {SECOND}")


def test_a_gate_passes_or_fails_with_the_reasons(planproof: CommandLine) -> None:
    done = planproof("gate", FIRST, "--min-mean", "0.7", "--max-unscored", "0")
    assert (done.code, done.out.partition(":")[0]) == (0, "gate passed")
    done = planproof("gate", "latest", "--min-mean", "0.9", "--no-worse-than", "previous")
    assert done.code == 1
    broken = [line.strip() for line in done.out.splitlines() if "✗" in line]
    assert broken == [
        "✗ at most 0 unscored: 1 of 4; 1 judge_failed",
        "✗ mean score at least 0.9: 0.8333 over 3 scored",
    ]
    done = planproof("gate", "latest", "--max-unscored", "1", "--no-worse-than", FIRST)
    assert done.code == 0
    worse = ("--max-unscored", "1", "--no-worse-than", FIRST, "--max-worse", "0")
    assert planproof("gate", "latest", *worse).code == 1
    lenient = ("--min-pass-rate", "1", "--min-score", "0.5")
    assert planproof("gate", FIRST, *lenient).code == 0
    assert planproof("gate", FIRST, "--min-pass-rate", "1").code == 1
    assert planproof("gate", FIRST, "--min-share", "steps=0.5").code == 2
    unmeasured = planproof("gate", FIRST, "--min-share", "step_share=0.5")
    assert unmeasured.code == 1
    assert "✗ mean step_share at least 0.5: no case has it" in unmeasured.out


def test_a_gate_writes_json_and_markdown(planproof: CommandLine) -> None:
    done = planproof("gate", "latest", "-f", "json")
    told = json.loads(done.out)
    assert (done.code, told["passed"], told["run"]["id"]) == (1, False, SECOND)
    assert [check["held"] for check in told["checks"]] == [True, True, False]
    done = planproof("gate", FIRST, "-f", "markdown", "-o", "gate.md")
    assert (done.code, done.out) == (0, "")
    assert Path("gate.md").read_text(encoding="utf-8").startswith("### planproof: gate passed")


def test_an_interrupted_run_does_not_pass(planproof: CommandLine) -> None:
    third = replace(RUN, id="20260103-030000-fff000", created=RUN.created + timedelta(days=2))
    _store_run(third, make_scored_results([1.0]), RunState.INTERRUPTED)
    done = planproof("gate", "latest")
    assert done.code == 1
    assert "✗ the run is finished: it is interrupted; continue with --resume" in done.out


def test_runs_that_are_empty_or_have_nothing_in_common(planproof: CommandLine) -> None:
    empty = replace(RUN, id="20260103-030000-eee000", created=RUN.created + timedelta(days=2))
    _store_run(empty, [])
    other = replace(RUN, id="20260104-030000-fff000", created=RUN.created + timedelta(days=3))
    _store_run(other, make_scored_results([1.0, 1.0]))
    assert "0 pairs: 0 better, 0 worse, 0 the same" in planproof("compare", FIRST, other.id).out
    assert "not compared: 4 only in the base" in planproof("compare", FIRST, empty.id).out
    nothing = planproof("gate", empty.id)
    assert (nothing.code, "✗ the run has results: 0" in nothing.out) == (1, True)
    alone = planproof("gate", other.id, "--no-worse-than", FIRST)
    assert alone.code == 1
    assert "✗ mean not lower than in the base: no case has a score in both runs;" in alone.out
    for form in ("json", "markdown"):
        assert planproof("show", empty.id, "--format", form).code == 0
        assert planproof("compare", empty.id, empty.id, "--format", form).code == 0
    assert 'tests="0"' in planproof("show", empty.id, "--format", "junit").out


@pytest.mark.parametrize("option", [("--max-worse", "1"), ("--tolerance", "0.1")])
def test_what_needs_a_base_says_so(planproof: CommandLine, option: tuple[str, str]) -> None:
    done = planproof("gate", "latest", *option)
    assert done.code == 2
    assert "require --no-worse-than" in done.err


def test_the_minimum_is_that_of_the_configuration(
    planproof: CommandLine, stored_runs: Path
) -> None:
    (stored_runs / "planproof.toml").write_text("min_score = 0.5\n", encoding="utf-8")
    assert "3 of them at 0.5 or above" in planproof("show", "latest").out
    assert "2 of them at 1 or above" in planproof("show", "latest", "--min-score", "1").out


def test_the_store_is_named_by_option_environment_or_configuration(
    planproof: CommandLine, stored_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = stored_runs / "deep" / "er"
    elsewhere.mkdir(parents=True)
    monkeypatch.chdir(elsewhere)
    absent = planproof("runs")
    assert absent.code == 2
    assert "store not found" in absent.err
    assert not (elsewhere / ".planproof").exists()
    there = "../../.planproof/planproof.db"
    assert planproof("runs", "--store", there).code == 0
    assert (
        planproof("runs", "--store", f"sqlite:///{stored_runs}/.planproof/planproof.db").code == 0
    )
    monkeypatch.setenv("PLANPROOF_STORE", there)
    assert planproof("runs").code == 0
    monkeypatch.delenv("PLANPROOF_STORE")
    # A file is meant from where the configuration stands.
    (stored_runs / "planproof.toml").write_text(
        'store = ".planproof/planproof.db"\n', encoding="utf-8"
    )
    assert planproof("runs").code == 0


def test_an_unknown_run_is_an_error_that_lists_the_runs(planproof: CommandLine) -> None:
    done = planproof("show", "20270101")
    assert done.code == 2
    assert SECOND in done.err
