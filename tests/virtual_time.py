"""A clock that only sleeping moves, for waits that would make tests slow, and deadlines flaky."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest


@dataclass(slots=True)
class VirtualTime:
    """Seconds that pass when somebody sleeps, one sleeper at a time, and at no other time."""

    now: float = 1_000.0

    def __call__(self) -> float:
        """Return the time, in the place of `time.time` or `time.monotonic`."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass, in the place of `time.sleep`."""
        self.now += max(0.0, seconds)

    def patch_asyncio(self, patch: pytest.MonkeyPatch, *clocks: str) -> None:
        """Let `asyncio.sleep` take no time, and these functions tell the virtual one."""
        really = asyncio.sleep

        async def sleep(seconds: float) -> None:
            self.sleep(seconds)
            await really(0)

        patch.setattr(asyncio, "sleep", sleep)
        for clock in clocks:
            patch.setattr(clock, self)
