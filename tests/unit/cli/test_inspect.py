"""`planproof inspect`, and the picking of one trace among several."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import CommandLine
from tests.own_format import PROFILE as OWN_PROFILE
from tests.own_format import TRACE as OWN_TRACE
from tests.small_cases import FOLLOWED, PLAN, TASK, USER, called
from tests.unit.readers.inspect_logs import pack_log

TODOS = called(9, "write_todos", todos=[{"content": step, "status": "pending"} for step in PLAN])
PLANNED = [USER, *TODOS, *FOLLOWED["execution_trace"][1:]]


@pytest.fixture
def log(folder: Path) -> Path:
    (folder / "log.eval").write_bytes(pack_log())
    return folder / "log.eval"


def write_file(folder: Path, value: Any, name: str = "trace.json") -> str:
    (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return name


def test_a_trace_is_shown_as_it_was_understood(planproof: CommandLine, folder: Path) -> None:
    done = planproof("inspect", write_file(folder, PLANNED))
    assert (done.code, done.err) == (0, "")
    assert "read by openai-messages: 5 events (3 actions, 1 message, 1 bookkeeping)" in done.out
    assert "e1 user      message     Archive report 12 and mail it to Ann." in done.out
    assert 'e3 assistant action      read_file {"path": "report-12.txt"}' in done.out
    assert "plan: to-do list of the agent (assistant) at e2, before acting" in done.out
    assert "    3  Delete file draft-7.txt" in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines())


def test_a_trace_without_a_plan_says_what_was_looked_at(
    planproof: CommandLine, folder: Path
) -> None:
    done = planproof("inspect", write_file(folder, FOLLOWED["execution_trace"]))
    assert "none was found in the trace (searched 1 prompt, 0" in done.out


def test_a_case_is_shown_by_its_trace(planproof: CommandLine) -> None:
    done = planproof("inspect", "case.json")
    assert "case.json, execution_trace\n  read by openai-messages: 4 events" in done.out


def test_errors_and_sub_agents_are_marked(planproof: CommandLine, folder: Path) -> None:
    events = [
        {"id": "a", "kind": "action", "name": "Task", "actor": "lead", "text": "look"},
        {"id": "b", "kind": "action", "name": "ls", "parent": "a", "status": "error"},
    ]
    done = planproof("inspect", write_file(folder, {"events": events}))
    assert "a lead action Task look\n" in done.out
    assert "b      action   ✗ ls\n" in done.out


def test_a_long_trace_shows_its_head_and_its_tail(planproof: CommandLine, folder: Path) -> None:
    events = [{"kind": "action", "name": f"tool_{n}", "status": "error"} for n in range(100)]
    done = planproof("inspect", write_file(folder, events))
    assert "e14" in done.out
    assert "e15" not in done.out
    assert "78 more events, 78 errors" in done.out
    assert "e93" in done.out
    assert len(done.out.splitlines()) < 40


def test_skipped_records_are_listed_with_reasons(planproof: CommandLine, folder: Path) -> None:
    odd = [{"no": n} for n in range(3)]
    done = planproof("inspect", write_file(folder, [*FOLLOWED["execution_trace"] * 9, *odd]))
    assert "skipped 3 parts of the trace" in done.out
    assert "3 not a chat message, first at /63" in done.out


def test_an_unknown_format_is_said_to_be_one(planproof: CommandLine, folder: Path) -> None:
    done = planproof("inspect", write_file(folder, {"a": [{"b": 1}]}))
    assert "read by general (heuristic: unknown format): 0 events" in done.out


def test_secrets_are_masked_unless_asked_for(planproof: CommandLine, folder: Path) -> None:
    name = write_file(folder, called(1, "login", password="hunter2hunter2"))
    assert "hunter2" not in planproof("inspect", name).out
    assert "hunter2" in planproof("inspect", name, "--no-redact").out
    assert "hunter2" in planproof("inspect", name, "--format", "json").out


def test_the_native_form_gives_the_same_verdict(planproof: CommandLine, folder: Path) -> None:
    (folder / "task.txt").write_text(TASK, encoding="utf-8")
    write_file(folder, PLAN, "plan.json")
    planproof("inspect", write_file(folder, PLANNED), "--format", "json", "-o", "native.json")
    judged = [
        planproof(
            "judge", "--task", "task.txt", "--plan", "plan.json", "--trace", name, "-f", "json"
        )
        for name in ("trace.json", "native.json")
    ]
    assert judged[0] == judged[1]
    assert judged[0].code == 0


def test_several_traces_are_listed(planproof: CommandLine, log: Path) -> None:
    done = planproof("inspect", log.name)
    head, *rows = done.out.splitlines()
    assert head == "log.eval contains 3 traces; select one with --pick"
    assert [row.split()[:2] for row in rows] == [[str(n), f"task-{n}_epoch_1"] for n in (1, 2, 3)]
    assert rows[2].endswith("Find flag 3.")
    assert all(len(row) <= 80 for row in rows)


def test_a_listed_trace_that_can_not_be_read_says_why(planproof: CommandLine, folder: Path) -> None:
    (folder / "log.eval").write_bytes(pack_log({"samples/cut_epoch_1.json": b'{"messages": ['}))
    done = planproof("inspect", "log.eval")
    assert done.code == 0
    assert "cut_epoch_1" in done.out.splitlines()[4]
    assert "✗ is truncated or invalid JSON" in done.out


@pytest.mark.parametrize("wanted", ["2", "task-2_epoch_1"])
def test_one_of_several_is_picked(planproof: CommandLine, log: Path, wanted: str) -> None:
    done = planproof("inspect", log.name, "--pick", wanted)
    assert "log.eval#task-2_epoch_1" in done.out
    assert "Find flag 2." in done.out


def test_an_unknown_pick_is_an_error_with_suggestions(planproof: CommandLine, log: Path) -> None:
    done = planproof("inspect", log.name, "--pick", "task-2_epoch_2")
    assert done.code == 2
    assert "none of the 3 traces has the id or the number `task-2_epoch_2`" in done.err
    assert "Did you mean `task-2_epoch_1`?" in done.err


def test_one_of_several_is_judged_and_verified(
    planproof: CommandLine, folder: Path, log: Path
) -> None:
    (folder / "task.txt").write_text("Find flag 2.", encoding="utf-8")
    (folder / "plan.md").write_text("1. Run ls in bash\n", encoding="utf-8")
    files = ("--task", "task.txt", "--plan", "plan.md", "--trace", log.name)
    without = planproof("judge", *files)
    assert without.code == 2
    assert "contains 3 traces: task-1_epoch_1, task-2_epoch_1" in without.err
    done = planproof("judge", *files, "--pick", "2", "-f", "full", "-o", "verdict.json")
    assert done.code == 0
    accepted = planproof("verify", "verdict.json", log.name, "--pick", "2")
    assert accepted.out == "accepted: verdict.json\n"
    rejected = planproof("verify", "verdict.json", log.name, "--pick", "3")
    assert "/inputs/trace: the digest does not match this trace" in rejected.out
    assert planproof("verify", "verdict.json", log.name).code == 2


def test_pick_goes_with_a_trace(planproof: CommandLine) -> None:
    done = planproof("judge", "case.json", "--pick", "1")
    assert done.code == 2
    assert "--pick requires --trace" in done.err


@pytest.mark.parametrize("form", ["lines", "array"])
def test_all_traces_of_a_file_are_run_and_verified(
    planproof: CommandLine, folder: Path, form: str
) -> None:
    skipped = [*PLANNED[:-4], PLANNED[-1]]
    traces = [
        {"instance_id": name, "messages": messages}
        for name, messages in (("a", PLANNED), ("b", skipped), ("c", FOLLOWED["execution_trace"]))
    ]
    text = json.dumps(traces) if form == "array" else "\n".join(map(json.dumps, traces))
    (folder / "traces").write_text(text, encoding="utf-8")
    done = planproof("run", "traces", "-o", "verdicts.jsonl")
    assert done.code == 3  # the last one has no plan
    lines = (folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    verdicts = [json.loads(line) for line in lines]
    assert [verdict["id"] for verdict in verdicts] == ["a", "b", "c"]
    assert [verdict["outcome"] for verdict in verdicts] == ["scored", "scored", "no_plan"]
    assert verdicts[0]["score"] == 1.0 > verdicts[1]["score"]
    assert planproof("verify", "verdicts.jsonl", "traces").out == "3 of 3 accepted\n"
    picked = planproof("verify", "verdicts.jsonl", "traces", "--pick", "a")
    assert "--pick requires a single verdict" in picked.err
    alone = planproof("judge", "--trace", "traces", "--pick", "b", "-f", "full")
    assert json.loads(alone.out)["score"] == verdicts[1]["score"]


def test_the_least_sure_records_are_shown_beside_what_became_of_them(
    planproof: CommandLine, folder: Path
) -> None:
    (folder / "p.yaml").write_text(OWN_PROFILE, encoding="utf-8")
    unknown = json.dumps({"k": "new", "t": "what is this?"})
    (folder / "run.jsonl").write_text(f"{OWN_TRACE}{unknown}\n", encoding="utf-8")
    done = planproof("inspect", "run.jsonl", "--profile", "p.yaml")
    assert "  least certain: the record, and what became of it\n" in done.out
    assert (
        "    L7:                                  │ skipped: no rule of the profile fi" in done.out
    )
    assert '    "k": "new", "t": "what is this?"     │\n' in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines())


def test_what_general_guessed_can_be_written_down(planproof: CommandLine, folder: Path) -> None:
    events = [{"tool": "ls", "args": {"p": n}, "output": "a"} for n in range(3)]
    done = planproof("inspect", write_file(folder, {"stuff": events}))
    assert "3 of 3 agent records became events. `planproof profile suggest FILE`" in done.out
    assert "guessed: action" in done.out


def test_a_page_shows_every_record_beside_its_events(planproof: CommandLine, folder: Path) -> None:
    path = write_file(folder, PLANNED)
    done = planproof("inspect", path, "--format", "html", "-o", "reading.html")
    assert (done.code, done.out) == (0, "")
    page = (folder / "reading.html").read_text("utf-8")
    assert page.count('<li id="r') == len(PLANNED)
    assert "<script" not in page
    assert "default-src" in page


def test_a_page_masks_secrets_and_escapes_text(planproof: CommandLine, folder: Path) -> None:
    secret = "sk-proj-" + "a1B2" * 10
    path = write_file(folder, [{"role": "user", "content": f"<b> {secret} \u202e"}])
    page = planproof("inspect", path, "--format", "html").out
    assert secret not in page
    assert "&lt;b&gt; sk-proj-[redacted] \\u202e" in page
    assert secret in planproof("inspect", path, "--format", "html", "--no-redact").out
