"""What takes long to work out is worked out once, and remembered for a while."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Remembered(Generic[Value]):
    """Values by what they depend on; the ones that nobody asked for longest are forgotten.

    Threads may ask at once: a value is made by the first, and the others wait for it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, Future[Value]] = OrderedDict()
        self._changing = Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of the key, made if need be."""
        made: Future[Value] = Future()
        with self._changing:
            known = self._known.get(key)
            self._known[key] = known or made
            self._known.move_to_end(key)
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        if known is not None:
            return known.result()
        try:
            made.set_result(make())
        except BaseException as error:
            made.set_exception(error)
            with self._changing:
                self._known.pop(key, None)
            raise
        return made.result()
