"""How long tests wait for what must come, however busy the machine is."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep

TIMEOUT_SECONDS = 180.0
"""Seconds. It bounds what hangs; a test that passes never depends on it."""


def wait_until(came: Callable[[], bool]) -> None:
    """Wait until something has come about; fail when it takes longer than anything should."""
    last = monotonic() + TIMEOUT_SECONDS
    while not came():
        assert monotonic() < last, "it did not come about"
        sleep(0.02)
