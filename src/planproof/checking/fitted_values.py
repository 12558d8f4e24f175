"""The fitted numbers of `rules`, in `weights.json` beside this module; scripts write that file."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def load_fitted_values(part: str) -> dict[str, Any]:
    """Return one part of the file: `similarity`, `costs`, `reported_from` or `confidence`."""
    text = files("planproof.checking").joinpath("weights.json").read_text("utf-8")
    return json.loads(text)[part]
