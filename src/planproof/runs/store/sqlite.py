"""Store in an SQLite file."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from time import sleep
from typing import Any

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.engine import URL, make_url

from planproof.errors import StoreFailed
from planproof.runs.store.database import Database
from planproof.runs.store.sql_store import SqlStore

_LOCK_TIMEOUT_SECONDS = 60.0
"""Seconds to wait for other writers."""
_TRIES = 100


def open_sqlite(url: str) -> SqlStore:
    """Open the store at a URL such as `sqlite:///runs.db`."""
    path = Path(make_url(url).database or "").absolute()
    try:
        _create_file(path)
    except OSError as error:
        raise StoreFailed(
            f"can't be opened: {error.strerror}.",
            where=str(path),
            advice="Name another file with --store, or store nothing with --store none.",
        ) from error
    original_stat = path.stat()

    def check() -> None:
        # Writing to a removed file would succeed, and all results would be lost.
        try:
            is_same_file = os.path.samestat(path.stat(), original_stat)
        except OSError:
            is_same_file = False
        if not is_same_file:
            raise StoreFailed(
                "was removed or replaced while it was in use.",
                where=str(path),
                advice="Restore the file, or start again.",
            )

    engine = create_engine(
        URL.create("sqlite", database=str(path)), connect_args={"timeout": _LOCK_TIMEOUT_SECONDS}
    )
    event.listen(engine, "connect", _configure_connection)
    event.listen(engine, "begin", _begin_transaction)
    return SqlStore(Database(engine, str(path), check, path.parent))


def _create_file(path: Path) -> None:
    folder = path.parent
    if not folder.exists():
        # Cases and verdicts quote traces: only the owner may read them, and git must ignore them.
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        if folder.name == ".planproof":
            (folder / ".gitignore").write_text("*\n", encoding="ascii")
    path.touch(mode=0o600)


def _configure_connection(database: Any, _: object) -> None:
    # SQLAlchemy begins transactions (below), not the driver.
    database.isolation_level = None
    database.execute("PRAGMA foreign_keys = ON")
    database.execute("PRAGMA synchronous = NORMAL")
    for attempt in range(_TRIES):
        try:
            if database.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal":
                return
        except sqlite3.OperationalError:
            # SQLite's own timeout does not cover another process creating the file at this moment.
            if attempt == _TRIES - 1:
                raise
        sleep(0.05)


def _begin_transaction(connection: Connection) -> None:
    # A writing transaction takes its lock at the start: SQLite can't wait for one halfway.
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
