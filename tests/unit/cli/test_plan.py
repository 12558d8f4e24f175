"""`planproof plan`, and `planproof judge` without a plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.command_line import CommandLine
from tests.trace_builders import asked, did, noted, trace

TODOS = noted("TodoWrite", todos=[{"content": "Read a.txt"}, {"content": "Delete b.txt"}])
LATER = noted("TodoWrite", todos=[{"content": "Read a.txt now"}, {"content": "Mail Ann"}])
REFUSED = {
    **noted("ExitPlanMode", plan="1. Burn all\n2. Leave"),
    "output": "The user doesn't want to proceed with this tool use.",
}
READ, DELETE = did("read_file", path="a.txt"), did("delete_file", path="b.txt")


def _write(folder: Path, *events: dict[str, Any]) -> str:
    (folder / "run.json").write_text(json.dumps(trace(*events)), encoding="utf-8")
    return "run.json"


def test_the_plan_is_shown(planproof: CommandLine, folder: Path) -> None:
    done = planproof("plan", _write(folder, asked("Tidy up."), REFUSED, TODOS, READ, LATER))
    assert done.code == 0
    assert done.out.splitlines() == [
        "to-do list of the agent at e3, before acting",
        "/events/2",
        "  1  Read a.txt",
        "  2  Delete b.txt",
        "replanned at e5",
        "  added    Mail Ann",
        "  dropped  Delete b.txt",
        "  renamed  Read a.txt",
        "       to  Read a.txt now",
        "rejected by the user at e2: the plan at e2",
        "  1  Burn all",
        "  2  Leave",
    ]


def test_the_plan_as_json(planproof: CommandLine, folder: Path) -> None:
    path = _write(folder, asked("Tidy up."), READ, TODOS)
    found = json.loads(planproof("plan", path, "--format", "json").out)
    assert found["plan"]["event"] == "e3"
    assert found["plan"]["before_acting"] is False
    assert [step["text"] for step in found["plan"]["steps"]] == ["Read a.txt", "Delete b.txt"]
    assert found["looked_at"] == {"prompts": 1, "messages": 0, "notes": 1, "calls": 1}


def test_no_plan_exits_with_3(planproof: CommandLine, folder: Path) -> None:
    done = planproof("plan", _write(folder, asked("Tidy up."), READ))
    assert done.code == 3
    assert "(searched 1 prompt, 0 messages, 0 notes and 1 call)" in done.out


def test_a_trace_alone_can_be_judged_and_verified(planproof: CommandLine, folder: Path) -> None:
    path = _write(folder, asked("Tidy up."), READ, TODOS, READ, DELETE)
    picture = planproof("judge", "--trace", path)
    assert picture.code == 0
    assert "plan: to-do list of the agent at e3, after acting began" in picture.out
    planproof("judge", "--trace", path, "-f", "full", "-o", "verdict.json")
    assert planproof("verify", "verdict.json", path).code == 0


def test_a_case_without_a_plan_is_judged_by_the_one_declared(
    planproof: CommandLine, folder: Path
) -> None:
    case = {"user_task": "Tidy up.", "execution_trace": trace(TODOS, READ, DELETE)}
    (folder / "bare.json").write_text(json.dumps(case), encoding="utf-8")
    done = planproof("judge", "bare.json", "-f", "full", "-o", "verdict.json")
    assert done.code == 0
    assert planproof("verify", "verdict.json", "bare.json").code == 0


def test_a_trace_without_a_plan_is_not_judged(planproof: CommandLine, folder: Path) -> None:
    done = planproof("judge", "--trace", _write(folder, asked("Tidy up."), READ), "-f", "json")
    assert done.code == 3
    assert json.loads(done.out)["score"] is None
