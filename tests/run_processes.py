"""`planproof run` in processes of their own, which can be killed; ready in no time.

They are forked from one that has everything imported: twenty starts would take a minute otherwise.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.small_cases import FOLLOWED, IDLE, PLANLESS

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    ["planproof.cli.app", "planproof.runs.running", "planproof.runs.store.sqlite", "psycopg"]
)


def data_set(path: Path, count: int, *, task: str = "Tidy up folder") -> Path:
    """So many cases, every one different, of which some can't be judged or read."""
    kinds: list[dict[str, Any]] = [FOLLOWED, IDLE, PLANLESS, FOLLOWED]
    lines = [
        json.dumps({**kinds[n % 4], "id": f"case-{n}", "user_task": f"{task} {n}."})
        if n % 50
        else "{broken"
        for n in range(count)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def started(folder: Path, store: str, *arguments: str | Path) -> BaseProcess:
    """`planproof run` with these arguments, begun in a folder, its words in `told.txt` there."""
    process = _CONTEXT.Process(target=_run, args=(folder, store, tuple(map(str, arguments))))
    process.start()
    return process


def ended(process: BaseProcess) -> int | None:
    """Wait for its end, and say how it was."""
    process.join(120)
    return process.exitcode


def _run(folder: Path, store: str, arguments: tuple[str, ...]) -> None:
    from planproof.cli import main

    os.chdir(folder)
    os.environ["PLANPROOF_STORE"] = store
    words = os.open("told.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(words, 1)
    os.dup2(words, 2)
    sys.argv = ["planproof", "run", *arguments]
    main()
