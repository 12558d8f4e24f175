"""What takes long to work out is worked out once, and remembered for a while."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class ThreadSafeCache(Generic[Value]):
    """Values by what they depend on; the ones that nobody asked for longest are forgotten.

    Threads may ask at once: a value is made by the first, and the others wait for it.
    """

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._futures: OrderedDict[Hashable, Future[Value]] = OrderedDict()
        self._lock = Lock()

    def get_or_compute(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value of the key, made if need be."""
        new_future: Future[Value] = Future()
        with self._lock:
            known = self._futures.get(key)
            self._futures[key] = known or new_future
            self._futures.move_to_end(key)
            if len(self._futures) > self._max_size:
                self._futures.popitem(last=False)
        if known is not None:
            return known.result()
        try:
            new_future.set_result(compute())
        except BaseException as error:
            new_future.set_exception(error)
            with self._lock:
                self._futures.pop(key, None)
            raise
        return new_future.result()
