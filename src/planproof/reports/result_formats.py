"""File formats of results."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path


class ResultFormat(StrEnum):
    """File format of results."""

    JSONL = "jsonl"
    PARQUET = "parquet"
    CSV = "csv"


def detect_result_format(path: Path | None) -> ResultFormat:
    """Return the format for the suffix of a file name."""
    suffix = "" if path is None else path.suffix.lower()
    return {".parquet": ResultFormat.PARQUET, ".csv": ResultFormat.CSV}.get(
        suffix, ResultFormat.JSONL
    )
