"""Many pieces of work at once, their results in order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from planproof.background import wait_for
from planproof.many import in_order


class Counted:
    """Work that takes its time, and counts how much of it goes on at once."""

    def __init__(self) -> None:
        self.now = self.most = self.done = 0

    async def one(self, number: int) -> int:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.02 if number % 5 == 0 else 0.001)
        self.now -= 1
        self.done += 1
        return number


def test_results_come_in_order_and_never_too_many_at_once() -> None:
    counted = Counted()
    assert [*in_order(map(counted.one, range(40)), 4)] == [*range(40)]
    assert 1 < counted.most <= 4


def test_what_is_under_way_is_called_off_when_nobody_waits_for_it() -> None:
    async def endless(number: int) -> int:
        await asyncio.sleep(3600 if number else 0)
        return number

    results: Iterator[int] = in_order(map(endless, range(3)), 3)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined] # a generator has it
    assert wait_for(asyncio.sleep(0, "the loop goes on")) == "the loop goes on"


def test_an_error_reaches_whoever_waits() -> None:
    async def faulty() -> int:
        raise ValueError("of all things")

    with pytest.raises(ValueError, match="of all things"):
        wait_for(faulty())
