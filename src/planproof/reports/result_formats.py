"""The forms that results are written in."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path


class ResultForm(StrEnum):
    """How results are written."""

    JSONL = "jsonl"
    PARQUET = "parquet"
    CSV = "csv"


def form_of(path: Path | None) -> ResultForm:
    """The form that the name of a file asks for."""
    suffix = "" if path is None else path.suffix.lower()
    return {".parquet": ResultForm.PARQUET, ".csv": ResultForm.CSV}.get(suffix, ResultForm.JSONL)
