"""What is registered by name: readers, judges. Built-ins are entry points like anybody else's."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from planproof.errors import UnknownName
from planproof.suggestions import did_you_mean


def registered(kind: str) -> tuple[str, ...]:
    """The names in the entry-point group `planproof.<kind>` (kind: "readers", "judges")."""
    return tuple(sorted(_entries(kind)))


def load(kind: str, name: str) -> Any:
    """What is registered under this name."""
    entries = _entries(kind)
    noun = kind.removesuffix("s")
    if name not in entries:
        raise UnknownName(
            f"no {noun} is registered as `{name}`.", advice=did_you_mean(name, entries)
        )
    try:
        return entries[name].load()
    except (ImportError, AttributeError) as error:
        raise UnknownName(
            f"the {noun} `{name}` can't be loaded from `{entries[name].value}`: {error}.",
            advice="Reinstall the package that registers it, or take it out.",
        ) from error


@cache
def _entries(kind: str) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=f"planproof.{kind}")}
