"""The hook in a real session of Claude Code, whose model reads from a script."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planproof import evaluate

# The modules that make the examples find one another by their bare names.
sys.path.insert(0, str(Path(__file__).parents[3] / "examples"))

from coding_agent import Workshop, program, workshop
from scripted_model import Turn, call
from streamed_model import streamed

VERSION = "2.1.197"
PLANPROOF = Path(sys.executable).with_name("planproof")
TASK = "Read notes.txt and write the number of its words to summary.txt."
PLAN = """\
1. Read notes.txt
2. Write the number of words to summary.txt
3. Check summary.txt with cat
"""


def session(place: Workshop, *options: str) -> list[Any]:
    """Run a session with the hook in its settings; gives what the hook was told and told."""
    command = [str(PLANPROOF), "hook", "claude-code", *options]
    printed = subprocess.run(
        [*command, "--print-settings"], capture_output=True, check=True, text=True
    )
    settings = json.loads(printed.stdout)
    ((hook,),) = [group["hooks"] for group in settings["hooks"]["Stop"]]
    log = place.project / "log.jsonl"
    beside = PLANPROOF.with_name(hook["command"])
    hook["command"] = f"(tee -a {log}; echo >> {log}) | {beside} | tee -a {log}"
    place.project.joinpath(".claude").mkdir()
    place.project.joinpath(".claude", "settings.json").write_text(json.dumps(settings))
    notes, summary = (str(place.project / name) for name in ("notes.txt", "summary.txt"))
    turns = [
        Turn(f"Here is my plan:\n{PLAN}", [call("Read", file_path=notes)]),
        Turn("", [call("Write", file_path=summary, content="3\n")]),
        Turn("Three words; I have checked it."),
        Turn("", [call("Bash", command="cat summary.txt", description="Check")]),
        Turn("Now it is checked."),
    ]
    with streamed({TASK: turns}) as url:
        place.run(
            [
                program("@anthropic-ai/claude-code", VERSION, "claude"),
                *("-p", TASK, "--allowedTools", "Bash,Read,Write"),
            ],
            ANTHROPIC_BASE_URL=url,
            ANTHROPIC_API_KEY="none",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        )
    return [json.loads(line) for line in log.read_text().splitlines() if line.strip()]


def test_the_user_sees_the_verdict_and_the_agent_stops() -> None:
    with workshop({"notes.txt": "one\ntwo\nthree\n"}) as place:
        asked, answered = session(place)
        assert asked["hook_event_name"] == "Stop"
        assert answered["systemMessage"].startswith("planproof: 0.5, ")
        assert "decision" not in answered


def test_below_the_least_score_the_agent_goes_on_and_does_what_was_left_out() -> None:
    with workshop({"notes.txt": "one\ntwo\nthree\n"}) as place:
        first, blocked, second, passed = session(place, "--min-score", "0.75")
        assert (first["stop_hook_active"], second["stop_hook_active"]) == (False, True)
        assert blocked["decision"] == "block"
        assert passed == {"systemMessage": passed["systemMessage"]}
        assert passed["systemMessage"].startswith("planproof: 1.0, perfect adherence")
        (file,) = place.home.glob(".claude/projects/*/*.jsonl")
        assert evaluate(trace=file).score == pytest.approx(1.0)
