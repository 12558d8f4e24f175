"""Stores by address, and what is in the way of opening one."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from planproof.core.verdict import JudgeSummary
from planproof.errors import InvalidInput, PlanproofError, StoreFailed, UnknownName
from planproof.runs.run_records import RunState, create_run
from planproof.runs.store.open_store import open_sql_store, open_store, resolve_store_file


def test_the_default_is_a_file_that_keeps_to_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    open_store().close()
    file = tmp_path / ".planproof" / "planproof.db"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert (file.parent / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("a.db", "a.db"),
        ("sqlite:///a.db", "a.db"),
        ("sqlite:////abs/a.db", "/abs/a.db"),
        ("postgresql://u@h/d", None),
        ("none", None),
    ],
)
def test_which_file_is_meant(url: str, file: str | None) -> None:
    assert resolve_store_file(url) == (None if file is None else Path(file).absolute())


def test_a_url_and_a_path_are_the_same_store(tmp_path: Path) -> None:
    run = create_run(source="x", judge=JudgeSummary(name="r", fingerprint="f"), fingerprint="f")
    with closing(open_store(str(tmp_path / "a.db"))) as store:
        store.begin(run)
    with closing(open_store(f"sqlite:///{tmp_path}/a.db")) as store:
        assert store.find_run("latest").id == run.id


def test_none_keeps_nothing() -> None:
    store = open_store("none")
    run = create_run(source="x", judge=JudgeSummary(name="r", fingerprint="f"), fingerprint="f")
    store.begin(run)
    store.add(run.id, [], [])
    store.close_run(run.id, RunState.FINISHED)
    assert (
        store.list_runs(),
        list(store.iter_results(run.id)),
        store.find_verdicts(["h"], "f"),
    ) == ([], [], {})
    for look in (
        lambda: store.find_run("latest"),
        lambda: store.get_case("h"),
        lambda: store.get_result("r", 0),
    ):
        with pytest.raises(InvalidInput, match="keeps nothing"):
            look()
    store.close()


def test_a_store_without_a_database_is_refused_where_one_is_needed(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="`none` is not a database"):
        open_sql_store("none")
    with (
        closing(open_sql_store(str(tmp_path / "a.db"))) as store,
        store.database.begin_read() as here,
    ):
        assert here.exec_driver_sql("SELECT count(*) FROM traces").scalar() == 0


def test_an_unknown_scheme_is_an_error() -> None:
    with pytest.raises(UnknownName, match="Did you mean `postgresql`"):
        open_store("postgresl://u@h/d")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", None), (b"no database, but text that is long enough to be read", "not a database")],
)
def test_a_file_that_is_not_a_store(tmp_path: Path, content: bytes, message: str | None) -> None:
    file = tmp_path / "a.db"
    file.write_bytes(content)
    if message is None:
        open_store(str(file)).close()
        return
    with pytest.raises(StoreFailed, match=message):
        open_store(str(file))
    assert file.read_bytes() == content


def test_a_folder_that_can_not_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFailed, match="can't be opened") as failed:
        open_store(str(tmp_path / "file" / "a.db"))
    assert "--store none" in str(failed.value)


def test_a_store_of_a_newer_planproof_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    open_store(str(file)).close()
    with closing(sqlite3.connect(file)) as database:
        database.execute("INSERT INTO migrations VALUES (99)")
        database.commit()
    with pytest.raises(StoreFailed, match="newer version of planproof"):
        open_store(str(file))


def test_an_unreachable_server_is_an_error_without_the_password() -> None:
    with pytest.raises(StoreFailed, match="the store failed") as failed:
        open_store("postgresql://eval:hush@127.0.0.1:1/planproof")
    assert "hush" not in str(failed.value)
    assert "postgresql://eval:***@127.0.0.1:1/planproof" in str(failed.value)


def test_postgresql_without_its_driver_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(_: str) -> None:
        return None

    monkeypatch.setattr("planproof.runs.store.postgresql.find_spec", missing)
    with pytest.raises(StoreFailed, match=r"planproof\[postgres\]"):
        open_store("postgresql://u@h/d")


def test_an_invalid_address_is_an_error() -> None:
    with pytest.raises(PlanproofError, match="not a valid PostgreSQL URL"):
        open_store("postgresql://u@h:port/d")
