"""API keys with a read or write role. Only their digests are stored."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from secrets import token_urlsafe
from time import monotonic

from sqlalchemy import delete, select

from planproof.errors import InvalidInput, did_you_mean
from planproof.runs.store import schema
from planproof.runs.store.database import Database, insert_new
from planproof.runs.store.row_mapping import format_time

_KEY_PREFIX = "planproof_"
_KEY_BYTES = 32
"""Random bytes in a key: too many to guess, so a plain digest protects it well enough."""
_NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_CACHE_SECONDS = 2.0
"""Seconds for which keys are cached: a removed key may work that much longer."""


class Role(StrEnum):
    """The permission of a key; `write` includes `read`."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Key:
    """A key by its name and digest; the key itself is not stored."""

    name: str
    role: Role
    digest: str
    created: datetime


class Keys:
    """The API keys in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._key_by_digest: dict[str, Key] = {}
        self._read_at = float("-inf")
        self._read_lock = asyncio.Lock()

    def add(self, name: str, role: Role) -> str:
        """Create a key with this name, and return it; it can't be shown again."""
        if _NAME_PATTERN.fullmatch(name) is None:
            raise InvalidInput(
                f"`{name}` is not a valid key name.",
                advice="Use up to 64 letters, digits, dots, dashes and underscores.",
            )
        key = f"{_KEY_PREFIX}{token_urlsafe(_KEY_BYTES)}"
        row = {
            "name": name,
            "role": role.value,
            "digest": hash_secret(key),
            "created": format_time(datetime.now(UTC)),
        }
        with self._database.begin_write() as connection:
            insert_new(connection, schema.keys, [row])
            query = select(schema.keys.c.digest).where(schema.keys.c.name == name)
            if connection.execute(query).scalar_one() != row["digest"]:
                raise InvalidInput(
                    f"a key `{name}` already exists.",
                    where=self._database.url,
                    advice=f"Remove it first: planproof keys remove {name}.",
                )
        return key

    def list_all(self) -> list[Key]:
        """Return all keys, by name."""
        with self._database.begin_read() as connection:
            rows = connection.execute(select(schema.keys).order_by(schema.keys.c.name)).all()
        return [
            Key(row.name, Role(row.role), row.digest, datetime.fromisoformat(row.created))
            for row in rows
        ]

    def remove(self, name: str) -> None:
        """Revoke a key."""
        with self._database.begin_write() as connection:
            removed = connection.execute(delete(schema.keys).where(schema.keys.c.name == name))
        if not removed.rowcount:
            known = [key.name for key in self.list_all()]
            raise InvalidInput(
                f"there is no key `{name}`.",
                where=self._database.url,
                advice=did_you_mean(name, known) if known else "No keys exist.",
            )

    async def find_by_digest(self, digest: str) -> Key | None:
        """Return the key with this digest, if there is one."""
        if monotonic() - self._read_at > _CACHE_SECONDS:
            async with self._read_lock:
                if monotonic() - self._read_at > _CACHE_SECONDS:
                    keys = await asyncio.to_thread(self.list_all)
                    self._key_by_digest = {key.digest: key for key in keys}
                    self._read_at = monotonic()
        return self._key_by_digest.get(digest)


def hash_secret(secret: str) -> str:
    """Return the digest of a key or another secret, for storage."""
    return sha256(secret.encode("utf-8", "replace")).hexdigest()
