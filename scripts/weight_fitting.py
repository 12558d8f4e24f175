"""Fit the weights of the similarity: logistic regression with fixed signs of the weights.

A pair of step and event is positive if the label assigns the event to the step. The sign of each
weight is fixed, so that less evidence never scores higher.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from planproof.checking.similarity import FEATURE_SIGNS, Weights, compute_features
from scripts.bench import LabelledCase

Array: TypeAlias = npt.NDArray[np.float64]
_ROUNDS = 400
_RATE = 0.1
_RIDGE = 3e-4


class StepEventPairs:
    """All pairs of steps and labelled events, with features and group."""

    def __init__(self, cases: Iterable[LabelledCase]) -> None:
        rows: list[tuple[float, ...]] = []
        right: list[bool] = []
        groups: list[str] = []
        for case in cases:
            if case.step_by_candidate is None:
                continue
            feature_table = compute_features(case.candidates, case.requirements)
            for candidate, step in case.step_by_candidate.items():
                for other in range(len(case.requirements)):
                    rows.append(feature_table[candidate][other])
                    right.append(other == step)
                    groups.append(case.group)
        self._rows: Array = np.array(rows, dtype=np.float64)
        self._labels: Array = np.array(right, dtype=np.float64)
        self._groups = np.array(groups)

    def fit_weights(self, excluded_group: str | None = None) -> Weights:
        """Return the weights fitted on all groups, or on all but one."""
        included = self._groups != excluded_group
        fitted = fit_logistic(
            self._rows[included], self._labels[included], np.array(list(FEATURE_SIGNS.values()))
        )
        return Weights(tuple(round(float(w), 3) for w in fitted[:-1]), round(float(fitted[-1]), 3))


def fit_logistic(
    rows: Array, labels: Array, signs: npt.NDArray[np.int_], counts: Array | None = None
) -> Array:
    """Return the weights and the bias; a weight with the wrong sign is set to 0 (sign 0: any).

    `counts` says how often each row counts; by default once.
    """
    times: Array = np.ones(len(labels)) if counts is None else counts
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
        weights[:-1] = np.where(signs * weights[:-1] < 0, 0.0, weights[:-1])
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
    fitted = fit_logistic(table, labels, np.zeros(len(names), dtype=np.int_), times)
    return {
        "bias": round(float(fitted[-1]), 3),
        **{name: round(float(value), 3) for name, value in zip(names, fitted, strict=False)},
    }


def predict_correctness(fitted: dict[str, float], features: tuple[float, ...]) -> float:
    """Return the probability that a finding is right; the features in the order of the fit."""
    bias, *weights = fitted.values()
    total = bias + sum(w * value for w, value in zip(weights, features, strict=True))
    return float(1 / (1 + np.exp(-total)))


def fit_by_group(
    cases: Iterable[LabelledCase], fit: Callable[[str], Weights]
) -> dict[str, Weights]:
    """Return for each group the weights that were fitted without it."""
    return {group: fit(group) for group in dict.fromkeys(case.group for case in cases)}
