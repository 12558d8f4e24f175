"""Configuration: `planproof.toml`, or `[tool.planproof]` in pyproject.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.core.limits import Limits
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidConfiguration, did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The settings of a configuration file. `path` is the file, if there is one."""

    judge: str | None = None
    min_score: float | None = None
    min_confidence: float | None = None
    store: str | None = None
    bookkeeping: frozenset[str] = frozenset()
    closing: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    profiles: tuple[Path, ...] = ()
    limits: Limits = field(default_factory=Limits)
    path: Path | None = None

    @property
    def vocabulary(self) -> Vocabulary:
        """The built-in vocabulary, extended by the declarations of the file."""
        return Vocabulary().with_declared(
            bookkeeping=self.bookkeeping, closing=self.closing, aliases=self.aliases
        )


def find_configuration(start: Path) -> Configuration:
    """Return the nearest configuration at or above a directory, or the defaults."""
    for directory in (start, *start.parents):
        for name in ("planproof.toml", "pyproject.toml"):
            path = directory / name
            if path.is_file() and (table := _read_table(path)) is not None:
                return _build_configuration(table, path)
    return Configuration()


def read_configuration(path: Path) -> Configuration:
    """Read the configuration from this file."""
    table = _read_table(path)
    if table is None:
        raise InvalidConfiguration(
            "no [tool.planproof] table.",
            where=str(path),
            advice="Add the table, or pass another file.",
        )
    return _build_configuration(table, path)


def _read_table(path: Path) -> Mapping[str, Any] | None:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidConfiguration(f"not valid TOML: {error}.", where=str(path)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfiguration(
            f"can't be read: {getattr(error, 'strerror', None) or error}.", where=str(path)
        ) from error
    if path.name != "pyproject.toml":
        return document
    tools = document.get("tool")
    table = tools.get("planproof") if is_object(tools) else None
    if table is not None and not is_object(table):
        raise InvalidConfiguration("`tool.planproof` must be a table.", where=str(path))
    return table


def _build_configuration(table: Mapping[str, Any], path: Path) -> Configuration:
    settings: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _SETTINGS:
            raise InvalidConfiguration(
                f"unknown setting `{key}`.",
                where=str(path),
                advice=did_you_mean(key, _SETTINGS),
            )
        try:
            settings[key] = _SETTINGS[key](value)
        except _InvalidSetting as error:
            raise InvalidConfiguration(
                f"`{key}` must be {error}, not {value!r}.", where=str(path)
            ) from error
    if "://" not in (store := settings.get("store", "://")) and store != "none":
        # A path is relative to the configuration file, not to the working directory.
        settings["store"] = str(path.absolute().parent / store)
    folder = path.absolute().parent
    settings["profiles"] = tuple(folder / name for name in settings.get("profiles", ()))
    return Configuration(**settings, path=path)


class _InvalidSetting(Exception):
    """Raised with a description of what the value must be."""


def _parse_name(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise _InvalidSetting("a name in quotes")


def _parse_score(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise _InvalidSetting("a number from 0 to 1")


def _parse_paths(value: object) -> tuple[str, ...]:
    values = value if is_list(value) else [value]
    paths = tuple(path for path in values if isinstance(path, str) and path.strip())
    if len(paths) == len(values):
        return paths
    raise _InvalidSetting("the path of a file or folder, or a list of paths")


def _parse_tool_names(value: object) -> frozenset[str]:
    if is_list(value) and all(isinstance(name, str) and name for name in value):
        return frozenset(value)
    raise _InvalidSetting("a list of tool names")


def _parse_aliases(value: object) -> dict[str, str]:
    if is_object(value) and all(isinstance(tool, str) and tool for tool in value.values()):
        return value
    raise _InvalidSetting(
        'a table that maps words of a step to tool names ("look up" = "kb_search")'
    )


def _parse_limits(value: object) -> Limits:
    table: dict[str, Json] = value if is_object(value) else {"": value}
    for key, limit in table.items():
        if key not in _LIMITS or type(limit) is not int or limit < 1:
            raise _InvalidSetting(f"a table of {', '.join(_LIMITS)}, positive integers")
    return Limits(**{_LIMITS[key]: limit for key, limit in table.items()})


_LIMITS = {"max_bytes": "bytes", "max_depth": "depth", "max_values": "values"}
_SETTINGS: dict[str, Callable[[object], Any]] = {
    "judge": _parse_name,
    "min_score": _parse_score,
    "min_confidence": _parse_score,
    "store": _parse_name,
    "bookkeeping": _parse_tool_names,
    "closing": _parse_tool_names,
    "aliases": _parse_aliases,
    "profiles": _parse_paths,
    "limits": _parse_limits,
}
