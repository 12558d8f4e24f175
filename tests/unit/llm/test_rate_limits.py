from __future__ import annotations

import asyncio
from time import monotonic

import pytest

from planproof.llm.rate_limits import DeadlineExceeded, RateLimiter
from tests.timeouts import TIMEOUT_SECONDS


def soon(seconds: float = TIMEOUT_SECONDS) -> float:
    return monotonic() + seconds


async def through(
    gate: RateLimiter, seconds: float = 0.0, *, tokens: int = 0, within: float = TIMEOUT_SECONDS
) -> float:
    async with gate.acquire(tokens, soon(within)):
        at = monotonic()
        await asyncio.sleep(seconds)
    return at


async def most_at_once(gate: RateLimiter, visitors: int) -> int:
    inside = most = 0

    async def visit() -> None:
        nonlocal inside, most
        async with gate.acquire(0, soon()):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.05)
            inside -= 1

    await asyncio.gather(*(visit() for _ in range(visitors)))
    return most


def test_concurrency_is_limited() -> None:
    assert asyncio.run(most_at_once(RateLimiter(3), 20)) == 3


@pytest.mark.parametrize(("rpm", "tpm"), [(600, None), (None, 600)])
def test_requests_and_tokens_are_spread_over_the_minute(rpm: int | None, tpm: int | None) -> None:
    async def all_of_them() -> list[float]:
        gate, began = RateLimiter(10, rpm=rpm, tpm=tpm), monotonic()
        times = await asyncio.gather(*(through(gate, tokens=1) for _ in range(4)))
        return sorted(time - began for time in times)

    # Later than this they may be, on a busy machine, but no earlier.
    times = asyncio.run(all_of_them())
    assert all(time >= place * 0.095 for place, time in enumerate(times))


def test_after_a_refusal_everybody_waits() -> None:
    async def all_of_them() -> tuple[float, list[float]]:
        gate = RateLimiter(10)
        gate.back_off(0.3)
        began = monotonic()
        return began, await asyncio.gather(*(through(gate) for _ in range(5)))

    began, times = asyncio.run(all_of_them())
    assert min(times) - began >= 0.29


def test_after_a_refusal_half_as_many_at_once_until_it_goes_well() -> None:
    async def all_of_them() -> tuple[int, int]:
        gate = RateLimiter(8)
        for _ in range(5):
            gate.back_off(0.0001)
        slow = await most_at_once(gate, 8)
        for _ in range(40):
            gate.record_success()
        return slow, await most_at_once(gate, 8)

    slow, again = asyncio.run(all_of_them())
    assert slow < 8
    assert again == 8


def test_a_turn_after_the_deadline_is_not_waited_for() -> None:
    async def late() -> None:
        gate = RateLimiter(1, rpm=1 / 60)
        await through(gate)
        # Its turn comes in an hour.
        await through(gate)

    with pytest.raises(DeadlineExceeded):
        asyncio.run(late())


def test_a_pause_beyond_the_deadline_is_not_waited_for() -> None:
    async def late() -> None:
        gate = RateLimiter(1)
        gate.back_off(600)
        await through(gate)

    with pytest.raises(DeadlineExceeded):
        asyncio.run(late())


def test_a_cancelled_waiter_frees_its_slot() -> None:
    async def some_leave() -> list[float]:
        gate, others_have_left = RateLimiter(1), asyncio.Event()

        async def stay() -> None:
            async with gate.acquire(0, soon()):
                await others_have_left.wait()

        first = asyncio.create_task(stay())
        await asyncio.sleep(0)
        leaving = [asyncio.create_task(through(gate, within=0.05)) for _ in range(3)]
        cancelled = asyncio.create_task(through(gate))
        staying = [asyncio.create_task(through(gate)) for _ in range(3)]
        await asyncio.sleep(0)
        cancelled.cancel()
        left = await asyncio.gather(*leaving, cancelled, return_exceptions=True)
        assert [type(each) for each in left] == [DeadlineExceeded] * 3 + [asyncio.CancelledError]
        others_have_left.set()
        await first
        return await asyncio.gather(*staying)

    assert len(asyncio.run(some_leave())) == 3


def test_without_a_word_it_is_about_a_second() -> None:
    async def late() -> None:
        gate = RateLimiter(4)
        gate.back_off(None)
        await through(gate, within=0.5)

    with pytest.raises(DeadlineExceeded):
        asyncio.run(late())
