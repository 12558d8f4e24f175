"""Cache of model answers in an SQLite file, keyed by a hash of the question and the model."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import sys
from dataclasses import dataclass
from pathlib import Path
from time import time

from planproof.core.content import Image
from planproof.core.model import Question, Usage
from planproof.errors import InvalidConfiguration
from planproof.llm.answer_fields import build_schema

_KEY_VERSION = 1
"""Part of every key. Increase it when the meaning of a stored answer changes."""
_BUSY_TIMEOUT = 10.0
_MAGIC = b"SQLite format 3\0"
_TABLE = """CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    answer TEXT NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    cost REAL,
    at REAL NOT NULL
) WITHOUT ROWID"""
_log = logging.getLogger("planproof")


def get_default_cache_path() -> Path:
    """Return the default path of the answer cache ($PLANPROOF_CACHE overrides it)."""
    if named := os.environ.get("PLANPROOF_CACHE"):
        return Path(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "planproof" / "answers.sqlite3"


def compute_key(question: Question, model: str) -> str:
    """Return the hash of a question, its answer schema and the fingerprint of the model."""
    parts = [
        ["image", part.media_type, part.url, part.data] if isinstance(part, Image) else part
        for part in question.parts
    ]
    everything = [
        _KEY_VERSION,
        question.instructions,
        parts,
        build_schema(question.answer),
        question.template,
        question.sample,
        model,
    ]
    text = json.dumps(everything, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """Statistics of an answer cache: number of answers, answers by model, size in bytes, cost."""

    path: Path
    answers: int = 0
    models: tuple[tuple[str, int], ...] = ()
    size: int = 0
    cost: float = 0.0


class AnswerCache:
    """One file of cached answers.

    Several processes may use it at once; answers already stored survive a killed process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Answers quote traces, so only the owner may read the file.
            path.touch(mode=0o600)
            self._database = _open_database(path)
            self._database.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise _make_unusable_cache_error(path, error) from error

    def find(self, key: str) -> str | None:
        """Return the answer stored under this key, or None."""
        try:
            row = self._database.execute(
                "SELECT answer FROM answers WHERE key = ?", (key,)
            ).fetchone()
        except sqlite3.Error as error:
            _log.warning("%s: an answer could not be read: %s", self.path, error)
            return None
        return None if row is None else row[0]

    def store(self, key: str, answer: str, *, model: str, usage: Usage) -> None:
        """Store an answer. A failed write is only logged: the question is paid for again."""
        row = (key, model, answer, usage.tokens_in, usage.tokens_out, usage.cost, time())
        try:
            self._database.execute("INSERT OR REPLACE INTO answers VALUES (?,?,?,?,?,?,?)", row)
        except sqlite3.Error as error:
            _log.warning("%s: an answer could not be stored: %s", self.path, error)

    def close(self) -> None:
        """Close the database file."""
        self._database.close()


def read_cache_info(path: Path) -> CacheInfo:
    """Return statistics of a cache file; zeros if the file does not exist."""
    if not path.is_file():
        return CacheInfo(path)
    try:
        database = _open_database(path)
        try:
            database.execute(_TABLE)
            rows = database.execute(
                "SELECT model, count(*), total(cost) FROM answers GROUP BY model ORDER BY model"
            ).fetchall()
        finally:
            database.close()
    except sqlite3.Error as error:
        raise _make_unusable_cache_error(path, error) from error
    return CacheInfo(
        path,
        answers=sum(row[1] for row in rows),
        models=tuple((row[0], row[1]) for row in rows),
        size=sum(file.stat().st_size for file in _list_existing_files(path)),
        cost=sum(row[2] for row in rows),
    )


def clear_cache(path: Path) -> int:
    """Delete the cache and return the number of bytes freed."""
    freed = 0
    try:
        if path.is_file() and _read_header(path) not in {_MAGIC, b""}:
            raise InvalidConfiguration(
                "is not an answer cache, and was not deleted.",
                where=str(path),
                advice="Check PLANPROOF_CACHE.",
            )
        for file in _list_existing_files(path):
            freed += file.stat().st_size
            file.unlink()
    except OSError as error:
        raise _make_unusable_cache_error(path, error) from error
    return freed


def _list_existing_files(path: Path) -> list[Path]:
    paths = (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"))
    return [file for file in paths if file.is_file()]


def _read_header(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_MAGIC))


def _open_database(path: Path) -> sqlite3.Connection:
    # Autocommit: every statement is its own transaction and is in the WAL when it returns, so a
    # paid answer survives if the process is killed right afterwards.
    database = sqlite3.connect(
        path, timeout=_BUSY_TIMEOUT, isolation_level=None, check_same_thread=False
    )
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.Error:
        database.close()
        raise
    return database


def _make_unusable_cache_error(path: Path, error: Exception) -> InvalidConfiguration:
    why = getattr(error, "strerror", None) or error
    return InvalidConfiguration(
        f"the answer cache can't be used: {why}.",
        where=str(path),
        advice="Delete it with `planproof cache clear`, name another file in PLANPROOF_CACHE, or "
        "disable the cache with --no-cache.",
    )
