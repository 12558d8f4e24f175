"""A command line in an empty directory, with a case in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.small_cases import FOLLOWED


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
