"""Usage of a model: calls, tokens and cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls, tokens, and the cost in US dollars (None if the price is unknown).

    Answers from planproof's own cache count as `from_cache`, not as calls, and cost nothing.
    `cached_tokens` is the part of `tokens_in` that the provider had cached.
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
