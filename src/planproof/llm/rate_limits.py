"""Rate limits and retries for model requests: concurrency, requests and tokens per minute."""

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
"""Seconds. If a provider asks for a longer pause, cases soon fail at their deadlines."""
_SHORTEST_PAUSE = 0.25
_LONGEST_GUESS = 30.0


class DeadlineExceeded(Exception):
    """The request could only be sent after the deadline."""


class RateLimiter:
    """Limits requests to one provider; all requests to it go through the same limiter.

    Requests and tokens per minute are limited by pacing: each request delays the next one, so the
    limit holds in every minute. After a rate-limit error no request starts for as long as the
    provider asks, and the concurrency is halved; every success raises it a little again.
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
        """Wait for a free slot and the pace; `DeadlineExceeded` if that takes too long."""
        await self._acquire_slot(deadline)
        try:
            await self._wait_for_pace(tokens, deadline)
            yield
        finally:
            self._active -= 1
            self._wake_waiters()

    def back_off(self, retry_after: float | None) -> None:
        """Slow down after a rate-limit error; `retry_after` is the provider's wait, if given."""
        now = monotonic()
        if now >= self._closed_until:
            # One burst causes many errors at once; count it once.
            self._strikes += 1
            self._allowed = max(1.0, self._allowed / 2)
        if not retry_after:  # "retry at once" in a rate-limit error is no information
            jitter = random.uniform(0.75, 1.0)  # noqa: S311 - spreads retries
            retry_after = min(_LONGEST_GUESS, 2.0 ** (self._strikes - 1)) * jitter
        pause = min(max(retry_after, _SHORTEST_PAUSE), _LONGEST_PAUSE)
        self._closed_until = max(self._closed_until, now + pause)

    def record_success(self) -> None:
        """Allow a little more concurrency after a successful request."""
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
                    self._wake_waiters()  # the slot was just given to this waiter, which is leaving
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
            # Jitter, or all waiting requests would start at the same instant.
            spread = random.uniform(0, 0.1) if opens > scheduled else 0.0  # noqa: S311 - jitter
            await asyncio.sleep(opens - now + spread)
            now = monotonic()


_MAX_FEEDBACK_RETRIES = 2
_MAX_FAULTS = 5
"""Server errors and lost connections; after this many the provider is considered down."""
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 20.0
_ATTEMPT_SHARE = 0.75
"""Share of the remaining time for one attempt, so that a hanging one can be retried."""
_MIN_SECONDS_TO_SHARE = 10.0


@dataclass(slots=True)
class RetryPolicy:
    """Decides after every failed attempt whether and when to retry."""

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
        """Timeout in seconds of the next attempt."""
        left = self.seconds_left
        return left * _ATTEMPT_SHARE if left > _MIN_SECONDS_TO_SHARE else left

    def compute_delay(self, failure: Failure) -> float | None:
        """Return the seconds to wait before the next attempt; None to give up."""
        # A timeout says less than the error before it, so keep the earlier error.
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
            return 0.0  # the rate limiter delays all requests, including this one
        self.fault_count += 1
        if self.fault_count >= _MAX_FAULTS:
            return None
        longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (self.fault_count - 1))
        wait = max(failure.retry_after or 0.0, longest * random.uniform(0.5, 1.0))  # noqa: S311 - jitter
        return wait if wait < self.seconds_left else None

    def get_final_failure(self) -> Failure:
        """Return the failure to report: the last one, or a timeout if there was none."""
        return self.last_failure or Failure(Cause.TIMEOUT, "no answer before the deadline")
