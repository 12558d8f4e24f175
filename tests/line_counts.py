"""Counted work: tests that ask how work grows must not depend on how fast a machine is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def count_lines(work: Callable[[], object]) -> int:
    """Return how many lines of Python are executed while `work` is done, loops included."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def measure_growth(work: Callable[[int], object], size: int) -> float:
    """Return how many times more is done for twice the size: 2 if linear, 4 if quadratic."""
    work(8)  # so that what is loaded once is not counted
    return count_lines(lambda: work(2 * size)) / count_lines(lambda: work(size))
