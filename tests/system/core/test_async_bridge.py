"""The loop in the background when a process ends or is forked."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.timeouts import TIMEOUT_SECONDS

_LEFT_OPEN = """
import asyncio
from planproof.core.async_bridge import run_sync, submit

async def inside():
    try:
        yield
    finally:
        await asyncio.sleep(0)
        print("closed")

opened = inside()

async def enter():
    await anext(opened)

run_sync(enter())
{hanging}
"""
_HANGS = "submit(asyncio.sleep(600))"
_HOLDS_ON = """
async def stays():
    while True:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            pass
submit(stays())
"""


def _run(program: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *options, "-c", program]
    return subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=TIMEOUT_SECONDS
    )


@pytest.mark.parametrize("hanging", ["", _HANGS], ids=["idle", "running"])
def test_what_is_open_is_closed_when_the_process_ends(hanging: str) -> None:
    done = _run(_LEFT_OPEN.format(hanging=hanging), "-W", "error")

    assert (done.stdout, done.stderr, done.returncode) == ("closed\n", "", 0)


def test_a_task_that_ignores_cancellation_does_not_block_exit() -> None:
    assert _run(_LEFT_OPEN.format(hanging=_HOLDS_ON)).returncode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
def test_a_forked_process_has_a_loop_of_its_own() -> None:
    program = (
        "import os\nfrom planproof.core.async_bridge import run_sync\n"
        "async def two(): return 2\n"
        "run_sync(two())\n"
        "child = os.fork()\n"
        "if not child: os._exit(run_sync(two()))\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )

    assert _run(program).stdout == "2\n"
