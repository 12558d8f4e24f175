"""How long a question is tried for: what is asked again, when, and when it is given up."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from time import monotonic

from planproof.core.model import Cause
from planproof.llm.provider_errors import Again, Failure

_MOST_COMPLAINTS = 2
_MOST_FAULTS = 5
"""Server errors and lost connections; more of them means that the provider is down."""
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 20.0
_SHARE = 0.75
"""Of the time that is left, for one attempt: what hangs can then be tried once more."""
_TOO_LITTLE_TO_SHARE = 10.0


@dataclass(slots=True)
class Patience:
    """Decides after every failed attempt whether there is another one."""

    deadline: float
    last: Failure | None = field(default=None, init=False)
    complaints: int = field(default=0, init=False)
    faults: int = field(default=0, init=False)

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - monotonic()

    @property
    def for_one_attempt(self) -> float:
        """Seconds that the next attempt may take."""
        left = self.left
        return left * _SHARE if left > _TOO_LITTLE_TO_SHARE else left

    def wait_after(self, failure: Failure) -> float | None:
        """Seconds to wait before the next attempt; None to give up."""
        # An attempt that the deadline cut short says less than what went wrong before it.
        if self.last is None or failure.cause is not Cause.TIMEOUT:
            self.last = failure
        if failure.again is Again.WITH_COMPLAINT:
            self.complaints += 1
            return 0.0 if self.complaints <= _MOST_COMPLAINTS and self.left > 0 else None
        if failure.again is Again.NO:
            return None
        if failure.cause is Cause.RATE_LIMITED:
            return 0.0  # the gate makes everybody wait, this one too
        self.faults += 1
        if self.faults >= _MOST_FAULTS:
            return None
        longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (self.faults - 1))
        wait = max(failure.wait or 0.0, longest * random.uniform(0.5, 1.0))  # noqa: S311 - jitter
        return wait if wait < self.left else None

    def gave_up(self) -> Failure:
        """What to say when the time is up: what went wrong last, if anything did."""
        return self.last or Failure(Cause.TIMEOUT, "there was no answer before the deadline")
