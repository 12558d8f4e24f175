"""Detect the reader for a source.

Readers of other packages are asked first, in the order of their names, then the built-in ones; the
first that claims a source reads it. So a package can take over a format, and sources that it does
not claim are read as before. No source is claimed by two built-in readers, so their order does not
matter; common formats are asked first, because it is cheaper. `general` is never asked; it reads
what no other reader claims.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Protocol

from planproof.core.trace import Trace
from planproof.errors import UnknownName
from planproof.extensions import find_package, list_names, load
from planproof.readers.decoding.source import Source

FALLBACK_READER = "general"
_COMMON_READERS = ("openai-messages", "anthropic-messages", "claude-code", "opentelemetry")
_log = logging.getLogger("planproof")


def detect_reader(source: Source) -> Reader | None:
    """Return the reader that claims this source; None if only `general` is left."""
    for reader in _load_dedicated_readers():
        try:
            if reader.sniff(source):
                return reader
        except Exception as error:
            # Third-party code: one failing reader must not keep the others from reading.
            _warn_once(reader.name, f"failed to look at a source: {type(error).__name__}: {error}")
    return None


@cache
def load_reader(name: str) -> Reader:
    """Return the reader that is registered under this name."""
    extension = load("readers", name)
    return extension() if isinstance(extension, type) else extension


@cache
def _load_dedicated_readers() -> tuple[Reader, ...]:
    readers: list[Reader] = []
    names = [name for name in list_names("readers") if name != FALLBACK_READER]
    for name in sorted(names, key=_rank_reader):
        try:
            readers.append(load_reader(name))
        except UnknownName as error:
            _warn_once(name, str(error))
    return tuple(readers)


def _rank_reader(name: str) -> tuple[bool, int, str]:
    """Sort key: readers of other packages, common formats, all others."""
    common = _COMMON_READERS.index(name) if name in _COMMON_READERS else len(_COMMON_READERS)
    return find_package("readers", name) is None, common, name


@cache
def _warn_once(reader: str, what: str) -> None:
    """Warn once that a reader is left out, and why."""
    _log.warning("the reader `%s` is left out: %s", reader, what)


class Reader(Protocol):
    """Knows one format: whether a source is of it, and which events are in it."""

    name: str

    def sniff(self, source: Source) -> bool:
        """Return whether this source looks like the format; cheap, and never raises."""
        ...

    def read(self, source: Source) -> Trace:
        """Return the events in the order in which they began, with pointers into the source."""
        ...
