from __future__ import annotations

import asyncio

import pytest

from planproof.core.async_bridge import run_sync


async def _two() -> int:
    return 2


def test_work_is_awaited_from_inside_a_running_loop_too() -> None:
    async def inside() -> int:
        return run_sync(_two())

    assert (run_sync(_two()), asyncio.run(inside())) == (2, 2)


def test_waiting_on_the_own_loop_is_an_error_not_a_deadlock() -> None:
    async def on_the_loop() -> int:
        return run_sync(_two())

    with pytest.raises(RuntimeError, match="aevaluate"):
        run_sync(on_the_loop())
