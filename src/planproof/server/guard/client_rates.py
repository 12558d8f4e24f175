"""How often a client may ask, and how long one has to wait who tries wrong keys."""

from __future__ import annotations

import math
from collections import OrderedDict
from time import monotonic

_MOST_CLIENTS = 10_000
_FORGOTTEN = 600.0
_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 8.0


class Rates:
    """So many requests a second from each client, and as many at once after a second of rest."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._most = max(1.0, rate)
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_of(self, client: str) -> int | None:
        """The seconds that a client has to wait; None for one that may ask, which is counted."""
        now = monotonic()
        left, then = self._clients.get(client, (self._most, now))
        left = min(self._most, left + (now - then) * self._rate)
        may = left >= 1
        self._clients[client] = (left - 1 if may else left), now
        self._clients.move_to_end(client)
        if len(self._clients) > _MOST_CLIENTS:
            self._clients.popitem(last=False)
        return None if may else math.ceil((1 - left) / self._rate)


class WrongKeys:
    """Counts wrong keys by where they came from; each is answered later than the one before."""

    def __init__(self) -> None:
        self._tries: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def pause_of(self, address: str) -> float:
        """The seconds after which another wrong key from there is to be answered."""
        now = monotonic()
        tries, then = self._tries.get(address, (0, now))
        if now - then > _FORGOTTEN:
            tries = 0
        self._tries[address] = tries + 1, now
        self._tries.move_to_end(address)
        if len(self._tries) > _MOST_CLIENTS:
            self._tries.popitem(last=False)
        return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(tries, 10))
