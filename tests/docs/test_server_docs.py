"""What the docs of the server show works on a server."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from scripts.doc_blocks import find_blocks_for
from scripts.shell import Shell, extract_commands
from tests.server_processes import ServerProcess, run_server

SHOWN = "http://127.0.0.1:7526"
BLOCKS = find_blocks_for(__file__)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess, None, None]:
    with run_server(tmp_path_factory.mktemp("shown") / "runs.db") as started:
        yield started


def test_python_is_run(
    server: ServerProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(Shell.with_examples(tmp_path).folder)
    [block] = [each for each in BLOCKS if each.language == "python"]
    exec(compile(block.text.replace(SHOWN, server.url), block.location, "exec"), {})
    assert capsys.readouterr().out.startswith("0.5 ")


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
def test_commands_are_answered(server: ServerProcess, tmp_path: Path) -> None:
    folder = Shell.with_examples(tmp_path).folder
    shown = [each for each in BLOCKS if each.language == "sh"]
    answers: list[Any] = []
    for command in (command for block in shown for command in extract_commands(block.text, "sh")):
        ran = subprocess.run(
            command.replace(SHOWN, server.url),
            shell=True,
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        told = ran.stdout.rpartition("data: ")[2]
        answers.append(json.loads(told))
        assert "advice" not in answers[-1], command
    verdict, begun, over, run, cases, first = answers
    assert verdict["score"] == 0.5
    assert begun["run"]["source"] == "nightly"
    assert over["over"] is True
    assert run["run"]["tags"] == {"branch": "main"}
    assert cases["total"] == len(cases["cases"])
    assert first["outcome"] == "scored"
