"""Stores by address."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from planproof import extensions
from planproof.errors import InvalidInput
from planproof.runs.store.store_protocol import Store, StoreFactory

if TYPE_CHECKING:
    from planproof.runs.store.sql_store import SqlStore

DEFAULT_STORE = ".planproof/planproof.db"
NULL_STORE = "none"


def open_store(url: str | None = None) -> Store:
    """The store at this address: a file, a URL such as `postgresql://user@host/name`, or `none`."""
    if url == NULL_STORE:
        from planproof.runs.store.null_store import NullStore  # noqa: PLC0415 - rarely used

        return NullStore()
    file = resolve_store_file(url)
    address = f"sqlite:///{file}" if file is not None else url or ""
    open_at: StoreFactory = extensions.load("stores", address.partition(":")[0].partition("+")[0])
    return open_at(address)


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


def resolve_store_file(url: str | None = None) -> Path | None:
    """The file that an address means; None for a store that is no file."""
    named = (url or DEFAULT_STORE).removeprefix("sqlite:///")
    return None if "://" in named or named == NULL_STORE else Path(named).absolute()
