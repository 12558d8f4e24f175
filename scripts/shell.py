"""Run the commands of the docs like a shell, in a copy of docs/examples.

Plain `planproof` commands run in this process, because starting Python would take most of the time.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from planproof.cli import main
from scripts.doc_blocks import EXAMPLES, ROOT

_PROMPT_LINE = re.compile(r"^[\w-]*\$ +(?P<command>.+)$", re.MULTILINE)
_PLAIN_COMMAND = re.compile(r"planproof(?: +(?:[\w./:=,@%+-]+|'[^']*'))* *(?:#.*)?")
# 80 columns, no colour, and none of the user's settings.
_ENVIRONMENT = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1"}


def extract_commands(text: str, language: str) -> list[str]:
    """Return the commands of a block: its lines, or in a console block the lines with a prompt."""
    if language == "console":
        return [match["command"] for match in _PROMPT_LINE.finditer(text)]
    joined = text.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The exit code of a command and its output on both streams."""

    exit_code: int
    output: str


@dataclass(frozen=True, slots=True)
class Shell:
    """Runs commands in a folder."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def with_examples(cls, folder: Path, environment: dict[str, str] | None = None) -> Shell:
        """Return a shell in a folder with docs/examples and a link to the examples."""
        shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
        (folder / "examples").symlink_to(ROOT / "examples")
        return cls(folder, environment or {})

    def run(self, command: str) -> CommandResult:
        """Run a command and return its result."""
        path = (str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))
        settings = {"PATH": os.pathsep.join(path), **_ENVIRONMENT, **self.environment}
        ran = self._run_in_process if _PLAIN_COMMAND.fullmatch(command) else self._run_in_shell
        return ran(command, settings)

    def _run_in_process(self, command: str, settings: dict[str, str]) -> CommandResult:
        printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        code: object = 0
        with (
            chdir(self.folder),
            patch.dict(os.environ, settings, clear=True),
            patch.object(sys, "argv", shlex.split(command, comments=True)),
            patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO())),
            redirect_stdout(printed),
            redirect_stderr(printed),
        ):
            try:
                main()
            except SystemExit as end:
                code = end.code or 0
        printed.seek(0)
        assert isinstance(code, int)
        return CommandResult(code, printed.read())

    def _run_in_shell(self, command: str, settings: dict[str, str]) -> CommandResult:
        process = subprocess.run(
            command,
            shell=True,
            cwd=self.folder,
            env=settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return CommandResult(process.returncode, process.stdout.decode())
