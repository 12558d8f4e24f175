"""How often a client may ask, and how long one has to wait who tries wrong keys."""

from __future__ import annotations

import math
from collections import OrderedDict
from time import monotonic

_MAX_CLIENTS = 10_000
_RESET_SECONDS = 600.0
_FIRST_DELAY = 0.25
_MAX_DELAY = 8.0


class ClientRateLimiter:
    """So many requests a second from each client, and as many at once after a second of rest."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._burst = max(1.0, rate)
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def acquire(self, client: str) -> int | None:
        """The seconds that a client has to wait; None for one that may ask, which is counted."""
        now = monotonic()
        left, then = self._clients.get(client, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._rate)
        may = left >= 1
        self._clients[client] = (left - 1 if may else left), now
        self._clients.move_to_end(client)
        if len(self._clients) > _MAX_CLIENTS:
            self._clients.popitem(last=False)
        return None if may else math.ceil((1 - left) / self._rate)


class WrongKeyBackoff:
    """Counts wrong keys by where they came from; each is answered later than the one before."""

    def __init__(self) -> None:
        self._attempts: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def next_delay(self, address: str) -> float:
        """The seconds after which another wrong key from there is to be answered."""
        now = monotonic()
        tries, then = self._attempts.get(address, (0, now))
        if now - then > _RESET_SECONDS:
            tries = 0
        self._attempts[address] = tries + 1, now
        self._attempts.move_to_end(address)
        if len(self._attempts) > _MAX_CLIENTS:
            self._attempts.popitem(last=False)
        return min(_MAX_DELAY, _FIRST_DELAY * 2.0 ** min(tries, 10))
