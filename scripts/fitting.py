"""Fit the weights of the affinity: logistic regression with the sign of each weight held.

A pair of step and event is right when the label says that the event belongs to the step. A weight
may never let less evidence look better, so each is kept on its side of zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from planproof.checking.similarity import SIGNS, Weights, features
from scripts.bench import Labelled

Array: TypeAlias = npt.NDArray[np.float64]
_ROUNDS = 400
_RATE = 0.1
_RIDGE = 3e-4


class Pairs:
    """Every pair of a step and a labelled event, with its features, by group."""

    def __init__(self, cases: Iterable[Labelled]) -> None:
        rows: list[tuple[float, ...]] = []
        right: list[bool] = []
        groups: list[str] = []
        for case in cases:
            if case.gold is None:
                continue
            found = features(case.units, case.demands)
            for unit, step in case.gold.items():
                for other in range(len(case.demands)):
                    rows.append(found[unit][other])
                    right.append(other == step)
                    groups.append(case.group)
        self._rows: Array = np.array(rows, dtype=np.float64)
        self._right: Array = np.array(right, dtype=np.float64)
        self._groups = np.array(groups)

    def weights(self, without: str | None = None) -> Weights:
        """The weights fitted on all groups, or on all but one."""
        kept = self._groups != without
        found = logistic(self._rows[kept], self._right[kept], np.array(list(SIGNS.values())))
        return Weights(tuple(round(float(w), 3) for w in found[:-1]), round(float(found[-1]), 3))


def logistic(rows: Array, right: Array, signs: npt.NDArray[np.int_]) -> Array:
    """Weights and, last, the bias; a weight whose sign would be wrong is zero (0: any sign)."""
    size = rows.shape[1] + 1
    table: Array = np.ones((len(rows), size))
    table[:, :-1] = rows
    weights: Array = np.array([0.0] * size)
    mean: Array = np.array([0.0] * size)
    spread: Array = np.array([0.0] * size)
    for turn in range(1, _ROUNDS + 1):
        chance = 1 / (1 + np.exp(-(table @ weights)))
        slope = table.T @ (chance - right) / len(right)
        slope[:-1] += _RIDGE * weights[:-1]
        mean = 0.9 * mean + 0.1 * slope
        spread = 0.999 * spread + 0.001 * slope**2
        step = mean / (1 - 0.9**turn) / (np.sqrt(spread / (1 - 0.999**turn)) + 1e-8)
        weights = weights - _RATE * step
        weights[:-1] = np.where(signs * weights[:-1] < 0, 0.0, weights[:-1])
    return weights


def likelihood(
    rows: list[tuple[float, ...]], right: list[bool], names: tuple[str, ...]
) -> dict[str, float]:
    """The weights of signs by which findings were right or not, any sign of weight allowed."""
    # One more of each keeps a share away from certainty.
    table: Array = np.array([*rows, *[np.mean(rows, axis=0)] * 2], dtype=np.float64)
    table = table.reshape(len(rows) + 2, len(names))
    labels: Array = np.array([*right, True, False], dtype=np.float64)
    found = logistic(table, labels, np.zeros(len(names), dtype=np.int_))
    return {
        "bias": round(float(found[-1]), 3),
        **{name: round(float(value), 3) for name, value in zip(names, found, strict=False)},
    }


def by_group(cases: Iterable[Labelled], fitted: Callable[[str], Weights]) -> dict[str, Weights]:
    """For each group the weights that were fitted without it."""
    return {group: fitted(group) for group in dict.fromkeys(case.group for case in cases)}
