"""Keys and tokens: they go to the provider that they are for, and into no message."""

from __future__ import annotations

import os
import re

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_FIELDS = ("api_key", "auth_token")
_SHORTEST = 5
"""What is shorter is a stand-in, such as `none`, and may well be a word."""


def collect_secrets(client: object) -> tuple[str, ...]:
    """The keys that a provider's client has, and those in the environment that it may have read."""
    inner = getattr(client, "_api_client", None)
    values = [getattr(item, name, None) for item in (client, inner) for name in _FIELDS]
    values += [value for name, value in os.environ.items() if _SECRET_NAME.search(name)]
    secrets = {item for item in values if isinstance(item, str) and len(item) >= _SHORTEST}
    return tuple(sorted(secrets, key=len, reverse=True))


def redact_secrets(secrets: tuple[str, ...], text: str) -> str:
    """The words with every secret in them made unreadable."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text
