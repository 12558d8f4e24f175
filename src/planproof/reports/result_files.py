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
from planproof.reports.json import to_json_line
from planproof.reports.result_formats import ResultFormat
from planproof.reports.result_rows import COLUMNS, ColumnType
from planproof.runs.run_records import Result

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_ROWS_AT_ONCE = 500
# A spreadsheet would take a cell that begins so for a formula, and run it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NESTED = (ColumnType.STEPS, ColumnType.EXTRAS)


class ResultWriter(Protocol):
    """Takes results one by one."""

    def add(self, result: Result) -> None:
        """Write one."""
        ...


@contextmanager
def open_result_writer(
    file: IO[bytes], result_format: ResultFormat
) -> Generator[ResultWriter, None, None]:
    """Writes results into a file; what was written when something breaks can be read."""
    if result_format is ResultFormat.PARQUET:
        with _open_parquet(file) as table:
            rows = _ParquetWriter(table)
            try:
                yield rows
            finally:
                rows.flush()
        return
    # Lone halves of characters can come in; they can't go out.
    text = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="\n")
    try:
        yield _CsvWriter(text) if result_format is ResultFormat.CSV else _JsonLinesWriter(text)
    finally:
        text.flush()
        text.detach()


class _JsonLinesWriter:
    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def add(self, result: Result) -> None:
        self._file.write(to_json_line(result.verdict) + "\n")


class _CsvWriter:
    def __init__(self, file: IO[str]) -> None:
        self._rows = csv.writer(file, lineterminator="\n")
        self._rows.writerow([column.name for column in COLUMNS])

    def add(self, result: Result) -> None:
        self._rows.writerow(
            [_format_csv_cell(column.get_value(result), column.column_type) for column in COLUMNS]
        )


class _ParquetWriter:
    def __init__(self, table: pq.ParquetWriter) -> None:
        self._table = table
        self._schema = _build_schema()
        self._buffer: list[dict[str, Json]] = []

    def add(self, result: Result) -> None:
        self._buffer.append(
            {column.name: _replace_surrogates(column.get_value(result)) for column in COLUMNS}
        )
        if len(self._buffer) >= _ROWS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        import pyarrow as pa  # noqa: PLC0415 - heavy, and in an extra

        if self._buffer:
            batch = pa.RecordBatch.from_pylist(self._buffer, schema=self._schema)
            self._table.write_batch(batch)
            self._buffer = []


def _open_parquet(file: IO[bytes]) -> pq.ParquetWriter:
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415 - heavy, and in an extra
    except ImportError as error:
        raise InvalidInput(
            "Parquet can't be written.",
            advice="Install what writes it: pip install 'planproof[parquet]'.",
        ) from error
    return pq.ParquetWriter(file, _build_schema(), compression="zstd")


def _build_schema() -> pa.Schema:
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
    arrow_types = {
        ColumnType.TEXT: text,
        ColumnType.JSON: text,
        ColumnType.INTEGER: pa.int64(),
        ColumnType.NUMBER: number,
        ColumnType.STEPS: pa.list_(pa.struct([pa.field(*pair) for pair in step.items()])),
        ColumnType.EXTRAS: pa.list_(pa.struct([pa.field(*pair) for pair in extra.items()])),
    }
    return pa.schema([pa.field(column.name, arrow_types[column.column_type]) for column in COLUMNS])


def _format_csv_cell(value: Json, column_type: ColumnType) -> Json:
    if column_type in _NESTED:
        return json.dumps(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _replace_surrogates(value: Json) -> Json:
    """A value without halves of characters, which no Parquet file can hold."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if is_list(value):
        return [_replace_surrogates(item) for item in value]
    if is_object(value):
        return {key: _replace_surrogates(nested) for key, nested in value.items()}
    return value
