"""The forms that results are written in."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path


class ResultFormat(StrEnum):
    """How results are written."""

    JSONL = "jsonl"
    PARQUET = "parquet"
    CSV = "csv"


def detect_result_format(path: Path | None) -> ResultFormat:
    """The form that the name of a file asks for."""
    suffix = "" if path is None else path.suffix.lower()
    return {".parquet": ResultFormat.PARQUET, ".csv": ResultFormat.CSV}.get(
        suffix, ResultFormat.JSONL
    )
