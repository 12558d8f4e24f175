"""Fit the probability that a finding is right: logistic regression."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
_ROUNDS = 400
_RATE = 0.1
_RIDGE = 3e-4


def _fit_logistic(rows: Array, labels: Array, times: Array) -> Array:
    """Return the weights and the bias; `times` says how often each row counts."""
    size = rows.shape[1] + 1
    table: Array = np.ones((len(rows), size))
    table[:, :-1] = rows
    weights: Array = np.array([0.0] * size)
    mean: Array = np.array([0.0] * size)
    spread: Array = np.array([0.0] * size)
    for turn in range(1, _ROUNDS + 1):
        chance = 1 / (1 + np.exp(-(table @ weights)))
        slope = table.T @ ((chance - labels) * times) / times.sum()
        slope[:-1] += _RIDGE * weights[:-1]
        mean = 0.9 * mean + 0.1 * slope
        spread = 0.999 * spread + 0.001 * slope**2
        step = mean / (1 - 0.9**turn) / (np.sqrt(spread / (1 - 0.999**turn)) + 1e-8)
        weights = weights - _RATE * step
    return weights


def fit_correctness(
    rows: list[tuple[float, ...]],
    is_right: list[bool],
    names: tuple[str, ...],
    counts: list[float] | None = None,
) -> dict[str, float]:
    """Return the weights of features that predict whether a finding is right, of any sign."""
    # One more example of each class keeps probabilities away from 0 and 1.
    table: Array = np.array([*rows, *[np.mean(rows, axis=0)] * 2], dtype=np.float64)
    table = table.reshape(len(rows) + 2, len(names))
    labels: Array = np.array([*is_right, True, False], dtype=np.float64)
    times: Array = np.array([*(counts or [1.0] * len(rows)), 1.0, 1.0])
    fitted = _fit_logistic(table, labels, times)
    return {
        "bias": round(float(fitted[-1]), 3),
        **{name: round(float(value), 3) for name, value in zip(names, fitted, strict=False)},
    }


def predict_correctness(fitted: dict[str, float], features: tuple[float, ...]) -> float:
    """Return the probability that a finding is right; the features in the order of the fit."""
    bias, *weights = fitted.values()
    total = bias + sum(w * value for w, value in zip(weights, features, strict=True))
    return float(1 / (1 + np.exp(-total)))
