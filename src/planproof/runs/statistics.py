"""Whether a difference could be chance: an interval for a mean, and a test of pass and fail.

Written with the standard library: both need little, and a library for them costs more to import
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
    """Where a mean lies with the confidence of 95 in 100."""

    low: float
    high: float


def bootstrap_interval(counts: Mapping[int, int]) -> Interval | None:
    """The percentile bootstrap interval of the mean of values that occur so often.

    The same counts give the same interval. There is none for fewer than two values: one value
    says nothing of how far others would be from it.
    """
    occurring = [(value, count) for value, count in sorted(counts.items()) if count]
    size = sum(counts.values())
    if size < 2:
        return None
    random = Random(_SEED)  # noqa: S311 - no secret: the same counts shall give the same interval
    sums = sorted(_draw_resampled_sum(occurring, size, size, random) for _ in range(RESAMPLES))
    tail = int(RESAMPLES * (1 - CONFIDENCE) / 2)
    return Interval(sums[tail] / size, sums[-1 - tail] / size)


def _draw_resampled_sum(
    occurring: Sequence[tuple[int, int]], size: int, draws: int, random: Random
) -> int:
    """The sum of so many draws with replacement from values that occur so often, `size` in all.

    Not drawn one after another: how many of the draws fall into one half of the values is
    binomial, and so on within the halves. So 20,000 cases take hardly longer than 200.
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
    """How many of so many trials succeed, where each does with the chance `part / whole`.

    Every trial draws a number below 1, binary digit by digit, until it differs from the chance in
    one; the digits of all trials that are still equal are drawn at once. Exact for any chance.
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
    """The exact two-sided p-value of McNemar's test.

    If nothing had changed, a case that passes in one run only would be as likely to do so in the
    one as in the other.
    """
    changed = broke + mended
    ways, tail = 1, 0
    for successes in range(min(broke, mended) + 1):
        tail += ways
        ways = ways * (changed - successes) // (successes + 1)
    # Whole numbers up to the division: exact, and no float is too small for it.
    return min(1.0, (2 * tail) / (1 << changed))
