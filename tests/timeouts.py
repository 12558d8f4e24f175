"""How long tests wait for a condition, on a machine of any load."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep

TIMEOUT_SECONDS = 180.0
"""The limit for a test that hangs; a test that passes never depends on it."""


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true; fail after TIMEOUT_SECONDS."""
    last = monotonic() + TIMEOUT_SECONDS
    while not condition():
        assert monotonic() < last, "the condition did not become true"
        sleep(0.02)
