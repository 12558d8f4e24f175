"""Ask once for each distinct plan: other cases with the same plan wait for the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Generic, TypeVar

from planproof.core.model import Cause, ModelFailed
from planproof.core.plan import Plan

_MAX_PLANS = 10_000
"""How many answers are kept; a server may see any number of plans."""

Value = TypeVar("Value")


class AnswersByPlan(Generic[Value]):
    """What a model said about each plan, for all cases of a judge."""

    def __init__(self) -> None:
        self._values: dict[Plan, Value] = {}
        self._locks: dict[Plan, asyncio.Lock] = {}

    def find(self, plan: Plan) -> Value | None:
        """Return the answer for a plan; None if it is not known yet."""
        return self._values.get(plan)

    async def get(
        self, plan: Plan, ask: Callable[[], Awaitable[Value]], *, deadline: float
    ) -> tuple[Value, bool]:
        """Return the answer for a plan, and whether it was asked for just now.

        If asking fails, the next case that waits asks for itself. `ModelFailed` if the monotonic
        clock reaches `deadline` while waiting for another case.
        """
        if plan in self._values:
            return self._values[plan], False
        lock = self._locks.setdefault(plan, asyncio.Lock())
        try:
            async with asyncio.timeout(max(0.0, deadline - monotonic())):
                await lock.acquire()
        except TimeoutError as error:
            detail = "another case with the same plan got no answer in time"
            raise ModelFailed(Cause.TIMEOUT, detail) from error
        try:
            if plan in self._values:
                return self._values[plan], False
            value = await ask()
            self._values[plan] = value
            self._locks.pop(plan, None)  # those that wait for it find the value
            while len(self._values) > _MAX_PLANS:
                del self._values[next(iter(self._values))]
            return value, True
        finally:
            lock.release()
