"""`planproof hook claude-code`: what Claude Code tells it, and what it is told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from planproof import evaluate
from tests.claude_code_session import EXAMPLES, stop, write_session
from tests.command_line import CommandLine, CommandResult
from tests.virtual_time import VirtualTime


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return write_session(tmp_path)


def parse_output(done: CommandResult) -> Any:
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_the_user_sees_the_verdict_and_nothing_is_blocked(
    planproof: CommandLine, session: Path
) -> None:
    answer = parse_output(planproof("hook", "claude-code", stdin=stop(session)))
    whole = evaluate(trace=EXAMPLES / "claude-code" / "trace.jsonl")
    assert whole.score == 0.25
    assert list(answer) == ["systemMessage"]
    assert answer["systemMessage"].startswith("planproof: 0.25, weak adherence: 3 of 4 steps")
    assert whole.reason in answer["systemMessage"]


def test_below_the_least_score_the_agent_goes_on_once(
    planproof: CommandLine, session: Path
) -> None:
    command = ("hook", "claude-code", "--min-score", "0.5")
    answer = parse_output(planproof(*command, stdin=stop(session)))
    assert answer["decision"] == "block"
    assert "step 4" in answer["reason"]
    again = parse_output(planproof(*command, stdin=stop(session, stop_hook_active=True)))
    assert list(again) == ["systemMessage"]
    enough = parse_output(
        planproof("hook", "claude-code", "--min-score", "0.25", stdin=stop(session))
    )
    assert list(enough) == ["systemMessage"]


def test_a_configured_least_score_does_not_block(planproof: CommandLine, session: Path) -> None:
    (session.parent / "planproof.toml").write_text("min_score = 1.0\n")
    done = planproof("hook", "claude-code", stdin=stop(session))
    assert list(parse_output(done)) == ["systemMessage"]
    assert str(session.parent / "planproof.toml") in done.err


def test_each_to_do_list_is_in_force_until_the_next(planproof: CommandLine, session: Path) -> None:
    def line(number: int, kind: str, *content: dict[str, Any]) -> str:
        message = {"role": kind, "id": f"m{number}", "content": list(content)}
        return json.dumps({"type": kind, "uuid": f"{number}", "sessionId": "s", "message": message})

    def listed(number: int, file: str) -> list[str]:
        todos = [{"content": f"Read {file}", "status": "pending"}]
        planned = {"id": f"t{number}", "name": "TodoWrite", "input": {"todos": todos}}
        read = {"id": f"r{number}", "name": "Read", "input": {"file_path": file}}
        return [
            line(number, "user", {"type": "text", "text": f"Please read {file}."}),
            line(number + 1, "assistant", {"type": "tool_use", **planned}),
            line(number + 2, "assistant", {"type": "tool_use", **read}),
        ]

    session.write_text("\n".join(listed(1, "a.txt") + listed(11, "b.txt")) + "\n")
    shutil.rmtree(session.with_suffix(""))
    answer = parse_output(planproof("hook", "claude-code", stdin=stop(session)))
    assert answer["systemMessage"] == ("planproof: 1.0, perfect adherence: 2 of 2 steps executed.")
    command = ("hook", "claude-code", "--plan-in-force", "first")
    assert "major extra" in parse_output(planproof(*command, stdin=stop(session)))["systemMessage"]


def test_without_a_plan_and_at_other_events_nothing_is_said(
    planproof: CommandLine, session: Path
) -> None:
    command = ("hook", "claude-code", "--min-score", "1")
    other = planproof(*command, stdin=stop(session, hook_event_name="SubagentStop"))
    assert (other.code, other.out) == (0, "")
    first = session.read_text(encoding="utf-8").splitlines()[2]
    session.write_text(first + "\n", encoding="utf-8")
    shutil.rmtree(session.with_suffix(""))
    done = planproof(*command, stdin=stop(session))
    assert (done.code, done.out) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        (["claude-code"], b"not json"),
        (["claude-code"], b"[]"),
        (["claude-code"], b'{"transcript_path": "nowhere.jsonl"}'),
        (["claude-code"], b'{"transcript_path": "~nobody-here/x.jsonl"}'),
        (["claude-code"], b'{"transcript_path": "a\\u0000b"}'),
        (["claude-code", "--min-score", "7"], b"{}"),
        (["claude-code", "--nonsense"], b"{}"),
        (["nobody"], b"{}"),
        ([], b"{}"),
    ],
)
def test_no_mistake_keeps_an_agent_from_stopping(
    planproof: CommandLine, arguments: list[str], stdin: bytes
) -> None:
    done = planproof("hook", *arguments, stdin=stdin)
    assert done.code == 1
    assert done.err or not arguments


def test_a_truncated_character_at_the_end_is_accepted(
    planproof: CommandLine, session: Path
) -> None:
    done = planproof("hook", "claude-code", stdin=stop(session, last_assistant_message="\ud83d"))
    assert parse_output(done)["systemMessage"].startswith("planproof: 0.25")


def test_last_words_that_are_not_written_yet_are_waited_for(
    planproof: CommandLine, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = session.read_text(encoding="utf-8").splitlines()
    (last,) = [line for line in lines if "I have checked it" in line]
    lines.remove(last)
    session.write_text("\n".join(lines) + "\n", encoding="utf-8")

    clock = VirtualTime()

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        with session.open("a", encoding="utf-8") as file:
            file.write(last + "\n")

    monkeypatch.setattr("planproof.integrations.claude_code_hook.time.monotonic", clock)
    monkeypatch.setattr("planproof.integrations.claude_code_hook.time.sleep", sleep)
    words = "Three words; summary.txt says so, and I have checked it."
    answer = parse_output(
        planproof("hook", "claude-code", stdin=stop(session, last_assistant_message=words))
    )
    assert "only claimed" in answer["systemMessage"]
