"""How sure a finding is: the share of such findings that were right on the labelled cases.

What is told of each sort of finding by a few signs is fitted by `scripts/fit_weights.py`, on cases
that the judge's weights had not seen. A sort whose findings are right or wrong alike whatever the
signs has none, only its share.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import exp

from planproof.checking.alignment import Explanation
from planproof.checking.candidates import Unit
from planproof.checking.requirements import Demand
from planproof.core.trace import Kind

SIGNS: dict[str, tuple[str, ...]] = {
    "executed": ("worst", "covered", "words", "held", "unheld", "nearness"),
    "missing": ("words", "unheld", "nearness"),
    "partial": (),
    "ambiguous": (),
    "extra": ("fit", "nearness"),
}
"""For each sort of finding what tells whether it is right."""
_DIGITS = 2
_MOST_VALUES = 2


def sureness_of(sort: str, signs: Mapping[str, float]) -> float:
    """The share of findings of this sort, with these signs, that were right."""
    bias, weights = _weights()[sort]
    total = bias + sum([weight * signs[name] for name, weight in weights])
    return round(1 / (1 + exp(-total)), _DIGITS)


def signs_of_step(
    step: int, demand: Demand, explanation: Explanation, units: Sequence[Unit]
) -> dict[str, float]:
    """What tells whether a finding on this step is right.

    Fits are in hundreds: the worst is that of the action under the step that fits it least.
    """
    fits: list[int] = []
    calls: list[str] = []
    stems = unseen = demand.stems
    for i in explanation.runs[step]:
        unit = units[i]
        unseen -= unit.terms
        calls.append(unit.call_text)
        if unit.event.kind is Kind.ACTION:
            fits.append(explanation.affinity[i][step])
    held = [value for value in demand.values if value.held_by_any(calls)]
    return {
        "worst": (min(fits) if fits else explanation.best_fit(step)) / 100,
        "covered": (len(stems) - len(unseen)) / len(stems) if stems else 0.0,
        "words": len(demand.words) / 10,
        "held": min(len(held), _MOST_VALUES),
        "unheld": len(demand.values) - len(held),
        "nearness": explanation.nearness,
    }


def signs_of_extra(fits: Sequence[int], nearness: float) -> dict[str, float]:
    """What tells whether an action under no step is one: how well it fits the best of them."""
    return {"fit": max(fits, default=0) / 100, "nearness": nearness}


@cache
def _weights() -> dict[str, tuple[float, list[tuple[str, float]]]]:
    """For each sort of finding the bias, and the weights of its signs."""
    text = files("planproof.checking").joinpath("weights.json").read_text("utf-8")
    fitted = json.loads(text)["sureness"]
    return {
        sort: (fitted[sort]["bias"], [(name, fitted[sort][name]) for name in names])
        for sort, names in SIGNS.items()
    }
