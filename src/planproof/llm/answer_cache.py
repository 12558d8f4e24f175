"""Answers that were paid for, kept in an SQLite file by the hash of everything that was asked."""

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
from planproof.llm.answer_parsing import schema_of

_FORM = 1
"""Part of every key: raise it when what a stored answer means has changed."""
_PATIENCE = 10.0
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


def default_path() -> Path:
    """Where answers are kept unless somebody says otherwise ($PLANPROOF_CACHE names a file)."""
    if named := os.environ.get("PLANPROOF_CACHE"):
        return Path(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "planproof" / "answers.sqlite3"


def key_of(question: Question, model: str) -> str:
    """The hash of a question, the form of its answer, and the fingerprint of who is asked."""
    parts = [
        ["image", part.media_type, part.url, part.data] if isinstance(part, Image) else part
        for part in question.parts
    ]
    everything = [
        _FORM,
        question.instructions,
        parts,
        schema_of(question.answer),
        question.template,
        question.sample,
        model,
    ]
    text = json.dumps(everything, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """How many answers are kept, from which models, in how many bytes, and what they cost."""

    path: Path
    answers: int = 0
    models: tuple[tuple[str, int], ...] = ()
    size: int = 0
    cost: float = 0.0


class AnswerCache:
    """One file of answers. Several processes may use it at once; a killed one loses nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Answers quote traces: nobody else's business.
            path.touch(mode=0o600)
            self._database = _opened(path)
            self._database.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise _unusable(path, error) from error

    def find(self, key: str) -> str | None:
        """The answer that is kept under this key."""
        try:
            row = self._database.execute(
                "SELECT answer FROM answers WHERE key = ?", (key,)
            ).fetchone()
        except sqlite3.Error as error:
            _log.warning("%s: an answer could not be read: %s", self.path, error)
            return None
        return None if row is None else row[0]

    def keep(self, key: str, answer: str, *, model: str, usage: Usage) -> None:
        """Keep an answer. What can't be written costs its price again next time, and no more."""
        row = (key, model, answer, usage.tokens_in, usage.tokens_out, usage.cost, time())
        try:
            self._database.execute("INSERT OR REPLACE INTO answers VALUES (?,?,?,?,?,?,?)", row)
        except sqlite3.Error as error:
            _log.warning("%s: an answer could not be kept: %s", self.path, error)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()


def info(path: Path) -> CacheInfo:
    """What is kept in a file; nothing where there is none."""
    if not path.is_file():
        return CacheInfo(path)
    try:
        database = _opened(path)
        try:
            database.execute(_TABLE)
            rows = database.execute(
                "SELECT model, count(*), total(cost) FROM answers GROUP BY model ORDER BY model"
            ).fetchall()
        finally:
            database.close()
    except sqlite3.Error as error:
        raise _unusable(path, error) from error
    return CacheInfo(
        path,
        answers=sum(row[1] for row in rows),
        models=tuple((row[0], row[1]) for row in rows),
        size=sum(file.stat().st_size for file in _files(path)),
        cost=sum(row[2] for row in rows),
    )


def clear(path: Path) -> int:
    """Remove every answer; how many bytes that frees."""
    freed = 0
    try:
        if path.is_file() and _start_of(path) not in {_MAGIC, b""}:
            raise InvalidConfiguration(
                "is no cache of answers, and stays.",
                where=str(path),
                advice="Check what PLANPROOF_CACHE names.",
            )
        for file in _files(path):
            freed += file.stat().st_size
            file.unlink()
    except OSError as error:
        raise _unusable(path, error) from error
    return freed


def _files(path: Path) -> list[Path]:
    beside = (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"))
    return [file for file in beside if file.is_file()]


def _start_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_MAGIC))


def _opened(path: Path) -> sqlite3.Connection:
    # Every statement is a transaction of its own, in the log as soon as it is done: what has been
    # paid for outlives a process that is killed the moment after.
    database = sqlite3.connect(
        path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.Error:
        database.close()
        raise
    return database


def _unusable(path: Path, error: Exception) -> InvalidConfiguration:
    why = getattr(error, "strerror", None) or error
    return InvalidConfiguration(
        f"the cache of answers can't be used: {why}.",
        where=str(path),
        advice="Remove it (planproof cache clear), name another file in PLANPROOF_CACHE, "
        "or do without (--no-cache).",
    )
