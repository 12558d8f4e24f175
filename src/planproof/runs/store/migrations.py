"""Migrations of the store's tables; a store records how many it has applied.

A released migration is never changed, because stores have applied it. Changes are added as new
migrations at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, text

from planproof.errors import StoreFailed

# {bytes} is the type of binary data, whose name depends on the database.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE runs (
            id TEXT PRIMARY KEY, created TEXT NOT NULL, finished TEXT, state TEXT NOT NULL,
            source TEXT NOT NULL, judge TEXT NOT NULL, judge_fingerprint TEXT NOT NULL,
            models TEXT NOT NULL, fingerprint TEXT NOT NULL, tags TEXT NOT NULL)""",
        "CREATE INDEX runs_created ON runs (created)",
        "CREATE TABLE cases (hash TEXT PRIMARY KEY, content {bytes} NOT NULL)",
        """CREATE TABLE verdicts (
            hash TEXT PRIMARY KEY, outcome TEXT NOT NULL, cause TEXT, score DOUBLE PRECISION,
            level DOUBLE PRECISION, reason TEXT NOT NULL, content TEXT NOT NULL)""",
        """CREATE TABLE findings (
            verdict TEXT NOT NULL REFERENCES verdicts (hash), place INTEGER NOT NULL,
            sort TEXT NOT NULL, number TEXT, status TEXT NOT NULL,
            sureness DOUBLE PRECISION NOT NULL, event TEXT, text TEXT NOT NULL,
            PRIMARY KEY (verdict, place))""",
        """CREATE TABLE results (
            run TEXT NOT NULL REFERENCES runs (id), position INTEGER NOT NULL,
            "case" TEXT NOT NULL, id TEXT, verdict TEXT NOT NULL REFERENCES verdicts (hash),
            seconds DOUBLE PRECISION NOT NULL, about TEXT NOT NULL,
            PRIMARY KEY (run, position))""",
        """CREATE TABLE judged (
            fingerprint TEXT NOT NULL, "case" TEXT NOT NULL,
            verdict TEXT NOT NULL REFERENCES verdicts (hash), PRIMARY KEY (fingerprint, "case"))""",
    ),
    (
        """CREATE TABLE spans (
            trace TEXT NOT NULL, digest TEXT NOT NULL, content {bytes} NOT NULL,
            PRIMARY KEY (trace, digest))""",
        """CREATE TABLE traces (
            trace TEXT PRIMARY KEY, first DOUBLE PRECISION NOT NULL, last DOUBLE PRECISION NOT NULL,
            root TEXT, spans INTEGER NOT NULL, size INTEGER NOT NULL, revision INTEGER NOT NULL,
            due DOUBLE PRECISION, untold DOUBLE PRECISION, server TEXT, run TEXT,
            position INTEGER, "case" TEXT)""",
        "CREATE INDEX traces_due ON traces (due)",
        "CREATE INDEX traces_untold ON traces (untold)",
        "CREATE INDEX traces_last ON traces (last)",
        "CREATE UNIQUE INDEX traces_position ON traces (run, position)",
        "CREATE TABLE servers (id TEXT PRIMARY KEY, seen DOUBLE PRECISION NOT NULL)",
    ),
    (
        """CREATE TABLE keys (
            name TEXT PRIMARY KEY, role TEXT NOT NULL, digest TEXT NOT NULL UNIQUE,
            created TEXT NOT NULL)""",
    ),
    ("ALTER TABLE traces ADD COLUMN failures INTEGER NOT NULL DEFAULT 0",),
    (
        "ALTER TABLE findings RENAME COLUMN sureness TO confidence",
        # Quotes inside a JSON string are escaped, so only keys match.
        """UPDATE verdicts SET content = replace(content, '"sureness":', '"confidence":')""",
        "ALTER TABLE traces RENAME COLUMN untold TO export_due",
        "DROP INDEX traces_untold",
        "CREATE INDEX traces_export_due ON traces (export_due)",
    ),
    # Measures of stored verdicts, for trends; verdicts of earlier versions have none.
    (
        "ALTER TABLE verdicts ADD COLUMN step_share DOUBLE PRECISION",
        "ALTER TABLE verdicts ADD COLUMN order_share DOUBLE PRECISION",
        "ALTER TABLE verdicts ADD COLUMN action_share DOUBLE PRECISION",
    ),
)

_LOCK = 0x706C616E  # any number that no other program uses as a PostgreSQL lock


def migrate(
    connection: Connection, where: str, steps: Sequence[Sequence[str]] = MIGRATIONS
) -> None:
    """Apply the missing migrations. The connection must be in a write transaction."""
    postgresql = connection.dialect.name == "postgresql"
    if postgresql:
        # SQLite allows one writer at a time; PostgreSQL needs a lock for that.
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    connection.execute(text("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY)"))
    applied = connection.execute(text("SELECT max(number) FROM migrations")).scalar() or 0
    if applied > len(steps):
        raise StoreFailed(
            f"was created by a newer version of planproof (schema version {applied}, this version "
            f"supports {len(steps)}).",
            where=where,
            advice="Upgrade planproof, or name another store.",
        )
    for number, statements in enumerate(steps[applied:], applied + 1):
        for statement in statements:
            connection.execute(text(statement.format(bytes="BYTEA" if postgresql else "BLOB")))
        connection.execute(text("INSERT INTO migrations VALUES (:number)"), {"number": number})
