"""What the scripts here share: they ask about all cases at once, and print what came of it.

`ask_NAME.py CASES ADDRESS SECONDS [warm]`: a file of cases, a model's address, how long to wait.
`warm` asks once before the time begins, for what is imported late. The last line printed is a JSON
object: the wall `seconds`, and of each case a score, the error's name, or null where nothing came.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter
from typing import Any

AskFunction = Callable[[dict[str, Any]], Awaitable[float | None]]


def main(make_judge: Callable[[str], AskFunction]) -> None:
    """Ask about every case with what is opened for the model's address."""
    file, address, seconds, *warm = sys.argv[1:]
    cases: list[dict[str, Any]] = json.loads(Path(file).read_text(encoding="utf-8"))
    output = asyncio.run(_ask_all(cases, make_judge(address), float(seconds), warm=bool(warm)))
    print(json.dumps(output), flush=True)
    os._exit(0)  # threads of what never came would be waited for


async def _ask_all(
    cases: list[dict[str, Any]], ask: AskFunction, seconds: float, *, warm: bool
) -> dict[str, Any]:
    if warm:
        await ask(cases[0])
    began = perf_counter()
    tasks = [asyncio.ensure_future(ask(case)) for case in cases]
    await asyncio.wait(tasks, timeout=seconds)
    seconds_taken = perf_counter() - began
    return {"seconds": seconds_taken, "found": [_collect_result(task) for task in tasks]}


def _collect_result(task: asyncio.Future[float | None]) -> float | str | None:
    if not task.done():
        task.cancel()
        return None
    error = task.exception()
    if error is not None:
        return type(error).__name__
    score = task.result()
    return "no score" if score is None else float(score)
