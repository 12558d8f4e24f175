"""How a model is asked: what decides its answers, how much at once, and what may be spent."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class SpendingLimit:
    """What a run has spent, and what is under way, against the most that it may spend (US dollars).

    Every model that is opened with the same settings draws on the same purse.
    """

    limit: float | None = None
    spent: float = 0.0
    reserved: float = 0.0

    def reserve(self, estimate: float) -> bool:
        """Set money aside for a call; False when that could go over the limit."""
        if self.limit is not None and self.spent + self.reserved + estimate > self.limit:
            return False
        self.reserved += estimate
        return True

    def settle(self, estimate: float, cost: float | None) -> None:
        """Replace what was set aside by what it came to, as far as that is known."""
        self.reserved = max(0.0, self.reserved - estimate)
        self.spent += cost or 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Settings for every question to a model.

    `rpm` and `tpm` are requests and tokens a minute. `cache` is the file that answers are kept in;
    None keeps none.
    """

    temperature: float = 0.0
    seed: int = 0
    concurrency: int = 8
    rpm: float | None = None
    tpm: float | None = None
    cache: Path | None = None
    spending: SpendingLimit = field(default_factory=SpendingLimit)
