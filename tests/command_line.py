"""Running the command line inside the test's own process, in a folder of its own."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from planproof.cli import main
from tests.small_cases import FOLLOWED

# Typer makes the tree of commands for every call; in a process of many calls one will do.
_command_of = cache(typer.main.get_command)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command left behind."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Runs `planproof` with arguments, as a shell would."""

    patch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str | Path, stdin: bytes = b"") -> CommandResult:
        self.patch.setattr(typer.main, "get_command", _command_of)
        self.patch.setattr(sys, "argv", ["planproof", *map(str, arguments)])
        self.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self.capture.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        code: Any = ended.value.code
        out, err = self.capture.readouterr()
        assert "Traceback" not in err
        return CommandResult(code or 0, out, err)


@pytest.fixture
def planproof(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> CommandLine:
    return CommandLine(monkeypatch, capsys)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "case.json").write_text(json.dumps(FOLLOWED), encoding="utf-8")
    return tmp_path
