"""How long a question is tried for: what is asked again, when, and when it is given up."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from time import monotonic

from planproof.core.model import Cause
from planproof.llm.provider_errors import Failure, RetryMode

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
