"""`planproof watch`: a trace that is still being written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planproof.cli import watch as watching
from tests.command_line import CommandLine
from tests.trace_builders import did
from tests.virtual_time import VirtualTime

PLAN = "1. Read the file report-12.txt\n2. Delete the file draft-7.txt\n"
READ = did("read_file", "12 lines", path="report-12.txt")
DELETE = did("delete_file", "gone", path="draft-7.txt")
CAKE = did("bake_cake", "in the oven", size="large")


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.md"
    path.write_text(PLAN, "utf-8")
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


def encode_lines(*events: dict[str, object]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> VirtualTime:
    made = VirtualTime()
    monkeypatch.setattr(watching.time, "monotonic", made)
    monkeypatch.setattr(watching.time, "sleep", made.sleep)
    return made


def test_the_plan_is_ticked_off_while_the_trace_is_written(
    planproof: CommandLine,
    plan: Path,
    trace: Path,
    clock: VirtualTime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cake = encode_lines(CAKE)
    coming = iter((encode_lines(READ), cake[:10], cake[10:], encode_lines(DELETE)))

    def sleep(seconds: float) -> None:
        """Let something be written whenever the command sleeps."""
        clock.sleep(seconds)
        with trace.open("a", encoding="utf-8") as file:
            file.write(next(coming, ""))

    monkeypatch.setattr(watching.time, "sleep", sleep)
    done = planproof("watch", trace, "--plan", plan, "--until-quiet", "1.5")
    assert done.code == 0
    assert {
        "plan: 2 steps",
        "e1: step 1 executed: Read the file report-12.txt",
        "e2: proven, major: no step can cover the call to bake_cake",
        "best score still possible: 0.5",
        "e3: step 2 executed: Delete the file draft-7.txt",
    } <= set(done.out.splitlines())
    assert "partial adherence" in done.out
    assert f"watching {trace}" in done.err


def test_a_score_that_is_out_of_reach_ends_it(
    planproof: CommandLine, plan: Path, trace: Path
) -> None:
    trace.write_text(encode_lines(CAKE), "utf-8")
    done = planproof("watch", trace, "--plan", plan, "--min-score", "0.75")
    assert done.code == 1
    assert planproof("watch", trace, "--plan", plan, "--until-quiet", "0").code == 0


def test_ctrl_c_ends_it_with_the_verdict(
    planproof: CommandLine, plan: Path, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(seconds: float) -> None:
        assert seconds > 0
        raise KeyboardInterrupt

    monkeypatch.setattr(watching.time, "sleep", interrupted)
    trace.write_text(encode_lines(READ, DELETE), "utf-8")
    done = planproof("watch", trace, "--plan", plan)
    assert done.code == 0
    assert "perfect adherence" in done.out


def test_on_a_terminal_the_plan_is_drawn(
    planproof: CommandLine, plan: Path, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    trace.write_text(encode_lines(READ, CAKE), "utf-8")
    done = planproof("watch", trace, "--plan", plan, "--until-quiet", "0")
    assert "next" in done.out
    assert "best score still possible" in done.out
    assert "\x1b[" in done.out


def test_without_a_plan_it_waits_for_one(planproof: CommandLine, trace: Path) -> None:
    trace.write_text(encode_lines(READ), "utf-8")
    done = planproof("watch", trace, "--until-quiet", "0")
    assert done.code == 3
    assert "there is no plan" in done.out


@pytest.mark.usefixtures("clock")
def test_what_can_not_be_read_yet_is_said_and_waited_for(
    planproof: CommandLine, plan: Path, trace: Path
) -> None:
    trace.write_text(encode_lines({**READ, "kind": "action", "nonsense": 1}), "utf-8")
    done = planproof("watch", trace, "--plan", plan, "--until-quiet", "0.5")
    assert done.code == 2
    assert done.err.count("can't read the trace yet") == 1
    assert "is not a field of an event" in done.err


@pytest.mark.parametrize("where", ["nowhere/trace.jsonl", "absent.jsonl"])
def test_a_file_that_never_comes_is_an_error(
    planproof: CommandLine, tmp_path: Path, where: str
) -> None:
    done = planproof("watch", tmp_path / where, "--until-quiet", "0")
    assert done.code == 2
    assert "error" in done.err
