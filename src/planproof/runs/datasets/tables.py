"""Tables: CSV and Parquet files, one case a row."""

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
from planproof.readers.decoding.case_files import CaseLine, CaseMaker, case_line, too_long
from planproof.readers.decoding.rewinding import Readable
from planproof.runs.datasets.compressed_files import opened
from planproof.runs.datasets.dataset_files import DataFile
from planproof.runs.datasets.field_mapping import FieldMap

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_ROWS_AT_ONCE = 16
_NO_TRACE = "no column is called `execution_trace`."


def table_cases(
    file: DataFile, make: FieldMap | None, columns: Collection[str], limits: Limits
) -> Iterator[CaseLine]:
    """The cases of a table. `columns` are those that are needed; none of them means all."""
    if file.kind == ".parquet":
        yield from _in_parquet(file, make, columns)
        return
    separator = "\t" if file.kind == ".tsv" else ","
    with opened(file) as data:
        yield from _in_csv(_text(data, file.name, limits), file.name, make, separator, limits)


def _in_csv(
    text: Iterator[str], name: str, make: FieldMap | None, separator: str, limits: Limits
) -> Iterator[CaseLine]:
    """The rows of a CSV file, whose first row names the columns. An empty cell is null."""
    # A limit of the module, for want of one of the reader.
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
            # Where one row ends is not known any more, nor where the next begins.
            raise InvalidInput(
                f"is no CSV from line {rows.line_num} on: {error}.",
                where=where,
                advice="Quote cells that hold quotes or line breaks, and double the quotes in "
                "them.",
            ) from error
        if columns is None:
            columns = cells
            _check(columns, make, name)
        elif cells:
            yield _of_cells(columns, cells, f"{name}, row {number}", make)
        number += 1


def _in_parquet(
    file: DataFile, make: FieldMap | None, columns: Collection[str]
) -> Iterator[CaseLine]:
    with _parquet(file) as table:
        there = table.schema_arrow.names
        _check(there, make, file.name)
        wanted = [column for column in there if not columns or column in columns]
        number = 0
        for batch in table.iter_batches(batch_size=_ROWS_AT_ONCE, columns=wanted):
            for row in batch.to_pylist(maps_as_pydicts="lossy"):
                number += 1
                plain = {column: _plain(cell) for column, cell in row.items()}
                yield _of_row(plain, f"{file.name}, row {number}", make)


def _text(file: Readable, name: str, limits: Limits) -> Iterator[str]:
    number = 0
    while line := file.readline(limits.bytes + 1):
        number += 1
        where = f"{name}, line {number}"
        if len(line) > limits.bytes:
            raise too_long(where, limits)
        try:
            # A byte order mark belongs to the file, not to the name of its first column.
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"byte {error.start} is not valid UTF-8.",
                where=where,
                advice="Save the table as UTF-8 text.",
            ) from error


def _check(columns: list[str], make: FieldMap | None, name: str) -> None:
    """Say once, and not for every row, that a table has no traces."""
    if "execution_trace" not in columns and not (make and "trace" in make.pointers):
        raise InvalidInput(
            _NO_TRACE,
            where=name,
            advice=f"Say which one holds the trace, with --map trace=/COLUMN; it has "
            f"{', '.join(columns) or 'none'}.",
        )


def _of_cells(columns: list[str], cells: list[str], where: str, make: CaseMaker | None) -> CaseLine:
    if len(cells) != len(columns):
        error = InvalidInput(
            f"has {len(cells)} cells, where there are {len(columns)} columns.",
            where=where,
            advice="Quote cells that hold separators or line breaks.",
        )
        return CaseLine(where, error=error)
    row: dict[str, Json] = {
        column: cell or None for column, cell in zip(columns, cells, strict=True)
    }
    return _of_row(row, where, make)


def _of_row(row: dict[str, Json], where: str, make: CaseMaker | None) -> CaseLine:
    metadata = row.get("metadata")
    if isinstance(metadata, str):
        # A cell can't hold an object otherwise.
        try:
            row["metadata"] = json.loads(metadata)
        except (ValueError, RecursionError):
            error = InvalidInput(
                "holds no JSON.", where=f"{where}#/metadata", advice="Write an object into it."
            )
            return CaseLine(where, error=error, record=row)
    # Without a column of tasks, the task is what the user asks for first in the trace.
    return case_line(row, where, make or FieldMap({}))


def _parquet(file: DataFile) -> pq.ParquetFile:
    try:
        import pyarrow as pa  # noqa: PLC0415 - heavy, and in an extra
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise InvalidInput(
            "is a Parquet file.",
            where=file.name,
            advice="Install what reads it: pip install 'planproof[parquet]'.",
        ) from error
    try:
        return pq.ParquetFile(file.path)
    except (OSError, pa.ArrowException) as error:
        raise InvalidInput(
            f"is no Parquet that can be read: {str(error).splitlines()[0]}",
            where=file.name,
            advice="Write the file again; it may have been cut off.",
        ) from error


def _plain(value: Any) -> Json:
    """A value of a table as JSON values: a key that a struct has for others only is left out."""
    if is_object(value):
        return {key: _plain(held) for key, held in value.items() if held is not None}
    if is_list(value):
        return [_plain(item) for item in value]
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value
