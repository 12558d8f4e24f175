"""How much the hostile tests do: a short form by default, all of it in `make hostile`."""

from __future__ import annotations

import os

IS_FULL = os.environ.get("PLANPROOF_HOSTILE") == "full"


def choose(short: int, full: int) -> int:
    """Return how often to try something."""
    return full if IS_FULL else short
