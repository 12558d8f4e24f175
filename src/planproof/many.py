"""Many cases at once, and their verdicts in the order of the cases."""

from __future__ import annotations

from collections import deque
from collections.abc import Coroutine, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeVar

from planproof.background import start

_T = TypeVar("_T")
_AHEAD = 8
"""How many times as many results may be kept as work goes on at once, while the first is slow."""


def in_order(work: Iterable[Coroutine[Any, Any, _T]], at_once: int) -> Iterator[_T]:
    """The results of all work, in its order; never more than so many at once.

    When the caller goes away, or is interrupted, what is under way is called off.
    """
    begun: deque[Future[_T]] = deque()
    running: set[Future[_T]] = set()
    try:
        for each in work:
            future = start(each)
            begun.append(future)
            running.add(future)
            while len(running) >= at_once:
                running = set(wait(running, return_when=FIRST_COMPLETED).not_done)
            while begun and (begun[0].done() or len(begun) > at_once * _AHEAD):
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        for future in begun:
            future.cancel()
