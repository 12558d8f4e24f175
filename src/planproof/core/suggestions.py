"""Advice for a name that is not known: what was probably meant, and what there is."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Say which known name is the nearest, and name them all."""
    names = sorted(known)
    if not names:
        return "None is registered."
    by_lower_case = {known_name.lower(): known_name for known_name in names}
    nearest = get_close_matches(name.lower(), by_lower_case, n=1)
    guess = f"Did you mean `{by_lower_case[nearest[0]]}`? " if nearest else ""
    return f"{guess}Known: {', '.join(names)}."
