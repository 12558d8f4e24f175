"""`planproof run`: order, bad lines, summary, exit codes."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from planproof import evaluation
from planproof.cli.outputs import open_binary_output
from planproof.cli.progress import format_progress
from planproof.core.usage import Usage
from planproof.core.verdict import Outcome, Verdict
from planproof.runs.engines import case_judging as judging
from planproof.runs.run_records import Result, RunState
from planproof.runs.store.open_store import open_store
from planproof.runs.summary import SummaryBuilder
from tests.command_line import CommandLine
from tests.small_cases import FOLLOWED, IDLE, PLANLESS
from tests.trace_builders import did, noted, trace


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
    assert lines[1] == "mean 0.667 over 3 scored cases; 2 of them at 0.5 or above"
    assert [line.split()[1] for line in lines[2:7]] == ["2", "0", "0", "0", "1"]
    assert lines[7:] == [
        "mean shares: steps executed 0.667, steps in order 1.000, actions planned 1.000",
        "steps: 6 executed, 3 missing",
        "not scored: 1 no_plan",
        "1 already judged",
        "",
        "steps most often missed",
        "  1 of 3  Copy report-12.txt to the folder archive  1 missing",
        "  1 of 3  Delete file draft-7.txt                   1 missing",
        "  1 of 3  Read file report-12.txt                   1 missing",
        lines[-2],
        "planproof: 1 of 4 cases has no score (1 no_plan); see `planproof show latest`",
    ]
    assert lines[-2].startswith("stored as run ")


@pytest.mark.parametrize(
    ("cases", "options", "code"),
    [
        ([FOLLOWED], (), 0),
        ([FOLLOWED, IDLE], (), 0),
        ([FOLLOWED, IDLE], ("--min-score", "0.25"), 1),
        ([IDLE, PLANLESS], ("--min-score", "0.25"), 1),
        ([FOLLOWED, PLANLESS], ("--min-score", "0.25"), 3),
        ([FOLLOWED, IDLE], ("--min-confidence", "0.1"), 0),
        ([FOLLOWED, IDLE], ("--min-confidence", "1"), 3),
        ([], (), 2),
    ],
)
def test_exit_codes(
    planproof: CommandLine, folder: Path, cases: list[Any], options: tuple[str, ...], code: int
) -> None:
    _data_set(folder, *cases)
    assert planproof("run", "cases.jsonl", *options).code == code


def test_the_configuration_can_require_confidence(planproof: CommandLine, folder: Path) -> None:
    _data_set(folder, FOLLOWED)
    (folder / "planproof.toml").write_text("min_confidence = 1", encoding="utf-8")
    done = planproof("run", "cases.jsonl")
    assert done.code == 3
    assert "with enough confidence (--min-confidence 1.0)" in " ".join(done.err.split())
    assert planproof("run", "cases.jsonl", "--min-confidence", "0").code == 0


def test_what_is_not_understood_is_counted_and_not_judged_again(
    planproof: CommandLine, folder: Path
) -> None:
    _data_set(folder, FOLLOWED, {**FOLLOWED, "id": "prose", "execution_trace": "I did it all."})
    done = planproof("run", "cases.jsonl", "--min-score", "0.25")
    assert [verdict["outcome"] for verdict in _verdicts(done.out)] == ["scored", "not_understood"]
    assert done.code == 3
    assert "not scored: 1 not_understood" in done.err
    assert "2 already judged" in planproof("run", "cases.jsonl").err
    gate = planproof("gate", "latest")
    assert gate.code == 1
    assert "at most 0 unscored: 1 of 2; 1 not_understood" in gate.out


def test_cases_can_come_from_standard_input(planproof: CommandLine) -> None:
    done = planproof("run", "-", stdin=json.dumps(FOLLOWED).encode())
    assert [verdict["score"] for verdict in _verdicts(done.out)] == [1.0]


def test_a_trace_that_can_not_be_read_is_named_by_its_line(
    planproof: CommandLine, folder: Path
) -> None:
    deep: list[Any] = []
    for _ in range(300):
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
    read_trace = evaluation.read_trace

    def faulty(source: Any, **options: Any) -> Any:
        if "line 1" in source.name:
            raise KeyError("no such thing")
        return read_trace(source, **options)

    monkeypatch.setattr(evaluation, "read_trace", faulty)
    _data_set(folder, FOLLOWED, FOLLOWED)
    first, second = _verdicts(planproof("run", "cases.jsonl").out)
    assert first["outcome"] == "judge_failed"
    assert "KeyError: 'no such thing'" in first["reason"]
    assert second["outcome"] == "scored"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "nowhere.jsonl"), "nowhere.jsonl: can't be read: No such file"),
        (("run", "other.json"), "is a single JSON document, but neither a case nor a trace"),
        (("run", "case.json", "-o", "case.json"), "the output file is also an input file"),
        (("run", "case.json", "--reader", "genral"), "Did you mean `general`?"),
        (("run", "empty.jsonl"), "empty.jsonl: no cases found."),
        (("run", "case.json", "--where", "team=nobody"), "no cases found."),
        (("run",), "Missing argument"),
    ],
    ids=["nowhere", "other", "same", "reader", "empty", "none of them", "nothing"],
)
def test_bad_usage_and_input_exit_with_2(
    planproof: CommandLine, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    (folder / "other.json").write_text('{"a":\n1}', encoding="utf-8")
    (folder / "empty.jsonl").touch()
    before = (folder / "case.json").read_bytes()
    done = planproof(*arguments)
    assert done.code == 2
    assert message in done.err
    assert (folder / "case.json").read_bytes() == before


def test_a_mistyped_file_starts_no_run(planproof: CommandLine, folder: Path) -> None:
    assert planproof("run", "nowhere.jsonl", "-o", "verdicts.jsonl").code == 2
    assert not (folder / ".planproof").exists()
    assert not list(folder.glob("verdicts*"))


def test_an_output_that_was_never_begun_leaves_no_partial_file(folder: Path) -> None:
    def break_off() -> None:
        with open_binary_output(folder / "verdicts.jsonl"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert not list(folder.glob("verdicts*"))


def test_no_cases_leave_the_verdicts_of_yesterday(planproof: CommandLine, folder: Path) -> None:
    (folder / "empty.jsonl").touch()
    (folder / "verdicts.jsonl").write_text("of yesterday", encoding="utf-8")
    assert planproof("run", "empty.jsonl", "-o", "verdicts.jsonl").code == 2
    assert (folder / "verdicts.jsonl").read_text(encoding="utf-8") == "of yesterday"


@pytest.fixture
def interrupted_at_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate_case = judging.evaluate_case

    def interrupted(case: Any, **options: Any) -> Any:
        if case.id == "idle":
            raise KeyboardInterrupt
        return evaluate_case(case, **options)

    monkeypatch.setattr(judging, "evaluate_case", interrupted)


@pytest.mark.usefixtures("interrupted_at_idle")
def test_an_interrupted_run_says_how_to_go_on(
    planproof: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _data_set(folder, FOLLOWED, PLANLESS, IDLE, FOLLOWED)
    options = ("run", "cases.jsonl", "-o", "verdicts.jsonl", "--tag", "n=1 2")
    done = planproof(*options)
    assert done.code == 130
    told = "planproof run cases.jsonl -o verdicts.jsonl --tag 'n=1 2' --resume"
    assert done.err.endswith(f"planproof: interrupted after 2 cases; resume with\n  {told}\n")
    assert not (folder / "verdicts.jsonl").exists()
    with closing(open_store()) as store:
        assert [(run.state, run.cases, run.tags) for run in store.list_runs()] == [
            (RunState.INTERRUPTED, 2, {"n": "1 2"})
        ]
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    again = planproof(*options, "--resume")
    assert "resuming run" in again.err
    assert "after 2 cases" in again.err
    verdicts = _verdicts((folder / "verdicts.jsonl").read_text())
    assert [verdict["id"] for verdict in verdicts] == ["followed", "planless", "idle", "followed"]
    with closing(open_store()) as store:
        assert [(run.state, run.cases) for run in store.list_runs()] == [(RunState.FINISHED, 4)]


@pytest.mark.usefixtures("interrupted_at_idle")
def test_the_command_to_go_on_with_shows_no_password(planproof: CommandLine, folder: Path) -> None:
    _data_set(folder, IDLE)
    done = planproof("run", "cases.jsonl", "--base-url", "https://me:hush@model.example/v1")
    assert done.code == 130
    assert "--base-url https://me:***@model.example/v1 --resume" in done.err
    assert "hush" not in done.err


@pytest.mark.usefixtures("interrupted_at_idle")
def test_an_interrupted_run_without_a_store_keeps_what_it_has_written(
    planproof: CommandLine, folder: Path
) -> None:
    _data_set(folder, FOLLOWED, FOLLOWED, IDLE, FOLLOWED)
    done = planproof("run", "cases.jsonl", "-o", "verdicts.jsonl", "--store", "none")
    assert done.code == 130
    (partial,) = folder.glob("verdicts.jsonl.*.partial")
    assert f"interrupted after 2 cases; the verdicts so far are in {partial.name}" in done.err
    assert not (folder / "verdicts.jsonl").exists()
    assert len(_verdicts(partial.read_text())) == 2
    assert not (folder / ".planproof").exists()


def test_two_commands_with_one_output_write_files_of_their_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = folder / "verdicts.jsonl"
    with open_binary_output(output) as first:
        first.write(b"first\n")
        monkeypatch.setattr("os.getpid", lambda: 1)
        with open_binary_output(output) as second:
            second.write(b"second\n")
        assert output.read_bytes() == b"second\n"
        monkeypatch.undo()
    assert output.read_bytes() == b"first\n"
    assert not list(folder.glob("*.partial"))


def test_data_that_has_changed_is_not_gone_on_with(
    planproof: CommandLine, folder: Path, interrupted_at_idle: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _data_set(folder, FOLLOWED, PLANLESS, IDLE)
    assert planproof("run", "cases.jsonl").code == 130
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    for changed in ([IDLE, PLANLESS, IDLE], [FOLLOWED]):
        _data_set(folder, *changed)
        done = planproof("run", "cases.jsonl", "--resume")
        assert done.code == 2
        assert "the cases have changed since the run started" in done.err


def test_only_the_same_data_judged_in_the_same_way_is_gone_on_with(
    planproof: CommandLine, folder: Path, interrupted_at_idle: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _data_set(folder, FOLLOWED, PLANLESS, IDLE)
    assert planproof("run", "cases.jsonl").code == 130
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    for option in (("--limit", "2"), ("--reader", "general")):
        assert "starting a new run" in planproof("run", "cases.jsonl", "--resume", *option).err


def test_a_case_is_judged_once_unless_asked_otherwise(planproof: CommandLine, folder: Path) -> None:
    _data_set(folder, FOLLOWED, IDLE, PLANLESS)
    first = planproof("run", "cases.jsonl")
    again = planproof("run", "cases.jsonl")
    assert again.out == first.out
    assert "already judged" not in first.err
    assert "\n3 already judged\n" in again.err
    assert "already judged" not in planproof("run", "cases.jsonl", "--no-cache").err
    assert (
        "already judged" not in planproof("run", "cases.jsonl", "--reader", "openai-messages").err
    )


def test_a_bar_shows_the_progress_on_a_terminal(
    planproof: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _data_set(folder, FOLLOWED, FOLLOWED)
    monkeypatch.setattr("planproof.cli.progress._REFRESH_SECONDS", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    done = planproof("run", "cases.jsonl")
    assert done.code == 0
    assert len(_verdicts(done.out)) == 2
    assert len(_verdicts(planproof("run", "-", stdin=Path("cases.jsonl").read_bytes()).out)) == 2


def test_the_progress_line_shows_counts() -> None:
    tally = SummaryBuilder()
    assert format_progress(tally, 0.0, None) == "0 cases"
    scored = Verdict(outcome=Outcome.SCORED, reason="", score=0.75, level=0.75)
    for position in range(30):
        tally.add(Result(position, "h", None, scored, 1.0))
    failed = Verdict(outcome=Outcome.NO_PLAN, reason="", cost=Usage(calls=1, cost=1.5))
    tally.add(Result(30, "i", None, failed, 1.0))
    assert (
        format_progress(tally, 10.0, None)
        == "31 cases · 3/s · mean 0.75 · 1 unscored · 1.50 dollars"
    )
    assert "· 1:30 left ·" in format_progress(tally, 10.0, 0.1)
    assert "· 2:46:30 left ·" in format_progress(tally, 10.0, 0.001)


def test_at_a_terminal_no_verdicts_are_poured_out(
    planproof: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _data_set(folder, FOLLOWED)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert planproof("run", "cases.jsonl").out == ""


def test_each_plan_can_be_in_force_until_the_next(planproof: CommandLine, folder: Path) -> None:
    listed = [noted("TodoWrite", todos=steps) for steps in (["Read a.txt", "Sing"], ["Read a.txt"])]
    events = trace(*listed, did("read_file", path="a.txt"))
    _data_set(folder, {"user_task": "Tidy up.", "execution_trace": events})

    def scores(*options: str) -> list[float | None]:
        return [v["score"] for v in _verdicts(planproof("run", "cases.jsonl", *options).out)]

    latest = ("--plan-in-force", "latest")
    assert scores() == [0.5]
    assert scores(*latest) == [1.0]
    asked = ("--judge", "prompt", "--model", "openai:any", "--base-url", "http://127.0.0.1:9/v1")
    refused = planproof("run", "cases.jsonl", *latest, *asked)
    assert refused.code == 2
    assert "Use `rules`, `audit` or `cascade`" in refused.err
    dry = planproof("run", "cases.jsonl", *latest, "--judge", "audit", "--dry-run")
    assert dry.out.startswith("1 case, 2 calls")


def test_where_nothing_can_be_written_no_run_is_begun(planproof: CommandLine, folder: Path) -> None:
    done = planproof("run", "case.json", "-o", folder / "nowhere" / "out.jsonl")
    assert done.code == 2
    assert "can't be written" in done.err
    assert planproof("runs", "--format", "json").out in ("", "[]\n")


def test_cases_without_a_score_are_explained_without_a_store(
    planproof: CommandLine, folder: Path
) -> None:
    _data_set(folder, FOLLOWED, PLANLESS, "{broken")
    done = planproof("run", "cases.jsonl", "--store", "none")
    assert done.code == 3
    told = "planproof: 2 of 3 cases have no score (1 invalid_input, 1 no_plan)"
    assert done.err.splitlines()[-1] == told
