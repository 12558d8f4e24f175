"""Stores by address."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from planproof import extensions
from planproof.errors import InvalidInput
from planproof.runs.store.store_protocol import OpensStore, Store

if TYPE_CHECKING:
    from planproof.runs.store.sql_store import SqlStore

DEFAULT = ".planproof/planproof.db"
NONE = "none"


def open_store(url: str | None = None) -> Store:
    """The store at this address: a file, a URL such as `postgresql://user@host/name`, or `none`."""
    if url == NONE:
        from planproof.runs.store.null_store import NothingKept  # noqa: PLC0415 - rarely used

        return NothingKept()
    file = file_of(url)
    address = f"sqlite:///{file}" if file is not None else url or ""
    opens: OpensStore = extensions.load("stores", address.partition(":")[0].partition("+")[0])
    return opens(address)


def open_sql_store(url: str | None = None) -> SqlStore:
    """The same, for who needs the database that the store stands on."""
    from planproof.runs.store.sql_store import SqlStore  # noqa: PLC0415 - loads SQLAlchemy

    store = open_store(url)
    if not isinstance(store, SqlStore):
        store.close()
        raise InvalidInput(
            f"the store `{store.url}` is no database.",
            where="--store",
            advice="Name a file, or a database such as postgresql://user@host/name.",
        )
    return store


def file_of(url: str | None = None) -> Path | None:
    """The file that an address means; None for a store that is no file."""
    named = (url or DEFAULT).removeprefix("sqlite:///")
    return None if "://" in named or named == NONE else Path(named).absolute()
