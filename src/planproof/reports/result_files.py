"""Result files: JSON Lines with full verdicts, Parquet or CSV with a row per result."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Protocol

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.errors import InvalidInput
from planproof.reports.json import to_json_line
from planproof.reports.result_formats import ResultFormat
from planproof.runs.run_records import Result

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum

from planproof.core.finding import Extra, Severity, Status, StepFinding
from planproof.core.usage import Usage
from planproof.core.verdict import Coverage, JudgeSummary, Measures, NearestBetter, PlanSummary


class ColumnType(StrEnum):
    """Type of a column."""

    TEXT = "text"
    INTEGER = "whole number"
    NUMBER = "number"
    JSON = "JSON as text"
    STEPS = "list of steps"
    EXTRAS = "list of extras"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its type, and the function that gets its value from a result."""

    name: str
    column_type: ColumnType
    get_value: Callable[[Result], Json]


_NO_PLAN = PlanSummary(origin="", steps=0)
_NO_COVERAGE = Coverage(reader="", events=0)
_NO_JUDGE = JudgeSummary(name="", fingerprint="")


def _make_status_counter(status: Status) -> Callable[[Result], Json]:
    return lambda result: sum(s.status is status for s in result.verdict.findings.counted_steps)


def _make_extra_counter(severity: Severity) -> Callable[[Result], Json]:
    return lambda result: sum(extra.severity is severity for extra in result.verdict.extras)


def _make_plan_getter(field: str) -> Callable[[Result], Json]:
    return lambda result: getattr(result.verdict.plan or _NO_PLAN, field) or None


def _make_coverage_getter(field: str) -> Callable[[Result], Json]:
    return lambda result: result.verdict.coverage and getattr(result.verdict.coverage, field)


def _make_judge_getter(field: str) -> Callable[[Result], Json]:
    return lambda result: getattr(result.verdict.judge or _NO_JUDGE, field) or None


def _make_cost_getter(field: str) -> Callable[[Result], Json]:
    return lambda result: getattr(result.verdict.cost or Usage(), field)


def _make_nearest_better_getter(field: str) -> Callable[[Result], Json]:
    def get_value(result: Result) -> Json:
        better: NearestBetter | None = result.verdict.nearest_better
        return None if better is None else getattr(better, field)

    return get_value


def _make_measure_getter(field: str) -> Callable[[Result], Json]:
    return lambda result: result.verdict.measures and getattr(result.verdict.measures, field)


def _step_to_dict(step: StepFinding) -> dict[str, Json]:
    return {
        "number": step.number,
        "text": step.text,
        "status": step.status.value,
        "confidence": step.confidence,
        "events": [evidence.event for evidence in step.evidence],
        "quotes": [evidence.quote for evidence in step.evidence],
        "note": step.note,
    }


def _extra_to_dict(extra: Extra) -> dict[str, Json]:
    return {
        "event": extra.event,
        "what": extra.what,
        "severity": extra.severity.value,
        "confidence": extra.confidence,
        "quote": extra.quote,
    }


