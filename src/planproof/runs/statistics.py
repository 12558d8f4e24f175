"""Statistics for comparing runs: bootstrap interval of a mean, and McNemar's test.

Uses the standard library: both need little code, and a statistics library takes longer to import
than everything else that compares two runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

RESAMPLES = 4_000
CONFIDENCE = 0.95
_SEED = 20_250_101


@dataclass(frozen=True, slots=True)
class Interval:
    """95% confidence interval of a mean."""

    low: float
    high: float


def bootstrap_interval(counts: Mapping[int, int]) -> Interval | None:
    """Return the percentile bootstrap interval of the mean; `counts` maps values to frequencies.

    Deterministic for the same counts. None for fewer than two values, which say nothing about the
    variance.
    """
    occurring = [(value, count) for value, count in sorted(counts.items()) if count]
    size = sum(counts.values())
    if size < 2:
        return None
    random = Random(_SEED)  # noqa: S311 - not a secret: the same counts must give the same interval
    sums = sorted(_draw_resampled_sum(occurring, size, size, random) for _ in range(RESAMPLES))
    tail = int(RESAMPLES * (1 - CONFIDENCE) / 2)
    return Interval(sums[tail] / size, sums[-1 - tail] / size)


def _draw_resampled_sum(
    occurring: Sequence[tuple[int, int]], size: int, draws: int, random: Random
) -> int:
    """Return the sum of `draws` draws with replacement from `size` values, given by frequency.

    Instead of drawing one by one: the number of draws in one half of the values is binomial, and so
    on within the halves. So 20,000 cases take hardly longer than 200.
    """
    if len(occurring) == 1:
        return draws * occurring[0][0]
    half = len(occurring) // 2
    left, right = occurring[:half], occurring[half:]
    in_left = sum(count for _, count in left)
    drawn = _draw_binomial(draws, in_left, size, random)
    total = _draw_resampled_sum(left, in_left, drawn, random) if drawn else 0
    if rest := draws - drawn:
        total += _draw_resampled_sum(right, size - in_left, rest, random)
    return total


def _draw_binomial(trials: int, part: int, whole: int, random: Random) -> int:
    """Return the number of successes in `trials` trials with probability `part / whole`.

    Every trial draws a number below 1, one binary digit at a time, until it differs from the
    probability; the digits of all trials that are still equal are drawn at once. Exact for any
    probability.
    """
    successes = 0
    while trials and part:
        part *= 2
        ones = random.getrandbits(trials).bit_count()
        if part >= whole:
            part -= whole
            successes += trials - ones
            trials = ones
        else:
            trials -= ones
    return successes


def mcnemar(broke: int, mended: int) -> float:
    """Return the exact two-sided p-value of McNemar's test.

    Null hypothesis: a case that passes in only one run is equally likely to pass in either.
    """
    changed = broke + mended
    ways, tail = 1, 0
    for successes in range(min(broke, mended) + 1):
        tail += ways
        ways = ways * (changed - successes) // (successes + 1)
    # Integers up to the division: exact, and no underflow.
    return min(1.0, (2 * tail) / (1 << changed))
