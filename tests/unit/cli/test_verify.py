"""`planproof verify`: what it accepts, what it rejects, what it can't read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import CommandLine
from tests.small_cases import FOLLOWED, IDLE, PLANLESS


def _write(path: Path, *values: Any) -> Path:
    path.write_text("\n".join(json.dumps(value) for value in values), encoding="utf-8")
    return path


@pytest.fixture
def verdict(planproof: CommandLine, folder: Path) -> dict[str, Any]:
    planproof("judge", "case.json", "-f", "full", "-o", "verdict.json")
    return json.loads((folder / "verdict.json").read_text())


@pytest.mark.usefixtures("verdict")
def test_a_verdict_is_accepted_with_its_case_or_its_trace(
    planproof: CommandLine, folder: Path
) -> None:
    _write(folder / "trace.json", FOLLOWED["execution_trace"])
    for file in ("case.json", "trace.json"):
        done = planproof("verify", "verdict.json", file)
        assert (done.code, done.out) == (0, "accepted: verdict.json\n")


def test_either_file_can_be_standard_input(
    planproof: CommandLine, folder: Path, verdict: dict[str, Any]
) -> None:
    data = json.dumps(verdict).encode()
    assert planproof("verify", "-", "case.json", stdin=data).out == "accepted: standard input\n"
    case = (folder / "case.json").read_bytes()
    assert planproof("verify", "verdict.json", "-", stdin=case).code == 0


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"agent_plan": ["Something else"]}, "the plan differs from the one that was judged"),
        ({"user_task": "Another"}, "the task differs from the one that was judged"),
        ({"id": "other"}, "case id mismatch: verdict 'followed', case 'other'"),
        ({"execution_trace": IDLE["execution_trace"]}, "trace"),
        ({"execution_trace": "\n"}, "the case can't be read: "),
    ],
)
@pytest.mark.usefixtures("verdict")
def test_a_verdict_on_another_case_is_rejected(
    planproof: CommandLine, folder: Path, change: dict[str, Any], problem: str
) -> None:
    _write(folder / "other.json", {**FOLLOWED, **change})
    done = planproof("verify", "verdict.json", "other.json")
    assert done.code == 1
    assert done.out.startswith("rejected: verdict.json\n  ")
    assert problem in done.out


def test_a_tampered_verdict_is_rejected(
    planproof: CommandLine, folder: Path, verdict: dict[str, Any]
) -> None:
    verdict["steps"][0]["evidence"][0]["quote"] = "never \x1b[2J said"
    _write(folder / "tampered.json", verdict)
    done = planproof("verify", "tampered.json", "case.json")
    assert done.code == 1
    assert "\x1b" not in done.out


def test_many_verdicts_are_verified_against_their_cases(
    planproof: CommandLine, folder: Path
) -> None:
    cases = _write(folder / "cases.jsonl", FOLLOWED, IDLE, PLANLESS, [])
    planproof("run", cases, "-o", "verdicts.jsonl")
    done = planproof("verify", "verdicts.jsonl", cases)
    assert (done.code, done.out) == (0, "4 of 4 accepted\n")
    _write(folder / "swapped.jsonl", IDLE, FOLLOWED, PLANLESS, [])
    done = planproof("verify", "verdicts.jsonl", "swapped.jsonl")
    assert done.code == 1
    assert "rejected: verdicts.jsonl, line 1\n" in done.out
    assert done.out.endswith("2 of 4 accepted\n")


def test_verdicts_and_cases_must_be_as_many(planproof: CommandLine, folder: Path) -> None:
    cases = _write(folder / "cases.jsonl", FOLLOWED, IDLE, PLANLESS)
    planproof("run", cases, "-o", "verdicts.jsonl")
    fewer = _write(folder / "fewer.jsonl", FOLLOWED, IDLE)
    assert "no case for this verdict" in planproof("verify", "verdicts.jsonl", fewer).out
    more = _write(folder / "more.jsonl", FOLLOWED, IDLE, PLANLESS, IDLE)
    assert "no verdict for this case" in planproof("verify", "verdicts.jsonl", more).out


def test_a_score_on_a_line_without_a_case_is_rejected(
    planproof: CommandLine, folder: Path, verdict: dict[str, Any]
) -> None:
    _write(folder / "verdicts.jsonl", verdict, verdict)
    _write(folder / "cases.jsonl", FOLLOWED, [])
    done = planproof("verify", "verdicts.jsonl", "cases.jsonl")
    assert done.code == 1
    assert "the case can't be read: cases.jsonl, line 2: must be an object" in done.out


def test_a_readable_case_is_not_invalid_input(planproof: CommandLine, folder: Path) -> None:
    _write(folder / "empty.jsonl", {**FOLLOWED, "execution_trace": ""})
    planproof("run", "empty.jsonl", "-o", "verdicts.jsonl")
    assert planproof("verify", "verdicts.jsonl", "empty.jsonl").code == 0
    done = planproof("verify", "verdicts.jsonl", "case.json")
    assert done.code == 1
    assert "the outcome is invalid_input, but the case can be read" in done.out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "invalid JSON"),
        ("{", "invalid JSON"),
        ('{"score": 1.0, "reason": "x"}', "not a full verdict"),
        ("[]\n[]", "line 1: not a full verdict"),
    ],
)
def test_an_invalid_verdict_exits_with_2(
    planproof: CommandLine, folder: Path, content: str, message: str
) -> None:
    (folder / "bad.json").write_text(content, encoding="utf-8")
    done = planproof("verify", "bad.json", "case.json")
    assert done.code == 2
    assert message in done.err


@pytest.mark.usefixtures("verdict")
def test_files_that_can_not_be_read_exit_with_2(planproof: CommandLine, folder: Path) -> None:
    assert planproof("verify", "verdict.json", "nowhere.json").code == 2
    assert planproof("verify", "nowhere.json", "case.json").code == 2
    (folder / "empty.json").write_text("", encoding="utf-8")
    assert planproof("verify", "verdict.json", "empty.json").code == 2


def test_a_verdict_of_schema_1_is_read_with_a_note(
    planproof: CommandLine, folder: Path, verdict: dict[str, Any]
) -> None:
    del verdict["schema"]
    for finding in (*verdict["steps"], *verdict["extras"]):
        finding["sureness"] = finding.pop("confidence")  # words: exempt
    _write(folder / "old.json", verdict)
    done = planproof("verify", "old.json", "case.json")
    assert (done.code, done.out) == (0, "accepted: old.json\n")
    assert "1 of 1 verdicts were written with schema version 1" in done.err