COLUMNS = (
    Column("position", ColumnType.INTEGER, lambda result: result.position),
    Column("id", ColumnType.TEXT, lambda result: result.id),
    Column("case_hash", ColumnType.TEXT, lambda result: result.case or None),
    Column("outcome", ColumnType.TEXT, lambda result: result.verdict.outcome.value),
    Column("cause", ColumnType.TEXT, lambda result: result.verdict.cause),
    Column("score", ColumnType.NUMBER, lambda result: result.verdict.score),
    Column("level", ColumnType.NUMBER, lambda result: result.verdict.level),
    Column("confidence", ColumnType.NUMBER, lambda result: result.verdict.confidence),
    Column("reason", ColumnType.TEXT, lambda result: result.verdict.reason),
    *(
        Column(f"{status.value}", ColumnType.INTEGER, _make_status_counter(status))
        for status in Status
    ),
    *(
        Column(f"{severity.value}_extras", ColumnType.INTEGER, _make_extra_counter(severity))
        for severity in Severity
    ),
    Column("nearest_better_score", ColumnType.NUMBER, _make_nearest_better_getter("score")),
    Column("nearest_better_change", ColumnType.TEXT, _make_nearest_better_getter("change")),
    *(
        Column(field.name, ColumnType.NUMBER, _make_measure_getter(field.name))
        for field in fields(Measures)
    ),
    Column("plan_origin", ColumnType.TEXT, _make_plan_getter("origin")),
    Column("plan_steps", ColumnType.INTEGER, _make_plan_getter("steps")),
    Column("reader", ColumnType.TEXT, _make_coverage_getter("reader")),
    Column("events", ColumnType.INTEGER, _make_coverage_getter("events")),
    Column("skipped", ColumnType.INTEGER, _make_coverage_getter("skipped")),
    Column("judge", ColumnType.TEXT, _make_judge_getter("name")),
    Column("judge_fingerprint", ColumnType.TEXT, _make_judge_getter("fingerprint")),
    Column("seconds", ColumnType.NUMBER, lambda result: result.seconds),
    Column("model_calls", ColumnType.INTEGER, _make_cost_getter("calls")),
    Column("tokens_in", ColumnType.INTEGER, _make_cost_getter("tokens_in")),
    Column("tokens_out", ColumnType.INTEGER, _make_cost_getter("tokens_out")),
    Column("cost", ColumnType.NUMBER, _make_cost_getter("cost")),
    Column("metadata", ColumnType.JSON, lambda result: json.dumps(result.verdict.metadata)),
    Column(
        "steps",
        ColumnType.STEPS,
        lambda result: [_step_to_dict(step) for step in result.verdict.steps],
    ),
    Column(
        "extras",
        ColumnType.EXTRAS,
        lambda result: [_extra_to_dict(extra) for extra in result.verdict.extras],
    ),
)


_BATCH_SIZE = 500
# Spreadsheets interpret a cell that begins with one of these as a formula (OWASP, "CSV Injection").
# Some of them also accept the full-width forms, or drop invisible characters before the sign.
_FORMULA = re.compile(
    r"[\t\r\n]|[\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]*+"
    r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
)
_NESTED = (ColumnType.STEPS, ColumnType.EXTRAS)


class ResultWriter(Protocol):
    """Writes results one by one."""

    def add(self, result: Result) -> None:
        """Write one result."""
        ...


@contextmanager
def open_result_writer(
    file: IO[bytes], result_format: ResultFormat
) -> Generator[ResultWriter, None, None]:
    """Open a writer for results; if it is interrupted, the file is readable up to that point."""
    if result_format is ResultFormat.PARQUET:
        with _open_parquet(file) as table:
            rows = _ParquetWriter(table)
            try:
                yield rows
            finally:
                rows.flush()
        return
    # Input can contain lone surrogates, which UTF-8 can't encode.
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
        # With quotes around every text, no separator, quote or line break in it starts a new cell.
        self._rows = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
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
        if len(self._buffer) >= _BATCH_SIZE:
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
            "writing Parquet needs pyarrow, which is not installed.",
            advice="Install it: pip install 'planproof[parquet]'.",
        ) from error
    return pq.ParquetWriter(file, _build_schema(), compression="zstd")


def _build_schema() -> pa.Schema:
    import pyarrow as pa  # noqa: PLC0415

    text, number = pa.string(), pa.float64()
    step = {
        "number": text,
        "text": text,
        "status": text,
        "confidence": number,
        "events": pa.list_(text),
        "quotes": pa.list_(text),
        "note": text,
    }
    extra = {"event": text, "what": text, "severity": text, "confidence": number, "quote": text}
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
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def _replace_surrogates(value: Json) -> Json:
    """Replace lone surrogates in a value, since Parquet files can't store them."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if is_list(value):
        return [_replace_surrogates(item) for item in value]
    if is_object(value):
        return {key: _replace_surrogates(nested) for key, nested in value.items()}
    return value
