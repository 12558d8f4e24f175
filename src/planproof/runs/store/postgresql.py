"""Store in PostgreSQL, for use from several machines."""

from __future__ import annotations

from importlib.util import find_spec

from sqlalchemy import create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from planproof.errors import InvalidInput, StoreFailed
from planproof.runs.store.database import Database
from planproof.runs.store.sql_store import SqlStore

_CONNECT_TIMEOUT_SECONDS = 10
"""Seconds to wait for a connection."""


def open_postgresql(url: str) -> SqlStore:
    """Open the store at a URL such as `postgresql://user@host/name`."""
    if find_spec("psycopg") is None:
        raise StoreFailed(
            "a PostgreSQL store needs psycopg, which is not installed.",
            advice="Install it with pip install 'planproof[postgres]'.",
        )
    try:
        address = make_url(url).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError) as error:
        raise InvalidInput(
            "is not a valid PostgreSQL URL.",
            where="--store",
            advice="Write postgresql://user@host/name.",
        ) from error
    shown = address.set(drivername="postgresql").render_as_string(hide_password=True)
    engine = create_engine(
        address,
        # Replace connections in the pool that have died, instead of failing.
        pool_pre_ping=True,
        connect_args={"connect_timeout": _CONNECT_TIMEOUT_SECONDS},
    )
    return SqlStore(Database(engine, shown))
