"""The settings that `planproof hook claude-code` prints, run as Claude Code would run them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from scripts.doc_blocks import find_blocks_for
from tests.claude_code_session import stop, write_session
from tests.command_line import CommandLine


def test_the_settings_that_are_printed_run_it(planproof: CommandLine, tmp_path: Path) -> None:
    printed = planproof("hook", "claude-code", "--min-score", "0.75", "--print-settings").out
    (shown,) = find_blocks_for(__file__)
    assert json.loads(printed) == json.loads(shown.text)
    ((hook,),) = [group["hooks"] for group in json.loads(printed)["hooks"]["Stop"]]
    program, *arguments = hook["command"].split()
    done = subprocess.run(
        [Path(sys.executable).with_name(program), *arguments],
        input=stop(write_session(tmp_path)),
        capture_output=True,
        check=True,
        timeout=hook["timeout"],
    )
    assert json.loads(done.stdout)["decision"] == "block"
