"""Limits on what is read."""

from __future__ import annotations

from dataclasses import dataclass

from planproof.core.json_values import MAX_DEPTH, MAX_VALUES


@dataclass(frozen=True, slots=True)
class Limits:
    """How large and how deeply nested a source may be, and how much JSON may hold."""

    bytes: int = 256 * 1024 * 1024
    depth: int = MAX_DEPTH
    values: int = MAX_VALUES
    """How many values and keys JSON may hold; in a data set, that of a case."""
    entries: int = 100_000
    """How many entries an archive may have."""
