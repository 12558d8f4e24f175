"""Stores by address."""

from __future__ import annotations

from pathlib import Path

from planproof import extensions
from planproof.runs.store.protocol import OpensStore, Store

DEFAULT = ".planproof/planproof.db"
NONE = "none"


def open_store(url: str | None = None) -> Store:
    """The store at this address: a file, a URL such as `postgresql://user@host/name`, or `none`."""
    if url == NONE:
        from planproof.runs.store.nothing import NothingKept  # noqa: PLC0415 - rarely used

        return NothingKept()
    file = file_of(url)
    address = f"sqlite:///{file}" if file is not None else url or ""
    opens: OpensStore = extensions.load("stores", address.partition(":")[0].partition("+")[0])
    return opens(address)


def file_of(url: str | None = None) -> Path | None:
    """The file that an address means; None for a store that is no file."""
    named = (url or DEFAULT).removeprefix("sqlite:///")
    return None if "://" in named or named == NONE else Path(named).absolute()
