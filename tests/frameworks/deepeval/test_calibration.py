"""DeepEval's own metric measured by `planproof calibrate`, as the docs show it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from scripts.doc_blocks import find_blocks_for
from tests.frameworks.refunds import FOLLOWED, PLAN, TASK
from tests.scripted_model import ModelRequest, ScriptedModel


def answer(asked: ModelRequest) -> str:
    """A model that is content with anything."""
    fields = (asked.schema or {}).get("properties", {})
    if "score" in fields:
        return json.dumps({"score": 1.0, "reason": "So it seems."})
    return json.dumps({"task": TASK} if "task" in fields else {"plan": PLAN})


def followed() -> str:
    events: list[Any] = [{"kind": "message", "actor": "user", "text": TASK}]
    events += [
        {"kind": "action", "name": name, "arguments": given, "output": "done"}
        for name, given in FOLLOWED[:2]
    ]
    case = {"id": "refund", "user_task": TASK, "agent_plan": PLAN[:2], "execution_trace": events}
    return json.dumps(case) + "\n"


def test_the_docs(tmp_path: Path) -> None:
    module, command = find_blocks_for(__file__)
    (tmp_path / "deepeval_judge.py").write_text(module.text, encoding="utf-8")
    (tmp_path / "followed.jsonl").write_text(followed(), encoding="utf-8")
    with ScriptedModel(answer) as server:
        settings = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none"}
        done = subprocess.run(
            f"{command.text.strip()} --format json",
            shell=True,
            cwd=tmp_path,
            env=os.environ | settings | {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["judge"] == "deepeval_judge:plan_adherence"
    assert figures["passed"] == {"hits": 1, "of": 1}
    assert figures["flaws"]["missing"]["caught"] == {"hits": 0, "of": 1}
    assert figures["unscored"]["hits"] == 0
    # The task, the plan and the score are asked for of every variant.
    assert len(server.calls) == 3 * len(figures["rows"])
