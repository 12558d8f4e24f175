"""`planproof run` in processes of their own, which can be killed; ready in no time.

They are forked from one that has everything imported: twenty starts would take a minute otherwise.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.small_cases import FOLLOWED, IDLE, PLANLESS

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "planproof.cli.app",
        "planproof.llm.client",
        "planproof.runs.execution",
        "planproof.runs.store.sqlite",
        "psycopg",
        "pydantic_ai.models.openai",
    ]
)


def write_data_set(path: Path, count: int, *, task: str = "Tidy up folder") -> Path:
    """Write N different cases, of which some can't be judged or read."""
    kinds: list[dict[str, Any]] = [FOLLOWED, IDLE, PLANLESS, FOLLOWED]
    lines = [
        json.dumps({**kinds[n % 4], "id": f"case-{n}", "user_task": f"{task} {n}."})
        if n % 50
        else "{broken"
        for n in range(count)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def start_run(
    folder: Path,
    store: str,
    *arguments: str | Path,
    largest_file: int | None = None,
    patience: float | None = None,
    settings: dict[str, str] | None = None,
) -> BaseProcess:
    """`planproof run` with these arguments, begun in a folder, its words in `told.txt` there.

    No file can grow beyond `largest_file` bytes; after `patience` seconds of work the run gets
    processes of its own; `settings` go into its environment.
    """
    words = tuple(map(str, arguments))
    given = {**(settings or {}), "PLANPROOF_STORE": store}
    process = _CONTEXT.Process(target=_run, args=(folder, words, largest_file, patience, given))
    process.start()
    return process


def wait_for_exit(process: BaseProcess) -> int | None:
    """Wait for its end, and say how it was."""
    process.join(120)
    return process.exitcode


def _run(
    folder: Path,
    arguments: tuple[str, ...],
    largest_file: int | None,
    patience: float | None,
    settings: dict[str, str],
) -> None:
    # Who starts the tests in the background has SIGINT ignored, here too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from planproof.cli import main
    from planproof.runs.engines import process_pool as processes

    if largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    if patience is not None:
        processes._POOL_START_SECONDS = patience  # pyright: ignore[reportPrivateUsage]
    os.chdir(folder)
    os.environ |= settings
    told = os.open("told.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(told, 1)
    os.dup2(told, 2)
    sys.argv = ["planproof", "run", *arguments]
    main()
