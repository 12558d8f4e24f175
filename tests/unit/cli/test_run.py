"""`planproof run`: order, bad lines, summary, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planproof import evaluation, preparation
from tests.command_line import CommandLine
from tests.small_cases import FOLLOWED, IDLE, PLANLESS


def _data_set(folder: Path, *lines: Any) -> Path:
    path = folder / "cases.jsonl"
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def _verdicts(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_one_verdict_a_line_in_the_order_of_the_cases(planproof: CommandLine, folder: Path) -> None:
    _data_set(folder, IDLE, FOLLOWED, "", "{broken", PLANLESS, FOLLOWED)
    done = planproof("run", "cases.jsonl", "-o", "verdicts.jsonl")
    verdicts = _verdicts((folder / "verdicts.jsonl").read_text())
    assert [(verdict["id"], verdict["outcome"]) for verdict in verdicts] == [
        ("idle", "scored"),
        ("followed", "scored"),
        (None, "invalid_input"),
        ("planless", "no_plan"),
        ("followed", "scored"),
    ]
    assert "cases.jsonl, line 4: is not valid JSON" in verdicts[2]["reason"]
    assert (done.code, done.out) == (3, "")
    assert not list(folder.glob("*.partial"))


def test_the_summary_goes_to_standard_error(planproof: CommandLine, folder: Path) -> None:
    _data_set(folder, FOLLOWED, FOLLOWED, IDLE, PLANLESS)
    done = planproof("run", "cases.jsonl", "--min-score", "0.5")
    assert len(_verdicts(done.out)) == 4
    lines = done.err.splitlines()
    assert lines[0].startswith("planproof: 4 cases in ")
    assert [line.split()[:2] for line in lines[1:3]] == [["1.0", "2"], ["0.0", "1"]]
    assert lines[3:] == ["  1 not judged: no_plan", "  1 below 0.5"]


@pytest.mark.parametrize(
    ("cases", "options", "code"),
    [
        ([FOLLOWED], (), 0),
        ([FOLLOWED, IDLE], (), 0),
        ([FOLLOWED, IDLE], ("--min-score", "0.25"), 1),
        ([IDLE, PLANLESS], ("--min-score", "0.25"), 1),
        ([FOLLOWED, PLANLESS], ("--min-score", "0.25"), 3),
        ([], (), 0),
    ],
)
def test_exit_codes(
    planproof: CommandLine, folder: Path, cases: list[Any], options: tuple[str, ...], code: int
) -> None:
    _data_set(folder, *cases)
    assert planproof("run", "cases.jsonl", *options).code == code


def test_cases_can_come_from_standard_input(planproof: CommandLine) -> None:
    done = planproof("run", "-", stdin=json.dumps(FOLLOWED).encode())
    assert [verdict["score"] for verdict in _verdicts(done.out)] == [1.0]


def test_a_trace_that_can_not_be_read_is_named_by_its_line(
    planproof: CommandLine, folder: Path
) -> None:
    deep: list[Any] = []
    for _ in range(500):
        deep = [deep]
    _data_set(folder, {**FOLLOWED, "execution_trace": deep}, FOLLOWED)
    done = planproof("run", "cases.jsonl")
    first, second = _verdicts(done.out)
    assert (first["id"], first["outcome"]) == ("followed", "invalid_input")
    assert first["reason"].startswith("cases.jsonl, line 1, execution_trace: is nested")
    assert second["outcome"] == "scored"


def test_a_fault_in_reading_one_case_does_not_cost_the_others(
    planproof: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_trace = preparation.read_trace

    def faulty(source: Any, **options: Any) -> Any:
        if "line 1" in source.name:
            raise KeyError("no such thing")
        return read_trace(source, **options)

    monkeypatch.setattr(preparation, "read_trace", faulty)
    _data_set(folder, FOLLOWED, FOLLOWED)
    first, second = _verdicts(planproof("run", "cases.jsonl").out)
    assert first["outcome"] == "judge_failed"
    assert "KeyError: 'no such thing'" in first["reason"]
    assert second["outcome"] == "scored"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "nowhere.jsonl"), "nowhere.jsonl: can't be read: No such file"),
        (("run", "."), "can't be read: Is a directory"),
        (("run", "other.json"), "is one JSON document, and neither a case nor a trace"),
        (("run", "case.json", "-o", "case.json"), "is the file that the cases are read from"),
        (("run", "case.json", "--reader", "genral"), "Did you mean `general`?"),
        (("run",), "Missing argument"),
    ],
    ids=["nowhere", "folder", "other", "same", "reader", "nothing"],
)
def test_bad_usage_and_input_exit_with_2(
    planproof: CommandLine, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    (folder / "other.json").write_text('{"a":\n1}', encoding="utf-8")
    before = (folder / "case.json").read_bytes()
    done = planproof(*arguments)
    assert done.code == 2
    assert message in done.err
    assert (folder / "case.json").read_bytes() == before


def test_an_interrupted_run_keeps_what_it_has(
    planproof: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate_case = evaluation.evaluate_case

    def interrupted(case: Any, **options: Any) -> Any:
        if case.id == "idle":
            raise KeyboardInterrupt
        return evaluate_case(case, **options)

    monkeypatch.setattr(evaluation, "evaluate_case", interrupted)
    _data_set(folder, FOLLOWED, FOLLOWED, IDLE, FOLLOWED)
    done = planproof("run", "cases.jsonl", "-o", "verdicts.jsonl")
    assert done.code == 130
    assert (
        "interrupted after 2 cases; the verdicts so far are in verdicts.jsonl.partial" in done.err
    )
    assert not (folder / "verdicts.jsonl").exists()
    assert len(_verdicts((folder / "verdicts.jsonl.partial").read_text())) == 2


def test_a_bar_shows_the_progress_on_a_terminal(
    planproof: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    _data_set(folder, FOLLOWED, FOLLOWED)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    done = planproof("run", "cases.jsonl")
    assert done.code == 0
    assert len(_verdicts(done.out)) == 2
    assert len(_verdicts(planproof("run", "-", stdin=Path("cases.jsonl").read_bytes()).out)) == 2
