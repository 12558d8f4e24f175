"""Limits on the size of inputs."""

from __future__ import annotations

from dataclasses import dataclass

from planproof.core.json_values import MAX_DEPTH, MAX_VALUES


@dataclass(frozen=True, slots=True)
class Limits:
    """Maximum size and nesting depth of a source, and number of JSON values in it."""

    bytes: int = 64 * 1024 * 1024
    depth: int = MAX_DEPTH
    values: int = MAX_VALUES
    """Maximum number of values and keys in JSON, or of lines in text; in a data set, per case."""
    entries: int = 100_000
    """Maximum number of entries in an archive."""
