"""Usage of a model: calls, tokens and cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """What was asked and what it cost in US dollars; None where the price is not known.

    What came from the cache is no call and costs nothing. `cached_tokens` are those of `tokens_in`
    that the provider had kept.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    from_cache: int = 0

    def __add__(self, other: Usage) -> Usage:
        costs = [usage.cost for usage in (self, other) if usage.calls or usage.cost is not None]
        known = [cost for cost in costs if cost is not None]
        return Usage(
            calls=self.calls + other.calls,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost=sum(known) if known and len(known) == len(costs) else None,
            from_cache=self.from_cache + other.from_cache,
        )
