"""Stores by address."""

from __future__ import annotations

from pathlib import Path

from planproof import extensions
from planproof.runs.store.protocol import OpensStore, Store

DEFAULT = ".planproof/planproof.db"
NONE = "none"


def open_store(url: str | None = None) -> Store:
    """The store at this address: a file, a URL such as `postgresql://user@host/name`, or `none`."""
    named = url or DEFAULT
    if named == NONE:
        from planproof.runs.store.nothing import NothingKept  # noqa: PLC0415 - rarely used

        return NothingKept()
    scheme, separator, _ = named.partition("://")
    if not separator:
        scheme, named = "sqlite", f"sqlite:///{Path(named).absolute()}"
    opens: OpensStore = extensions.load("stores", scheme.partition("+")[0])
    return opens(named)
