"""Keys and tokens: they go to the provider that they are for, and into no message."""

from __future__ import annotations

import os
import re

_NAMED_SO = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_FIELDS = ("api_key", "auth_token")
_SHORTEST = 5
"""What is shorter is a stand-in, such as `none`, and may well be a word."""


def secrets_of(client: object) -> tuple[str, ...]:
    """The keys that a provider's client has, and those in the environment that it may have read."""
    inner = getattr(client, "_api_client", None)
    held = [getattr(each, name, None) for each in (client, inner) for name in _FIELDS]
    held += [value for name, value in os.environ.items() if _NAMED_SO.search(name)]
    found = {each for each in held if isinstance(each, str) and len(each) >= _SHORTEST}
    return tuple(sorted(found, key=len, reverse=True))


def without(secrets: tuple[str, ...], words: str) -> str:
    """The words with every secret in them made unreadable."""
    for secret in secrets:
        words = words.replace(secret, "***")
    return words
