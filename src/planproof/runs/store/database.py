"""Database access for the store: connections, transactions, upserts and error messages."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from sqlalchemy import Connection, Engine, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from planproof.errors import StoreFailed
from planproof.runs.store.migrations import migrate


class Database:
    """A database with the tables of planproof.

    `check` raises an error if the database that the connections use is gone.
    """

    def __init__(self, engine: Engine, url: str, check: Callable[[], None] | None = None) -> None:
        self.url = url
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

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def _translate_errors(self) -> Generator[None, None, None]:
        try:
            if self._check is not None:
                self._check()
            yield
        except SQLAlchemyError as error:
            why = str(error.orig if isinstance(error, DBAPIError) else error).strip()
            raise StoreFailed(
                f"the store failed: {' '.join(why.split())}.",
                where=self.url,
                advice="Results stored before are kept. Check that the store can be reached and "
                "has free space, then try again; continue a run with --resume.",
            ) from error


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
