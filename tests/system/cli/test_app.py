"""Commands in processes of their own: pipes, terminals, and what is loaded."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from planproof.runs.run_records import RunState
from planproof.runs.store.open_store import open_store
from tests.run_builders import RUN, make_results
from tests.small_cases import FOLLOWED

PLANPROOF = [sys.executable, "-m", "planproof"]


def test_a_reader_of_the_output_may_leave(folder: Path) -> None:
    (folder / "cases.jsonl").write_text(f"{json.dumps(FOLLOWED)}\n" * 200, encoding="utf-8")
    with subprocess.Popen(
        [*PLANPROOF, "run", "cases.jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def _run_on_terminal(*arguments: str, **settings: str) -> str:
    """Run a command on a terminal, and return what it shows there."""
    leader, follower = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "PLANPROOF_STORE")}
    subprocess.run(
        [*PLANPROOF, *arguments],
        stdout=follower,
        check=True,
        env={**environment, "TERM": "xterm-256color", **settings},
    )
    os.close(follower)
    shown = os.read(leader, 100_000).decode(errors="replace")
    os.close(leader)
    return shown


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("settings", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_on_a_terminal_unless_it_is_unwanted(
    settings: dict[str, str], coloured: bool
) -> None:
    shown = _run_on_terminal("judge", "case.json", **settings)
    assert ("\x1b[1;92m" in shown) == coloured
    assert "perfect adherence" in shown


@pytest.mark.usefixtures("folder")
def test_runs_are_compared_in_colour_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANPROOF_STORE", raising=False)
    later = replace(RUN, id="20260102-030000-def456", created=RUN.created + timedelta(days=1))
    with closing(open_store()) as store:
        for run, score in ((RUN, 1.0), (later, 0.5)):
            store.begin(run)
            store.add(run.id, make_results({"a": score}), [])
            store.close_run(run.id, RunState.FINISHED)
    assert "\x1b[31m1 worse" in _run_on_terminal("compare", "previous", "latest")


@pytest.mark.usefixtures("folder")
def test_an_ascii_terminal_works() -> None:
    done = subprocess.run(
        [*PLANPROOF, "judge", "case.json"],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert b"perfect adherence" in done.stdout


def test_help_loads_neither_the_judges_nor_rich() -> None:
    script = (
        "import sys; from planproof.cli import main; sys.argv = ['planproof', '--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "loaded = {'rich', 'pydantic', 'asyncio', 'planproof.checking', 'planproof.readers'}\n"
        "sys.exit(str(loaded & set(sys.modules) or ''))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.stderr == b"\n"
