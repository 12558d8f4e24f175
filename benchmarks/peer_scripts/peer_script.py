"""Shared code of the peer scripts: judge all cases concurrently, and print the results.

`ask_NAME.py CASES ADDRESS SECONDS [warm]`: a file of cases, the address of a model, a timeout.
`warm` judges one case before the measurement, so that lazy imports are not counted. The last line
printed is a JSON object: the wall `seconds`, and for each case a score, the name of an error, or
null if it did not finish.
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
    """Judge every case with the judge made for the address of the model."""
    file, address, seconds, *warm = sys.argv[1:]
    cases: list[dict[str, Any]] = json.loads(Path(file).read_text(encoding="utf-8"))
    output = asyncio.run(_ask_all(cases, make_judge(address), float(seconds), warm=bool(warm)))
    print(json.dumps(output), flush=True)
    os._exit(0)  # do not wait for threads of unfinished requests


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
