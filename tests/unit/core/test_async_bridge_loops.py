"""Things that belong to one event loop, and turns on it."""

from __future__ import annotations

import asyncio

from planproof.core.async_bridge import LoopThrottle, OnePerLoop

WORKERS = 4


async def passes_of_workers(turns: LoopThrottle) -> list[int]:
    """In which pass of the loop each of some workers had its turn."""
    current = 0
    worked: list[int] = []

    async def counts() -> None:
        nonlocal current
        while len(worked) < WORKERS:
            current += 1
            await asyncio.sleep(0)

    async def works() -> None:
        await turns.wait()
        worked.append(current)

    await asyncio.gather(counts(), *(works() for _ in range(WORKERS)))
    return worked


def test_work_that_takes_long_is_spread_over_the_passes_of_a_loop() -> None:
    assert asyncio.run(passes_of_workers(LoopThrottle(max_seconds=0))) == [1, 2, 3, 4]


def test_short_work_is_done_in_one_pass() -> None:
    assert asyncio.run(passes_of_workers(LoopThrottle(max_seconds=3_600))) == [1, 1, 1, 1]


def test_each_loop_has_its_own() -> None:
    made = OnePerLoop(list[int])

    async def twice() -> tuple[list[int], list[int]]:
        return made.get(), made.get()

    first, again = asyncio.run(twice())
    other, _ = asyncio.run(twice())
    assert first is again
    assert first is not other
