"""How sure a finding is: the share of such findings that were right on the labelled cases."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from math import exp

_DIGITS = 2


def of_execution(fit: int) -> float:
    """For a step found executed, by the fit of its best event."""
    return _share("executed", fit)


def of_lapse(fit: int) -> float:
    """For a step found missing, ambiguous or partial, by the fit of the best event there is."""
    return _share("lapse", -fit)


def of_extra(fit: int) -> float:
    """For an action under no step, by its fit to the best step there is."""
    return _share("extra", -fit)


def _share(sort: str, margin: int) -> float:
    at_zero, slope = _curves()[sort]
    return round(1 / (1 + exp(-(at_zero + slope * margin / 100))), _DIGITS)


@cache
def _curves() -> dict[str, tuple[float, float]]:
    text = files("planproof.alignment").joinpath("weights.json").read_text("utf-8")
    return {sort: tuple(curve) for sort, curve in json.loads(text)["sureness"].items()}
