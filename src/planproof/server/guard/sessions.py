"""Sessions of people who signed in with a key in a browser. They are held in memory alone."""

from __future__ import annotations

from collections import OrderedDict
from secrets import token_urlsafe
from time import monotonic

from planproof.server.guard.api_keys import hash_secret

_MAX_AGE_SECONDS = 12 * 60 * 60.0
_MAX_SESSIONS = 1_000


class Sessions:
    """Stand for keys, for some hours; where there are too many, the oldest ends."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def begin(self, key_digest: str) -> str:
        """A new session for the key with this digest; what it returns is for its holder alone."""
        session = token_urlsafe(32)
        self._open[hash_secret(session)] = key_digest, monotonic() + _MAX_AGE_SECONDS
        if len(self._open) > _MAX_SESSIONS:
            self._open.popitem(last=False)
        return session

    def key_digest(self, session: str) -> str | None:
        """The digest of the key that a session stands for."""
        key_digest, until = self._open.get(hash_secret(session), (None, 0.0))
        return key_digest if monotonic() < until else None

    def end(self, session: str) -> None:
        """Let a session stand for nothing any more."""
        self._open.pop(hash_secret(session), None)
