"""Run the command line of a coding agent in a new project, without the user's settings."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from normalization import APART, BEGAN

_PROGRAMS = Path(__file__).parents[1] / ".venvs" / "npm"
_SHOWN = "/home/dev/project"
_DURATION = re.compile(r"((?:total)?[dD]uration_?[mM]s\"?: ?)\d+")
_REMINDER = re.compile(r"(?:\\n)*<system-reminder>[^<]*</system-reminder>(?:\\n)*")


@dataclass(frozen=True)
class Workshop:
    """A folder for the project, and one that is the home directory of the agent."""

    project: Path
    home: Path

    def run(self, command: Sequence[str | Path], **environment: str) -> None:
        """Run the agent; its messages are in its session files."""
        own = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TZ": "UTC", **environment}
        subprocess.run(
            command,
            cwd=self.project,
            env=own,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=120,
        )

    def lines(self, pattern: str) -> list[Any]:
        """Return the lines of the session files, the shortest path first.

        The project is renamed; durations and system reminders are left out.
        """
        files = sorted(self.home.glob(pattern), key=lambda file: len(file.parts))
        text = "\n".join(file.read_text(encoding="utf-8").strip() for file in files)
        text = _REMINDER.sub("", _DURATION.sub(r"\g<1>0", text.replace(str(self.project), _SHOWN)))
        return _space_times([json.loads(line) for line in text.split("\n")])


def _space_times(lines: list[Any]) -> list[Any]:
    """Return the lines with distinct times, in the same order."""
    timed = sorted(
        (line for line in lines if "timestamp" in line), key=lambda line: line["timestamp"]
    )
    for rank, line in enumerate(timed):
        line["timestamp"] = f"{(BEGAN + rank * APART).isoformat(timespec='milliseconds')[:-6]}Z"
    return lines


@contextmanager
def workshop(files: Mapping[str, str]) -> Iterator[Workshop]:
    """Create a workshop with these files in the project."""
    with tempfile.TemporaryDirectory() as folder:
        place = Workshop(Path(folder).resolve() / "project", Path(folder).resolve() / "home")
        place.project.mkdir()
        place.home.mkdir()
        for name, content in files.items():
            place.project.joinpath(name).write_text(content, encoding="utf-8")
        yield place


def program(package: str, version: str, name: str) -> Path:
    """Return the program of an npm package; install it if necessary."""
    folder = _PROGRAMS / f"{package.replace('/', '-').lstrip('@')}-{version}"
    found = folder / "node_modules" / ".bin" / name
    if not found.exists():
        folder.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--silent", "--no-save", "--prefix", folder]
        subprocess.run([*install, f"{package}@{version}"], check=True)
        installer = folder / "node_modules" / package / "install.cjs"
        if installer.exists():
            subprocess.run(["node", installer], check=True, capture_output=True)
    return found
