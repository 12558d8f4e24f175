"""Results as a file of many: JSON Lines with the whole verdict, Parquet or CSV with a row each."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Protocol

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.errors import InvalidInput
from planproof.reports.json import line
from planproof.reports.result_formats import ResultForm
from planproof.reports.result_rows import COLUMNS, Sort
from planproof.runs.run_records import Result

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_ROWS_AT_ONCE = 500
# A spreadsheet would take a cell that begins so for a formula, and run it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NESTED = (Sort.STEPS, Sort.EXTRAS)


class WritesResults(Protocol):
    """Takes results one by one."""

    def add(self, result: Result) -> None:
        """Write one."""
        ...


@contextmanager
def result_writer(file: IO[bytes], form: ResultForm) -> Generator[WritesResults, None, None]:
    """Writes results into a file; what was written when something breaks can be read."""
    if form is ResultForm.PARQUET:
        with _open_parquet(file) as table:
            rows = _Parquet(table)
            try:
                yield rows
            finally:
                rows.flush()
        return
    # Lone halves of characters can come in; they can't go out.
    text = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="\n")
    try:
        yield _Csv(text) if form is ResultForm.CSV else _Lines(text)
    finally:
        text.flush()
        text.detach()


class _Lines:
    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def add(self, result: Result) -> None:
        self._file.write(line(result.verdict) + "\n")


class _Csv:
    def __init__(self, file: IO[str]) -> None:
        self._rows = csv.writer(file, lineterminator="\n")
        self._rows.writerow([column.name for column in COLUMNS])

    def add(self, result: Result) -> None:
        self._rows.writerow([_cell(column.cell(result), column.sort) for column in COLUMNS])


class _Parquet:
    def __init__(self, table: pq.ParquetWriter) -> None:
        self._table = table
        self._schema = _schema()
        self._waiting: list[dict[str, Json]] = []

    def add(self, result: Result) -> None:
        self._waiting.append({column.name: _clean(column.cell(result)) for column in COLUMNS})
        if len(self._waiting) >= _ROWS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        import pyarrow as pa  # noqa: PLC0415 - heavy, and in an extra

        if self._waiting:
            batch = pa.RecordBatch.from_pylist(self._waiting, schema=self._schema)
            self._table.write_batch(batch)
            self._waiting = []


def _open_parquet(file: IO[bytes]) -> pq.ParquetWriter:
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415 - heavy, and in an extra
    except ImportError as error:
        raise InvalidInput(
            "Parquet can't be written.",
            advice="Install what writes it: pip install 'planproof[parquet]'.",
        ) from error
    return pq.ParquetWriter(file, _schema(), compression="zstd")


def _schema() -> pa.Schema:
    import pyarrow as pa  # noqa: PLC0415

    text, number = pa.string(), pa.float64()
    step = {
        "number": text,
        "text": text,
        "status": text,
        "sureness": number,
        "events": pa.list_(text),
        "quotes": pa.list_(text),
        "note": text,
    }
    extra = {"event": text, "what": text, "severity": text, "sureness": number, "quote": text}
    kinds = {
        Sort.TEXT: text,
        Sort.JSON: text,
        Sort.WHOLE: pa.int64(),
        Sort.NUMBER: number,
        Sort.STEPS: pa.list_(pa.struct([pa.field(*pair) for pair in step.items()])),
        Sort.EXTRAS: pa.list_(pa.struct([pa.field(*pair) for pair in extra.items()])),
    }
    return pa.schema([pa.field(column.name, kinds[column.sort]) for column in COLUMNS])


def _cell(value: Json, sort: Sort) -> Json:
    if sort in _NESTED:
        return json.dumps(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _clean(value: Json) -> Json:
    """A value without halves of characters, which no Parquet file can hold."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if is_list(value):
        return [_clean(item) for item in value]
    if is_object(value):
        return {key: _clean(held) for key, held in value.items()}
    return value
