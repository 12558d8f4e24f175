"""How fast a model is asked: so many at once, so many a minute, and slower when told so."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic

from planproof.core.model import Cause
from planproof.llm.provider_errors import Failure, RetryMode

_LONGEST_PAUSE = 300.0
"""Seconds. A provider that asks for more has the run's cases fail one by one, and soon."""
_SHORTEST_PAUSE = 0.25
_LONGEST_GUESS = 30.0


class DeadlineExceeded(Exception):
    """A turn would come only after the deadline."""


class RateLimiter:
    """Lets questions through to one provider; everybody who asks it goes through the same gate.

    Requests and tokens a minute are kept by pacing: each question moves the time of the next one
    on, so no minute ever holds more than it may. When the provider says that it is too much, nobody
    is let through for as long as it asks, and half as many at once after that; every success lets
    a little more through again.
    """

    def __init__(
        self, concurrency: int, *, rpm: float | None = None, tpm: float | None = None
    ) -> None:
        self._max_concurrency = max(1, concurrency)
        self._allowed = float(self._max_concurrency)
        self._active = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._seconds_a_request = 60 / rpm if rpm else 0.0
        self._seconds_a_token = 60 / tpm if tpm else 0.0
        self._next_request = 0.0
        self._next_token = 0.0
        self._closed_until = 0.0
        self._strikes = 0

    @asynccontextmanager
    async def acquire(self, tokens: int, deadline: float) -> AsyncGenerator[None, None]:
        """Wait for a place and for the right time; `TooLate` when that is past the deadline."""
        await self._acquire_slot(deadline)
        try:
            await self._wait_for_pace(tokens, deadline)
            yield
        finally:
            self._active -= 1
            self._wake_waiters()

    def back_off(self, retry_after: float | None) -> None:
        """The provider refused for being asked too often, and may have said how long to wait."""
        now = monotonic()
        if now >= self._closed_until:
            # One burst brings many refusals at once; it is one reason to slow down, not many.
            self._strikes += 1
            self._allowed = max(1.0, self._allowed / 2)
        if not retry_after:  # "at once" from somebody who refuses says as much as nothing
            jitter = random.uniform(0.75, 1.0)  # noqa: S311 - spreads retries
            retry_after = min(_LONGEST_GUESS, 2.0 ** (self._strikes - 1)) * jitter
        pause = min(max(retry_after, _SHORTEST_PAUSE), _LONGEST_PAUSE)
        self._closed_until = max(self._closed_until, now + pause)

    def record_success(self) -> None:
        """A question was answered: it may go a little faster again."""
        self._strikes = 0
        self._allowed = min(float(self._max_concurrency), self._allowed + 1 / self._allowed)
        self._wake_waiters()

    async def _acquire_slot(self, deadline: float) -> None:
        while self._active >= int(self._allowed):
            slot = asyncio.get_running_loop().create_future()
            self._waiting.append(slot)
            try:
                async with asyncio.timeout(deadline - monotonic()):
                    await slot
            except BaseException as error:
                if slot in self._waiting:
                    self._waiting.remove(slot)
                else:
                    self._wake_waiters()  # the place had just been given, to somebody who leaves
                if isinstance(error, TimeoutError):
                    raise DeadlineExceeded from error
                raise
        self._active += 1

    def _wake_waiters(self) -> None:
        free = int(self._allowed) - self._active
        while free > 0 and self._waiting:
            slot = self._waiting.popleft()
            if not slot.done():
                slot.set_result(None)
                free -= 1

    async def _wait_for_pace(self, tokens: int, deadline: float) -> None:
        now = monotonic()
        scheduled = max(now, self._next_request, self._next_token)
        if scheduled > deadline:
            raise DeadlineExceeded
        self._next_request = scheduled + self._seconds_a_request
        self._next_token = scheduled + self._seconds_a_token * tokens
        while (opens := max(scheduled, self._closed_until)) > now:
            if opens > deadline:
                raise DeadlineExceeded
            # A little apart from one another, or all of them would come back in the same instant.
            spread = random.uniform(0, 0.1) if opens > scheduled else 0.0  # noqa: S311 - jitter
            await asyncio.sleep(opens - now + spread)
            now = monotonic()


_MAX_FEEDBACK_RETRIES = 2
_MAX_FAULTS = 5
"""Server errors and lost connections; more of them means that the provider is down."""
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 20.0
_ATTEMPT_SHARE = 0.75
"""Of the time that is left, for one attempt: what hangs can then be tried once more."""
_MIN_SECONDS_TO_SHARE = 10.0


@dataclass(slots=True)
class RetryPolicy:
    """Decides after every failed attempt whether there is another one."""

    deadline: float
    last_failure: Failure | None = field(default=None, init=False)
    feedback_count: int = field(default=0, init=False)
    fault_count: int = field(default=0, init=False)

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - monotonic()

    @property
    def attempt_timeout(self) -> float:
        """Seconds that the next attempt may take."""
        left = self.seconds_left
        return left * _ATTEMPT_SHARE if left > _MIN_SECONDS_TO_SHARE else left

    def compute_delay(self, failure: Failure) -> float | None:
        """Seconds to wait before the next attempt; None to give up."""
        # An attempt that the deadline cut short says less than what went wrong before it.
        if self.last_failure is None or failure.cause is not Cause.TIMEOUT:
            self.last_failure = failure
        if failure.retry is RetryMode.WITH_FEEDBACK:
            self.feedback_count += 1
            return (
                0.0
                if self.feedback_count <= _MAX_FEEDBACK_RETRIES and self.seconds_left > 0
                else None
            )
        if failure.retry is RetryMode.NO:
            return None
        if failure.cause is Cause.RATE_LIMITED:
            return 0.0  # the gate makes everybody wait, this one too
        self.fault_count += 1
        if self.fault_count >= _MAX_FAULTS:
            return None
        longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (self.fault_count - 1))
        wait = max(failure.retry_after or 0.0, longest * random.uniform(0.5, 1.0))  # noqa: S311 - jitter
        return wait if wait < self.seconds_left else None

    def final_failure(self) -> Failure:
        """What to say when the time is up: what went wrong last, if anything did."""
        return self.last_failure or Failure(
            Cause.TIMEOUT, "there was no answer before the deadline"
        )
