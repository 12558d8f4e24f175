"""Database access for the store: connections, transactions, upserts and error messages."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from shutil import disk_usage
from typing import Any

from sqlalchemy import Connection, Engine, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from planproof.errors import StoreFailed
from planproof.runs.store.migrations import migrate

_MIN_FREE_BYTES = 16 * 2**20


class Database:
    """A database with the tables of planproof.

    `check` raises an error if the database that the connections use is gone. `folder` is where its
    files are, if they are on this machine.
    """

    def __init__(
        self,
        engine: Engine,
        url: str,
        check: Callable[[], None] | None = None,
        folder: Path | None = None,
    ) -> None:
        self.url = url
        self._folder = folder
        self._engine = engine
        self._writing_engine = engine.execution_options(writes=True)
        self._check = check
        try:
            with self.begin_write() as connection:
                migrate(connection, url)
        except StoreFailed:
            engine.dispose()
            raise

    @contextmanager
    def begin_read(self) -> Generator[Connection, None, None]:
        """Open a connection for reading."""
        with self._translate_errors(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def begin_write(self) -> Generator[Connection, None, None]:
        """Begin a transaction for writing: all of its changes are stored, or none."""
        with self._translate_errors(), self._writing_engine.begin() as connection:
            yield connection

    def check_free_space(self) -> None:
        """Raise an error if the disk is nearly full: small writes may still succeed for a while."""
        if self._folder is not None and disk_usage(self._folder).free < _MIN_FREE_BYTES:
            raise StoreFailed(
                f"less than {_MIN_FREE_BYTES // 2**20} MiB of disk space are free.",
                where=self.url,
                advice="Free disk space, or move the store.",
            )

    def check_integrity(self) -> None:
        """Raise an error if an SQLite file is damaged: queries may return wrong counts from one."""
        with self.begin_read() as connection:
            if connection.dialect.name == "sqlite":
                # An index that differs from its table is only found by the full check.
                problem = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one()
                if problem != "ok":
                    raise make_damage_error(problem, self.url)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def _translate_errors(self) -> Generator[None, None, None]:
        try:
            if self._check is not None:
                self._check()
            yield
        except UnicodeDecodeError as error:
            raise make_damage_error(str(error), self.url) from error
        except SQLAlchemyError as error:
            why = str(error.orig if isinstance(error, DBAPIError) else error).strip()
            raise StoreFailed(
                f"the store failed: {' '.join(why.split())}.",
                where=self.url,
                advice="Results stored before are kept. Check that the store can be reached and "
                "has free space, then try again; continue a run with --resume.",
            ) from error


def make_damage_error(problem: str, where: str | None = None) -> StoreFailed:
    """Return the error for a store whose content can't be what planproof wrote."""
    return StoreFailed(
        f"the store is damaged: {' '.join(problem.split())}.",
        where=where,
        advice="Restore it from a backup, or recover what is readable: "
        "sqlite3 FILE .recover | sqlite3 NEW_FILE.",
    )


def insert_new(connection: Connection, table: Table, new_rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows; existing rows with the same key are unchanged."""
    if new_rows:
        connection.execute(
            _build_insert(get_dialect(connection), table), _sort_by_key(table, new_rows)
        )


def upsert(connection: Connection, table: Table, new_rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows, replacing those with the same key."""
    if new_rows:
        connection.execute(
            _build_upsert(get_dialect(connection), table), _sort_by_key(table, new_rows)
        )


# Compiling a statement takes longer than inserting a row with it.
@cache
def _build_insert(dialect: Any, table: Table) -> Any:
    return dialect.insert(table).on_conflict_do_nothing()


@cache
def _build_upsert(dialect: Any, table: Table) -> Any:
    insert = dialect.insert(table)
    replaced = {
        column.name: insert.excluded[column.name]
        for column in table.columns
        if not column.primary_key
    }
    keys = list(table.primary_key)
    return insert.on_conflict_do_update(index_elements=keys, set_=replaced)


def get_dialect(connection: Connection) -> Any:
    """Return the SQLAlchemy module of this dialect, for inserts with conflict handling."""
    return postgresql if connection.dialect.name == "postgresql" else sqlite


def _sort_by_key(table: Table, new_rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    # The same order everywhere, to avoid deadlocks between writers.
    keys = [column.name for column in table.primary_key]
    return sorted(new_rows, key=lambda row: tuple(row[key] for key in keys))
