"""Stores by address."""

from __future__ import annotations

from pathlib import Path

from planproof import extensions
from planproof.runs.store.protocol import OpensStore, Store

DEFAULT = ".planproof/planproof.db"


def open_store(url: str | None = None) -> Store:
    """The store at this address: a file, or a URL such as `postgresql://user@host/name`."""
    named = url or DEFAULT
    scheme, separator, _ = named.partition("://")
    if not separator:
        scheme, named = "sqlite", f"sqlite:///{Path(named).absolute()}"
    opens: OpensStore = extensions.load("stores", scheme.partition("+")[0])
    return opens(named)
