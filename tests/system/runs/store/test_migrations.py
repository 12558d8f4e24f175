"""Migrations run in order and once, also with concurrent processes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.engine import Engine, make_url

from planproof.runs.store.migrations import MIGRATIONS, migrate
from planproof.runs.store.open_store import open_store
from planproof.runs.store.schema import tables


def _engine(url: str) -> Engine:
    if "://" in url:
        return create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    return create_engine(f"sqlite:///{url}")


def test_what_the_migrations_make_is_what_the_program_uses(store_url: str) -> None:
    open_store(store_url).close()
    engine = _engine(store_url)
    found = inspect(engine)
    made = {
        name: {column["name"]: bool(column["nullable"]) for column in found.get_columns(name)}
        for name in found.get_table_names()
        if name != "migrations"
    }
    keys = {name: found.get_pk_constraint(name)["constrained_columns"] for name in made}
    engine.dispose()
    used = {table.name: {c.name for c in table.columns} for table in tables.sorted_tables}
    assert {name: set(columns) for name, columns in made.items()} == used
    for table in tables.sorted_tables:
        assert keys[table.name] == [column.name for column in table.primary_key]
        for column in table.columns:
            if not column.primary_key:
                assert made[table.name][column.name] == column.nullable, column


def test_steps_are_taken_in_order_and_once(store_url: str) -> None:
    open_store(store_url).close()
    engine = _engine(store_url)
    later = (
        *MIGRATIONS,
        ("ALTER TABLE runs ADD COLUMN note TEXT", "UPDATE runs SET note = 'old'"),
        ("ALTER TABLE runs RENAME COLUMN note TO remark",),
    )
    for _ in range(2):
        with engine.begin() as connection:
            migrate(connection, "here", later)
    with engine.connect() as connection:
        taken = connection.execute(text("SELECT number FROM migrations ORDER BY number")).scalars()
        assert list(taken) == list(range(1, len(later) + 1))
        assert connection.execute(text("SELECT remark FROM runs")).all() == []
    engine.dispose()


def test_a_step_that_fails_leaves_the_store_as_it_was(store_url: str) -> None:
    open_store(store_url).close()
    engine = _engine(store_url)
    broken = (*MIGRATIONS, ("INSERT INTO cases VALUES ('h', 'x')", "CREATE NONSENSE"))
    with pytest.raises(Exception, match=r"(?i)syntax error"), engine.begin() as connection:
        migrate(connection, "here", broken)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT max(number) FROM migrations")).scalar() == len(
            MIGRATIONS
        )
        assert connection.execute(text("SELECT count(*) FROM cases")).scalar() == 0
    engine.dispose()


def test_many_may_open_a_new_store_at_the_same_moment(store_url: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        for store in pool.map(open_store, [store_url] * 8):
            store.close()


def test_verdicts_of_schema_1_are_renamed_in_place(store_url: str) -> None:
    engine = _engine(store_url)
    content = (
        r'{"reason":"says \"sureness\": 1",'  # words: exempt
        r'"steps":[{"number":"1","sureness":0.5}]}'  # words: exempt
    )
    if store_url.endswith(".db"):
        Path(store_url).parent.mkdir(parents=True)
    with engine.begin() as connection:
        migrate(connection, "here", MIGRATIONS[:4])
        connection.execute(
            text("INSERT INTO verdicts VALUES ('h', 'scored', NULL, 1, 1, 'r', :content)"),
            {"content": content},
        )
    with engine.begin() as connection:
        migrate(connection, "here")
        migrated = connection.execute(text("SELECT content FROM verdicts")).scalar()
    engine.dispose()
    assert migrated == content.replace('"sureness":0.5', '"confidence":0.5')  # words: exempt
