"""Settings for requests to a model: sampling, concurrency, rate limits, cache and spending."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class SpendingLimit:
    """Money spent and reserved (US dollars), and the limit on their sum.

    Models opened with the same settings share one limit.
    """

    limit: float | None = None
    spent: float = 0.0
    reserved: float = 0.0

    def reserve(self, estimate: float) -> bool:
        """Reserve money for a call; return False if that could exceed the limit."""
        if self.limit is not None and self.spent + self.reserved + estimate > self.limit:
            return False
        self.reserved += estimate
        return True

    def settle(self, estimate: float, cost: float | None) -> None:
        """Replace a reservation with the actual cost, if known."""
        self.reserved = max(0.0, self.reserved - estimate)
        self.spent += cost or 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Settings for every question to a model.

    `rpm` and `tpm` are requests and tokens per minute. `cache` is the file of cached answers; None
    disables the cache.
    """

    temperature: float = 0.0
    seed: int = 0
    concurrency: int = 8
    rpm: float | None = None
    tpm: float | None = None
    cache: Path | None = None
    spending: SpendingLimit = field(default_factory=SpendingLimit)
