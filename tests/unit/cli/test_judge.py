"""`planproof judge`: inputs, formats, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import CommandLine
from tests.small_cases import FOLLOWED, IDLE, PLAN, PLANLESS, TASK
from tests.trace_builders import did, noted
from tests.trace_builders import trace as native_trace


def _write(path: Path, value: Any) -> Path:
    text = value if isinstance(value, str) else json.dumps(value)
    path.write_text(text, encoding="utf-8")
    return path


def test_no_colour_without_a_terminal(planproof: CommandLine) -> None:
    done = planproof("judge", "case.json")
    assert done.code == 0
    assert "perfect adherence" in done.out
    assert "7 of 7 events read" not in done.err
    assert "\x1b" not in done.out
    assert all(line == line.rstrip() and len(line) <= 80 for line in done.out.splitlines())
    assert done.err == ""


def test_json_is_exactly_score_and_reason(planproof: CommandLine) -> None:
    verdict = json.loads(planproof("judge", "case.json", "--format", "json").out)
    assert list(verdict) == ["score", "reason"]
    assert verdict["score"] == 1.0


def test_full_is_the_whole_verdict(planproof: CommandLine) -> None:
    verdict = json.loads(planproof("judge", "case.json", "-f", "full").out)
    assert [step["status"] for step in verdict["steps"]] == ["executed"] * 3
    assert verdict["judge"]["name"] == "rules"
    assert verdict["coverage"]["reader"] == "openai-messages"


def test_a_trace_that_is_not_understood_exits_with_3(planproof: CommandLine, folder: Path) -> None:
    _write(folder / "prose.txt", "I read the report and copied it.")
    _write(folder / "prose.json", {**FOLLOWED, "execution_trace": "I read it and copied it."})
    _write(folder / "plan.txt", "\n".join(PLAN))
    for given in (("prose.json",), ("--plan", "plan.txt", "--trace", "prose.txt")):
        done = planproof("judge", *given)
        assert (done.code, done.err) == (3, "")
        told = " ".join(done.out.split())
        assert "not judged: the trace was not understood" in told
        assert "Run `planproof inspect FILE` to see what was read" in told
        assert "select it with `--reader`" in told
    shown = " ".join(planproof("inspect", "prose.txt").out.split())
    assert "The trace was not understood by the reader `general`" in shown


@pytest.mark.parametrize("form", ["terminal", "full", "html"])
@pytest.mark.parametrize("place", ["evaluation.read_trace", "readers.decoding.source.Parser"])
def test_an_internal_error_in_reading_is_reported_the_same_way(
    planproof: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch, place: str, form: str
) -> None:
    def faulty(*_: Any, **__: Any) -> Any:
        raise KeyError("no such thing")

    monkeypatch.setattr(f"planproof.{place}", faulty)
    _write(folder / "trace.json", FOLLOWED["execution_trace"])
    _write(folder / "plan.json", PLAN)
    files = ("--plan", "plan.json", "--trace", "trace.json")
    told = [planproof("judge", *given, "-f", form) for given in (("case.json",), files)]
    for done in told:
        assert (done.code, done.err) == (3, "")
        assert "internal error: KeyError" in " ".join(done.out.split())
        assert "please report it" in " ".join(done.out.split())


def test_markdown_is_for_a_comment(planproof: CommandLine) -> None:
    assert planproof("judge", "case.json", "-f", "markdown").out.startswith("### planproof: 1.0")


def test_a_case_can_come_from_standard_input(planproof: CommandLine) -> None:
    done = planproof("judge", "-", "-f", "json", stdin=json.dumps(FOLLOWED).encode())
    assert json.loads(done.out)["score"] == 1.0


@pytest.mark.parametrize("piped", ["--task", "--plan", "--trace", None])
@pytest.mark.parametrize("plan", ["\n".join(f"{n}. {s}" for n, s in enumerate(PLAN, 1)), PLAN])
def test_task_plan_and_trace_can_be_files(
    planproof: CommandLine, folder: Path, piped: str | None, plan: Any
) -> None:
    files = {
        "--task": _write(folder / "task.txt", TASK),
        "--plan": _write(folder / ("plan.md" if isinstance(plan, str) else "plan.json"), plan),
        "--trace": _write(folder / "trace.json", FOLLOWED["execution_trace"]),
    }
    arguments = [part for name, path in files.items() for part in (name, path)]
    stdin = b""
    if piped is not None:
        stdin = files[piped].read_bytes()
        arguments = ["-" if part == files[piped] else part for part in arguments]
    done = planproof("judge", *arguments, "-f", "json", stdin=stdin)
    assert (done.code, json.loads(done.out)["score"]) == (0, 1.0)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--task", "case.json"),
        ("case.json", "--trace", "case.json"),
        ("--task", "-", "--plan", "-", "--trace", "case.json"),
        ("case.json", "--format", "yaml"),
        ("case.json", "--min-score", "2"),
        ("case.json", "--colour"),
    ],
    ids=" ".join,
)
def test_bad_usage_exits_with_2(planproof: CommandLine, arguments: tuple[str, ...]) -> None:
    done = planproof("judge", *arguments)
    assert done.code == 2
    assert "planproof judge --help" in done.err
    assert done.out == ""


@pytest.mark.parametrize(
    ("case", "least", "code"),
    [
        (FOLLOWED, "1.0", 0),
        (IDLE, None, 0),
        (IDLE, "0.0", 0),
        (IDLE, "0.25", 1),
        (PLANLESS, None, 3),
        (PLANLESS, "0.5", 3),
    ],
)
def test_exit_codes(
    planproof: CommandLine, folder: Path, case: Any, least: str | None, code: int
) -> None:
    path = _write(folder / "other.json", case)
    options = () if least is None else ("--min-score", least)
    done = planproof("judge", path, *options, "-f", "json")
    assert done.code == code
    assert (json.loads(done.out)["score"] is None) == (code == 3)


def test_a_verdict_with_too_little_confidence_counts_as_not_judged(
    planproof: CommandLine,
) -> None:
    done = planproof("judge", "case.json", "-f", "full")
    confidence = json.loads(done.out)["confidence"]
    assert 0 < confidence < 1
    assert planproof("judge", "case.json", "--min-confidence", str(confidence)).code == 0
    refused = planproof("judge", "case.json", "--min-confidence", "1")
    assert refused.code == 3
    assert "could not be judged with enough confidence" in refused.err
    assert str(confidence) in refused.err
    Path("planproof.toml").write_text("min_confidence = 1", encoding="utf-8")
    assert planproof("judge", "case.json").code == 3
    assert planproof("judge", "case.json", "--min-confidence", str(confidence)).code == 0


def test_errors_name_the_place_and_the_next_step(planproof: CommandLine) -> None:
    done = planproof("judge", "nowhere.json")
    assert done.code == 2
    assert done.err == (
        "planproof: error: nowhere.json: can't be read: No such file or directory.\n"
        "  Check the path.\n"
    )


def test_text_in_errors_can_not_steer_the_terminal(planproof: CommandLine) -> None:
    done = planproof("judge", "\x1b[2Jcase.json")
    assert "\x1b" not in done.err
    assert r"\x1b[2Jcase.json" in done.err


@pytest.mark.parametrize(("option", "noun"), [("--judge", "judge"), ("--reader", "reader")])
def test_unknown_names_answer_with_what_there_is(
    planproof: CommandLine, option: str, noun: str
) -> None:
    done = planproof("judge", "case.json", option, "genral" if noun == "reader" else "rule")
    assert done.code == 2
    assert f"no {noun} is registered as" in done.err
    assert f"Did you mean `{'general' if noun == 'reader' else 'rules'}`?" in done.err


def test_the_reader_can_be_named(planproof: CommandLine) -> None:
    done = planproof("judge", "case.json", "--reader", "general", "-f", "full")
    assert json.loads(done.out)["coverage"]["reader"] == "general"


def test_the_configuration_is_used_and_named(planproof: CommandLine, folder: Path) -> None:
    path = _write(folder / "planproof.toml", "min_score = 0.5")
    _write(folder / "idle.json", IDLE)
    done = planproof("judge", "idle.json")
    assert done.code == 1
    assert done.err == f"planproof: using {path}\n"
    assert planproof("judge", "idle.json", "--min-score", "0").code == 0


def test_a_configuration_can_be_named(planproof: CommandLine, folder: Path) -> None:
    path = _write(folder / "other.toml", 'judge = "nobody"')
    done = planproof("judge", "case.json", "--config", path)
    assert done.code == 2
    assert "no judge is registered as `nobody`" in done.err


def test_limits_of_the_configuration_apply(planproof: CommandLine, folder: Path) -> None:
    _write(folder / "planproof.toml", "limits.max_bytes = 100")
    done = planproof("judge", "case.json")
    assert done.code == 2
    assert "case.json: has more than 100 bytes." in done.err
    _write(folder / "planproof.toml", "limits.max_values = 10")
    done = planproof("judge", "case.json")
    assert done.code == 2
    assert "case.json: contains more than 10 values and keys." in done.err
    assert "max_values" in done.err


def test_output_goes_to_a_file(planproof: CommandLine, folder: Path) -> None:
    done = planproof("judge", "case.json", "-f", "full", "-o", "verdict.json")
    assert (done.code, done.out) == (0, "")
    assert json.loads((folder / "verdict.json").read_text())["score"] == 1.0
    assert not list(folder.glob("*.partial"))


def test_only_the_owner_can_read_a_new_output(planproof: CommandLine, folder: Path) -> None:
    output = folder / "verdict.json"
    planproof("judge", "case.json", "-o", output.name)
    assert output.stat().st_mode & 0o777 == 0o600
    output.chmod(0o644)
    planproof("judge", "case.json", "-o", output.name)
    assert output.stat().st_mode & 0o777 == 0o644, "a file that is replaced keeps its mode"


def test_a_picture_in_a_file_has_no_colour(planproof: CommandLine, folder: Path) -> None:
    planproof("judge", "case.json", "-o", "verdict.txt")
    assert "perfect adherence" in (folder / "verdict.txt").read_text(encoding="utf-8")


def test_a_minus_as_output_is_standard_output(planproof: CommandLine) -> None:
    assert "perfect adherence" in planproof("judge", "case.json", "-o", "-").out


def test_output_that_can_not_be_written_is_an_error(planproof: CommandLine) -> None:
    done = planproof("judge", "case.json", "-o", "no/such/folder/verdict.json")
    assert done.code == 2
    assert "no/such/folder/verdict.json: can't be written: No such file" in done.err


def test_a_device_is_written_to_not_replaced(planproof: CommandLine) -> None:
    assert planproof("judge", "case.json", "-o", "/dev/null").code == 0
    assert not Path("/dev/null").is_file()


def test_secrets_are_masked_except_where_quotes_are_verified(
    planproof: CommandLine, folder: Path
) -> None:
    token = "sk-" + "a1" * 20
    case = json.loads(json.dumps(FOLLOWED).replace("report-12.txt", f"{token}.txt"))
    path = _write(folder / "secret.json", case)
    assert token not in planproof("judge", path).out
    assert token not in planproof("judge", path, "-f", "markdown").out
    assert token in planproof("judge", path, "--no-redact").out
    assert token in planproof("judge", path, "-f", "full").out


def test_text_on_standard_input_must_be_utf_8(planproof: CommandLine, folder: Path) -> None:
    _write(folder / "plan.json", PLAN)
    done = planproof(
        "judge", "--task", "-", "--plan", "plan.json", "--trace", "case.json", stdin=b"caf\xe9"
    )
    assert done.code == 2
    assert "standard input: byte 3 is not valid UTF-8." in done.err


def test_a_folder_is_not_a_case(planproof: CommandLine) -> None:
    done = planproof("judge", ".")
    assert done.code == 2
    assert "can't be read: Is a directory." in done.err


def test_a_trace_that_can_not_be_read_is_bad_input(planproof: CommandLine, folder: Path) -> None:
    _write(folder / "bad.json", {**FOLLOWED, "execution_trace": " "})
    done = planproof("judge", "bad.json")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("planproof: error: bad.json, execution_trace: is empty.")


def test_a_page_is_written_for_the_format_html(planproof: CommandLine, folder: Path) -> None:
    done = planproof("judge", "case.json", "--format", "html", "-o", "verdict.html")
    assert (done.code, done.out) == (0, "")
    page = (folder / "verdict.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "Copy report-12.txt to the folder archive" in page


def test_a_page_can_be_made_of_standard_input(planproof: CommandLine, folder: Path) -> None:
    trace = json.dumps(FOLLOWED["execution_trace"]).encode()
    (folder / "plan.txt").write_text("1. Read file report-12.txt\n", encoding="utf-8")
    done = planproof("judge", "--plan", "plan.txt", "--trace", "-", "-f", "html", stdin=trace)
    assert done.code == 0
    assert "delete_file" in done.out


def test_each_plan_can_be_in_force_until_the_next(planproof: CommandLine, folder: Path) -> None:
    listed = [noted("TodoWrite", todos=steps) for steps in (PLAN[:2], PLAN[:1])]
    trace = _write(
        folder / "trace.json", native_trace(*listed, did("read_file", path="report-12.txt"))
    )
    first = planproof("judge", "--trace", str(trace), "-f", "json")
    assert json.loads(first.out)["score"] == 0.5
    latest = ("judge", "--trace", str(trace), "--plan-in-force", "latest")
    assert json.loads(planproof(*latest, "-f", "json").out)["score"] == 1.0
    assert "replanned at e2, each plan in force until the next" in " ".join(
        planproof(*latest).out.split()
    )
    planned = planproof(*latest, "--plan", str(_write(folder / "plan.json", PLAN)))
    assert planned.code == 2
    assert "a plan was given" in planned.err
    asked = planproof(*latest, "--judge", "prompt", "--show-prompt")
    assert asked.code == 2
    assert "can't judge a trace with several plans" in asked.err


def test_a_bare_trace_instead_of_a_case_is_pointed_to_its_option(
    planproof: CommandLine, folder: Path
) -> None:
    for trace in (FOLLOWED["execution_trace"], {"messages": FOLLOWED["execution_trace"]}):
        _write(folder / "trace.json", trace)
        done = planproof("judge", "trace.json")
        assert done.code == 2
        assert "Pass a trace with --trace, and its plan with --plan." in " ".join(done.err.split())


def test_an_empty_plan_and_a_binary_file_are_named_as_such(
    planproof: CommandLine, folder: Path
) -> None:
    _write(folder / "trace.json", FOLLOWED["execution_trace"])
    _write(folder / "empty.json", "")
    done = planproof("judge", "--plan", "empty.json", "--trace", "trace.json")
    assert (done.code, done.err.splitlines()[0]) == (2, "planproof: error: empty.json: is empty.")
    (folder / "bin.dat").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    assert "bin.dat: is not text: byte 0 is not valid UTF-8." in planproof("judge", "bin.dat").err
    done = planproof("run", "bin.dat")
    assert (done.code, done.out) == (2, "")
    assert "bin.dat: is not UTF-8 text." in done.err
