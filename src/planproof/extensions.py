"""Registry of readers and judges by entry points; built-ins are registered the same way."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from planproof.errors import UnknownName, did_you_mean


def list_names(kind: str) -> tuple[str, ...]:
    """Return the names in the entry-point group `planproof.<kind>` (kind: "readers", "judges")."""
    return tuple(sorted(_entries(kind)))


def load(kind: str, name: str) -> Any:
    """Load the object registered under this name."""
    entries = _entries(kind)
    kind_name = kind.removesuffix("s")
    if name not in entries:
        raise UnknownName(
            f"no {kind_name} is registered as `{name}`.", advice=did_you_mean(name, entries)
        )
    try:
        return entries[name].load()
    except (ImportError, AttributeError) as error:
        raise UnknownName(
            f"the {kind_name} `{name}` can't be loaded from `{entries[name].value}`: {error}.",
            advice="Reinstall the package that registers it, or uninstall it.",
        ) from error


def find_package(kind: str, name: str) -> str | None:
    """Return the package that registers a name, with its version; None for all other names."""
    entry = _entries(kind).get(name)
    if entry is None or _is_built_in(entry):
        return None
    if entry.dist is None:
        return entry.module.partition(".")[0]
    return f"{entry.dist.name} {entry.dist.version}"


@cache
def _entries(kind: str) -> dict[str, EntryPoint]:
    points = entry_points(group=f"planproof.{kind}")
    # If a name is registered twice, the external one replaces the built-in one.
    ordered = sorted(points, key=lambda entry: (not _is_built_in(entry), entry.value))
    return {entry.name: entry for entry in ordered}


def _is_built_in(entry: EntryPoint) -> bool:
    return entry.module.partition(".")[0] == "planproof"
