"""Chance, against formulas and enumerations that are independent of the code."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import comb, sqrt

import pytest

from planproof.runs.statistics import Interval, bootstrap_interval, mcnemar


@pytest.mark.parametrize(
    ("broke", "mended", "p"),
    [
        # 2 * sum of C(n, i) for i up to the smaller, over 2 ** n; never more than 1.
        (0, 0, 1.0),
        (1, 0, 1.0),
        (0, 2, 0.5),
        (3, 3, 1.0),
        (5, 0, 2 / 32),
        (0, 6, 2 / 64),
        (6, 1, 2 * (1 + 7) / 128),
        (1, 9, 2 * (1 + 10) / 1024),
        (10, 2, 2 * (1 + 12 + 66) / 4096),
        (4, 5, 1.0),
    ],
)
def test_the_exact_test_of_mcnemar(broke: int, mended: int, p: float) -> None:
    assert mcnemar(broke, mended) == p


def test_it_is_two_sided_and_the_same_from_either_side() -> None:
    for broke, mended in product(range(12), repeat=2):
        assert mcnemar(broke, mended) == mcnemar(mended, broke)
        as_far = [
            comb(broke + mended, side)
            for side in range(broke + mended + 1)
            if abs(2 * side - broke - mended) >= abs(broke - mended)
        ]
        assert mcnemar(broke, mended) == sum(as_far) / 2 ** (broke + mended)


def test_many_changes() -> None:
    # The normal approximation with continuity correction: z = (|b - c| - 1) / sqrt(b + c) = 1.98.
    assert mcnemar(1_300, 1_199) == pytest.approx(0.0456, abs=0.001)
    assert 0 < mcnemar(0, 1_000) < 1e-300


def _exact_interval(values: list[int]) -> Interval:
    """Every resample there is, each as likely as the others."""
    sums = sorted(map(sum, product(values, repeat=len(values))))
    tail = int(len(sums) * 0.025)
    return Interval(sums[tail] / len(values), sums[-1 - tail] / len(values))


@pytest.mark.parametrize(
    "values",
    [
        [-25, 0],
        [0, 0, 25],
        [-50, 0, 25, 25],
        [-100, 0, 0, 0, 50],
        [-25, -25, 0, 25, 50, 100],
    ],
)
def test_few_values_give_the_interval_of_all_resamples(values: list[int]) -> None:
    assert bootstrap_interval(Counter(values)) == _exact_interval(values)


def test_many_values_give_the_interval_of_the_normal_distribution() -> None:
    counts = {-50: 120, -25: 400, 0: 2_900, 25: 500, 75: 80}
    size = sum(counts.values())
    mean = sum(value * count for value, count in counts.items()) / size
    variance = sum(count * (value - mean) ** 2 for value, count in counts.items()) / size
    half = 1.96 * sqrt(variance / size)
    found = bootstrap_interval(counts)
    assert found is not None
    assert found.low == pytest.approx(mean - half, abs=half * 0.1)
    assert found.high == pytest.approx(mean + half, abs=half * 0.1)


def test_the_same_counts_give_the_same_interval_in_any_order() -> None:
    counts = {25: 3, 0: 9, -25: 4}
    assert bootstrap_interval(counts) == bootstrap_interval(dict(reversed(counts.items())))
    assert bootstrap_interval(counts) == bootstrap_interval({**counts, 50: 0})


def test_values_that_do_not_differ_leave_no_doubt_and_one_alone_says_nothing() -> None:
    assert bootstrap_interval({25: 40}) == Interval(25, 25)
    assert bootstrap_interval({25: 1}) is None
    assert bootstrap_interval({}) is None
