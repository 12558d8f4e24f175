"""Read cases from CSV and Parquet tables, one case per row."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.readers.decoding.case_files import (
    CaseLine,
    CaseMaker,
    line_too_long_error,
    parse_case_line,
)
from planproof.readers.decoding.rewinding import Readable
from planproof.runs.datasets.dataset_files import DataFile, open_data_file
from planproof.runs.datasets.field_mapping import FieldMap

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_ROWS_AT_ONCE = 16
_NO_TRACE = "there is no column `execution_trace`."


def read_table(
    file: DataFile, field_map: FieldMap | None, columns: Collection[str], limits: Limits
) -> Iterator[CaseLine]:
    """Yield the cases of a table. `columns` are those needed; empty means all."""
    if file.suffix == ".parquet":
        yield from _read_parquet(file, field_map, columns)
        return
    separator = "\t" if file.suffix == ".tsv" else ","
    with open_data_file(file) as data:
        yield from _read_csv(
            _decode_lines(data, file.name, limits), file.name, field_map, separator, limits
        )


def _read_csv(
    text: Iterator[str], name: str, field_map: FieldMap | None, separator: str, limits: Limits
) -> Iterator[CaseLine]:
    """Yield the rows of a CSV file, whose first row has the column names. An empty cell is null."""
    # A module-wide limit: the reader has none of its own.
    csv.field_size_limit(limits.bytes)
    rows = csv.reader(text, delimiter=separator, strict=True)
    columns: list[str] | None = None
    number = 0
    while True:
        where = f"{name}, row {number}" if columns else name
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            # The boundaries of this row and the next are unknown now.
            raise InvalidInput(
                f"is not valid CSV from line {rows.line_num} on: {error}.",
                where=where,
                advice="Quote cells that contain quotes or line breaks, and double the quotes "
                "inside.",
            ) from error
        if columns is None:
            columns = cells
            _check_columns(columns, field_map, name)
        elif cells:
            yield _cells_to_case(columns, cells, f"{name}, row {number}", field_map)
        number += 1


def _read_parquet(
    file: DataFile, field_map: FieldMap | None, columns: Collection[str]
) -> Iterator[CaseLine]:
    with _open_parquet(file) as table:
        column_names = table.schema_arrow.names
        _check_columns(column_names, field_map, file.name)
        required = [column for column in column_names if not columns or column in columns]
        number = 0
        for batch in table.iter_batches(batch_size=_ROWS_AT_ONCE, columns=required):
            for row in batch.to_pylist(maps_as_pydicts="lossy"):
                number += 1
                values = {column: _cell_to_json(cell) for column, cell in row.items()}
                yield _row_to_case(values, f"{file.name}, row {number}", field_map)


def _decode_lines(file: Readable, name: str, limits: Limits) -> Iterator[str]:
    number = 0
    while line := file.readline(limits.bytes + 1):
        number += 1
        where = f"{name}, line {number}"
        if len(line) > limits.bytes:
            raise line_too_long_error(where, limits)
        try:
            # A byte order mark belongs to the file, not to the name of the first column.
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"byte {error.start} is not valid UTF-8.",
                where=where,
                advice="Save the table as UTF-8 text.",
            ) from error


def _check_columns(columns: list[str], field_map: FieldMap | None, name: str) -> None:
    """Raise an error once, instead of for every row, if a table has no traces."""
    if "execution_trace" not in columns and not (field_map and "trace" in field_map.pointers):
        raise InvalidInput(
            _NO_TRACE,
            where=name,
            advice="Name the column of the trace with --map trace=/COLUMN. Columns: "
            f"{', '.join(columns) or 'none'}.",
        )


def _cells_to_case(
    columns: list[str], cells: list[str], where: str, make: CaseMaker | None
) -> CaseLine:
    if len(cells) != len(columns):
        error = InvalidInput(
            f"has {len(cells)} cells, but the table has {len(columns)} columns.",
            where=where,
            advice="Quote cells that contain separators or line breaks.",
        )
        return CaseLine(where, error=error)
    row: dict[str, Json] = {
        column: cell or None for column, cell in zip(columns, cells, strict=True)
    }
    return _row_to_case(row, where, make)


def _row_to_case(row: dict[str, Json], where: str, make: CaseMaker | None) -> CaseLine:
    metadata = row.get("metadata")
    if isinstance(metadata, str):
        # A cell holds an object only as JSON text.
        try:
            row["metadata"] = json.loads(metadata)
        except (ValueError, RecursionError):
            error = InvalidInput(
                "is not valid JSON.", where=f"{where}#/metadata", advice="Write a JSON object."
            )
            return CaseLine(where, error=error, record=row)
    # Without a task column, the task is the first request of the user in the trace.
    return parse_case_line(row, where, make or FieldMap({}))


def _open_parquet(file: DataFile) -> pq.ParquetFile:
    try:
        import pyarrow as pa  # noqa: PLC0415 - heavy, and in an extra
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise InvalidInput(
            "is a Parquet file, and Parquet support is not installed.",
            where=file.name,
            advice="Install it with pip install 'planproof[parquet]'.",
        ) from error
    try:
        return pq.ParquetFile(file.path)
    except (OSError, pa.ArrowException) as error:
        raise InvalidInput(
            f"is not a valid Parquet file: {str(error).splitlines()[0]}",
            where=file.name,
            advice="Export the file again; it may be truncated.",
        ) from error


def _cell_to_json(value: Any) -> Json:
    """Convert a cell to JSON values; struct keys that are only set in other rows are dropped."""
    if is_object(value):
        return {key: _cell_to_json(nested) for key, nested in value.items() if nested is not None}
    if is_list(value):
        return [_cell_to_json(item) for item in value]
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value
