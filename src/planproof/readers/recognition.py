"""Detect the reader for a source.

Readers of other packages are asked first, in the order of their names, then the built-in ones; the
first that claims a source reads it. So a package can take over a format, and sources that it does
not claim are read as before. No source is claimed by two built-in readers, so their order does not
matter; common formats are asked first, because it is cheaper. `general` is never asked; it reads
what no other reader claims.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from planproof.core.trace import Trace
from planproof.errors import UnknownName, did_you_mean
from planproof.extensions import find_package, list_names, load
from planproof.readers.decoding.source import Source

if TYPE_CHECKING:
    from planproof.readers.profile import Profile

FALLBACK_READER = "general"
_COMMON_READERS = ("openai-messages", "anthropic-messages", "opentelemetry")
_log = logging.getLogger("planproof")


def detect_reader(source: Source, profiles: Sequence[Reader] = ()) -> Reader | None:
    """Return the reader that claims this source; None if only `general` is left.

    `profiles` are the user's own, which are asked before all others.
    """
    for reader in chain(profiles, _iter_dedicated_readers()):
        try:
            if reader.sniff(source):
                return reader
        except Exception as error:
            # Third-party code: one failing reader must not keep the others from reading.
            _warn_once(reader.name, f"failed to detect its format: {type(error).__name__}: {error}")
    return None


def find_profile(name: str, profiles: Sequence[Reader]) -> Reader | None:
    """Return the user's profile with this name; None if there is none."""
    return next((reader for reader in profiles if reader.name == name), None)


def list_readers() -> tuple[str, ...]:
    """Return the names of all readers: those registered by packages, and the built-in profiles."""
    return tuple(sorted({*list_names("readers"), *_load_profiles()}))


@cache
def load_reader(name: str) -> Reader:
    """Return the reader that is registered under this name, or that of a built-in profile."""
    if name not in list_names("readers"):
        from planproof.readers.profile_reader import ProfileReader  # noqa: PLC0415 - only if needed

        profiles = _load_profiles()
        if name not in profiles:
            raise UnknownName(
                f"no reader is registered as `{name}`.", advice=did_you_mean(name, list_readers())
            )
        return ProfileReader(profiles[name])
    extension = load("readers", name)
    return extension() if isinstance(extension, type) else extension


def _load_profiles() -> Mapping[str, Profile]:
    from planproof.readers.profile_reader import load_built_in_profiles  # noqa: PLC0415 - only if needed

    return load_built_in_profiles()


def _iter_dedicated_readers() -> Iterator[Reader]:
    """Yield all readers but `general`; each is loaded when it is reached."""
    for name in _order_readers():
        try:
            yield load_reader(name)
        except UnknownName as error:
            _warn_once(name, str(error))
    yield from map(load_reader, _load_profiles())


@cache
def _order_readers() -> tuple[str, ...]:
    names = [name for name in list_names("readers") if name != FALLBACK_READER]
    return tuple(sorted(names, key=_rank_reader))


def _rank_reader(name: str) -> tuple[bool, int, str]:
    """Sort key: readers of other packages, common formats, all others."""
    common = _COMMON_READERS.index(name) if name in _COMMON_READERS else len(_COMMON_READERS)
    return find_package("readers", name) is None, common, name


@cache
def _warn_once(reader: str, what: str) -> None:
    """Warn once that a reader is left out, and why."""
    _log.warning("the reader `%s` is skipped: %s", reader, what)


class Reader(Protocol):
    """Reads one trace format; found through the entry-point group `planproof.readers`."""

    name: str
    """The name under which the reader is registered."""

    def sniff(self, source: Source) -> bool:
        """Return whether this source has the format. Must be fast and never raise."""
        ...

    def read(self, source: Source) -> Trace:
        """Return the events in the order in which they began, with pointers into the source."""
        ...
