"""Which reader a source is for.

Readers of other packages are asked first, in the order of their names, then the built-in ones; the
first that claims a source reads it. So a package can take over a format, and what it does not claim
is read as before. `general` is asked never and reads what nobody claims.
"""

from __future__ import annotations

import logging
from functools import cache

from planproof.errors import UnknownName
from planproof.extensions import load, package_of, registered
from planproof.readers.decoding.source import Source
from planproof.readers.reader_protocol import Reader

FALLBACK = "general"
_log = logging.getLogger("planproof")


def claimant(source: Source) -> Reader | None:
    """The reader that claims this source; None when only the general one is left."""
    for reader in _dedicated():
        try:
            if reader.sniff(source):
                return reader
        except Exception as error:
            # Anybody's code: one reader that fails must not keep the others from reading.
            _complain(reader.name, f"failed to look at a source: {type(error).__name__}: {error}")
    return None


@cache
def reader_named(name: str) -> Reader:
    """The reader that is registered under this name."""
    found = load("readers", name)
    return found() if isinstance(found, type) else found


@cache
def _dedicated() -> tuple[Reader, ...]:
    readers: list[Reader] = []
    names = [name for name in registered("readers") if name != FALLBACK]
    for name in sorted(names, key=lambda name: (package_of("readers", name) is None, name)):
        try:
            readers.append(reader_named(name))
        except UnknownName as error:
            _complain(name, str(error))
    return tuple(readers)


@cache
def _complain(reader: str, what: str) -> None:
    """Say once what is wrong with a reader."""
    _log.warning("the reader `%s` is left out: %s", reader, what)
