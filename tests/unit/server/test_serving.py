"""The server as it is started: a case in, a verdict out, and an end in good order."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest

from planproof.evaluation import evaluate
from tests.command_line import CommandLine
from tests.serving import served
from tests.small_cases import FOLLOWED, PLAN, TASK


def test_a_server_judges_as_the_command_line_does(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server:
        answer = httpx2.post(f"{server.url}/v1/verdicts", json=FOLLOWED)
        assert answer.status_code == 200
        expected = evaluate(task=TASK, plan=PLAN, trace=FOLLOWED["execution_trace"], id="followed")
        assert answer.json() == json.loads(json.dumps(expected.full()))
        assert server.end() == 0


def test_a_store_that_keeps_nothing_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = CommandLine(monkeypatch, capsys)("serve", "--store", "none", "--port", "0")
    assert done.code == 2
    assert "a server needs a database" in done.err
