from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest

from planproof.core.model import Usage
from planproof.errors import InvalidConfiguration
from planproof.llm.answer_cache import (
    AnswerCache,
    CacheInfo,
    clear_cache,
    get_default_cache_path,
    read_cache_info,
)

PAID = Usage(calls=1, tokens_in=10, tokens_out=2, cost=0.25)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "answers.sqlite3"


def make_filled_cache(path: Path) -> AnswerCache:
    cache = AnswerCache(path)
    cache.store("k1", "{}", model="openai:a", usage=PAID)
    cache.store("k2", '{"x": 1}', model="openai:b", usage=Usage(calls=1))
    return cache


def test_an_answer_is_found_again_by_its_key_alone(path: Path) -> None:
    make_filled_cache(path).close()
    again = AnswerCache(path)

    assert again.find("k2") == '{"x": 1}'
    assert again.find("k3") is None
    again.close()


def test_a_later_answer_replaces_an_earlier_one(path: Path) -> None:
    cache = make_filled_cache(path)
    cache.store("k1", "[]", model="openai:a", usage=PAID)

    assert cache.find("k1") == "[]"
    cache.close()


def test_nobody_else_may_read_it(path: Path) -> None:
    make_filled_cache(path).close()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_two_at_once_see_what_the_other_keeps(path: Path) -> None:
    one, other = make_filled_cache(path), AnswerCache(path)
    one.store("k9", "9", model="openai:a", usage=PAID)

    assert other.find("k9") == "9"
    one.close()
    other.close()


def test_what_is_kept_is_counted(path: Path) -> None:
    cache = make_filled_cache(path)
    found = read_cache_info(path)
    cache.close()

    assert (found.answers, found.models) == (2, (("openai:a", 1), ("openai:b", 1)))
    assert found.cost == 0.25
    assert found.size > 0


def test_without_a_file_nothing_is_cached(path: Path) -> None:
    assert read_cache_info(path) == CacheInfo(path)
    assert clear_cache(path) == 0


def test_cleared_it_is_gone(path: Path) -> None:
    make_filled_cache(path).close()

    assert clear_cache(path) > 0
    assert read_cache_info(path) == CacheInfo(path)


def test_a_file_of_another_kind_is_neither_used_nor_removed(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, and no database at all")

    for use in (AnswerCache, read_cache_info, clear_cache):
        with pytest.raises(InvalidConfiguration, match="notes"):
            use(path)
    assert path.exists()


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(InvalidConfiguration, match="--no-cache"):
        AnswerCache(tmp_path / "file" / "answers.sqlite3")


def test_a_database_that_breaks_on_the_way_only_forgets(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache = make_filled_cache(path)
    other = sqlite3.connect(path)
    other.execute("DROP TABLE answers")
    other.close()

    assert cache.find("k1") is None
    cache.store("k1", "{}", model="openai:a", usage=PAID)
    cache.close()
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]


def test_the_file_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("PLANPROOF_CACHE", raising=False)
    assert get_default_cache_path().name == "answers.sqlite3"
    monkeypatch.setenv("PLANPROOF_CACHE", str(tmp_path / "x"))
    assert get_default_cache_path() == tmp_path / "x"
