"""Results as files: what a table says is what the verdicts say, with the types of its columns."""

from __future__ import annotations

import csv
import io
import json
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from planproof.core.case import Case
from planproof.core.usage import Usage
from planproof.errors import InvalidInput
from planproof.evaluation import evaluate_case, invalid_input_verdict
from planproof.readers.decoding.case_files import parse_case
from planproof.reports.result_files import (
    COLUMNS,
    ResultFormat,
    open_result_writer,
)
from planproof.reports.result_formats import detect_result_format
from planproof.runs.run_records import Result, serialize_case
from tests.small_cases import FOLLOWED, IDLE, PLANLESS

# Neither has types that pyright could use.
duckdb: Any = import_module("duckdb")
pandas: Any = import_module("pandas")

HOSTILE = '=cmd|"/c calc"!A1'


def _make_result(position: int, case: Case) -> Result:
    return Result(position, serialize_case(case).hash, case.id, evaluate_case(case), 0.25)


def _results() -> list[Result]:
    results = [
        _make_result(n, parse_case({**fields, "metadata": {"n": n}}, name="c"))
        for n, fields in enumerate([FOLLOWED, IDLE, PLANLESS])
    ]
    odd = invalid_input_verdict(
        InvalidInput("\ud800 is no case."), id=HOSTILE, metadata={"ü": "\udfff"}
    )
    paid = replace(results[0].verdict, cost=Usage(calls=2, tokens_in=30, cost=0.5), id=None)
    return [*results, Result(3, "", HOSTILE, odd, 0.0), Result(4, "x", None, paid, 1.5)]


def _write_results(results: list[Result], form: ResultFormat) -> bytes:
    file = io.BytesIO()
    with open_result_writer(file, form) as rows:
        for result in results:
            rows.add(result)
    return file.getvalue()


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    path = tmp_path / "results.parquet"
    path.write_bytes(_write_results(_results(), ResultFormat.PARQUET))
    return path


def test_lines_are_the_whole_verdicts() -> None:
    results = _results()
    lines = _write_results(results, ResultFormat.JSONL).decode().splitlines()
    assert list(map(json.loads, lines)) == [result.verdict.full() for result in results]


def test_duckdb_reads_typed_columns(parquet: Path) -> None:
    table = duckdb.sql(f"SELECT * FROM '{parquet}' ORDER BY position")
    types = {name: str(kind) for name, kind in zip(table.columns, table.types, strict=True)}
    assert [types[name] for name in ("position", "score", "reason", "executed", "seconds")] == [
        "BIGINT",
        "DOUBLE",
        "VARCHAR",
        "BIGINT",
        "DOUBLE",
    ]
    assert types["steps"].replace('"', "").startswith("STRUCT(number VARCHAR, text VARCHAR, ")
    assert types["steps"].endswith("[]")
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.fetchall()]
    assert [row["id"] for row in rows] == ["followed", "idle", "planless", HOSTILE, None]
    assert [row["score"] for row in rows] == [1.0, 0.0, None, None, 1.0]
    assert [row["executed"] for row in rows] == [3, 0, 0, 0, 3]
    assert [row["missing"] for row in rows] == [0, 3, 0, 0, 0]
    assert [row["cost"] for row in rows] == [None, None, None, None, 0.5]
    assert rows[3]["reason"] == "? is no case."
    assert json.loads(rows[3]["metadata"]) == {"ü": "\udfff"}
    first = rows[0]["steps"][0]
    step = _results()[0].verdict.steps[0]
    assert (first["number"], first["text"], first["status"]) == ("1", step.text, "executed")
    assert first["quotes"] == [evidence.quote for evidence in step.evidence]


def test_pandas_reads_typed_columns(parquet: Path) -> None:
    frame = pandas.read_parquet(parquet)
    assert list(frame.columns) == [column.name for column in COLUMNS]
    assert str(frame["position"].dtype) == "int64"
    assert str(frame["score"].dtype) == "float64"
    assert frame["score"].mean() == pytest.approx(2 / 3)
    assert frame["executed"].sum() == 6


def test_csv_has_a_row_a_result_and_no_formulas() -> None:
    text = _write_results(_results(), ResultFormat.CSV).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["id"] for row in rows] == ["followed", "idle", "planless", f"'{HOSTILE}", ""]
    assert [row["score"] for row in rows] == ["1.0", "0.0", "", "", "1.0"]
    assert rows[3]["reason"] == "\\ud800 is no case."
    assert [step["status"] for step in json.loads(rows[1]["steps"])] == ["missing"] * 3


@pytest.mark.parametrize("line_break", ["\r", "\n", "\r\n"])
@pytest.mark.parametrize(
    "sign", ["=", "+", "-", "@", "\t=", "\uff1d", "\uff0b", "\uff0d", "\uff20"]
)
def test_no_cell_of_a_csv_file_is_a_formula(sign: str, line_break: str, tmp_path: Path) -> None:
    formula = f"{sign}HYPERLINK(1,2)"
    result = _results()[0]
    ids = [formula, f"a{line_break}{formula}", f'a"{line_break}{formula}', f"{line_break}{formula}"]
    results = [replace(result, id=name, position=at) for at, name in enumerate(ids)]
    path = tmp_path / "results.csv"
    path.write_bytes(_write_results(results, ResultFormat.CSV))
    frame = pandas.read_csv(path, dtype=str)
    assert len(frame) == len(ids), "a line break starts no row of its own"
    assert list(frame.columns) == [column.name for column in COLUMNS]
    cells = [cell for cell in frame.to_numpy().flatten() if isinstance(cell, str)]
    assert not [cell for cell in cells if cell[0] in "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"]
    assert list(frame["id"]) == [
        f"'{name}" if at in (0, 3) else name for at, name in enumerate(ids)
    ]
    rows = duckdb.sql(f"SELECT id FROM read_csv('{path}', all_varchar=true)").fetchall()
    assert len(rows) == len(ids)


@pytest.mark.parametrize("invisible", ["\x00", "\ufeff", "\u200b", "\u2060\u00ad", " \u00a0"])
def test_no_invisible_character_hides_a_formula(invisible: str) -> None:
    result = replace(_results()[0], id=f"{invisible}=HYPERLINK(1,2)")
    rows = _write_results([result], ResultFormat.CSV).decode()
    assert f"'{invisible}=HYPERLINK" in rows
    harmless = replace(_results()[0], id=f"{invisible}a=1")
    assert f"'{invisible}a" not in _write_results([harmless], ResultFormat.CSV).decode()


@pytest.mark.parametrize("form", ResultFormat)
def test_no_results_are_a_file_too(form: ResultFormat, tmp_path: Path) -> None:
    path = tmp_path / "none"
    path.write_bytes(_write_results([], form))
    if form is ResultFormat.PARQUET:
        assert duckdb.sql(f"SELECT count(*) FROM read_parquet('{path}')").fetchall() == [(0,)]
    else:
        assert len(path.read_text().splitlines()) == (form is ResultFormat.CSV)


def test_what_was_written_before_a_fault_can_be_read(tmp_path: Path) -> None:
    def write_and_break_off(path: Path) -> None:
        with path.open("wb") as file, open_result_writer(file, ResultFormat.PARQUET) as rows:
            rows.add(_results()[0])
            raise KeyboardInterrupt

    path = tmp_path / "broken.parquet"
    with pytest.raises(KeyboardInterrupt):
        write_and_break_off(path)
    assert duckdb.sql(f"SELECT id FROM '{path}'").fetchall() == [("followed",)]


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.PARQUET", "parquet"), ("a.csv", "csv"), ("a.jsonl", "jsonl"), ("a", "jsonl")],
)
def test_the_name_of_a_file_says_its_form(name: str, form: str) -> None:
    assert detect_result_format(Path(name)) == form


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InvalidInput, match=r"pip install 'planproof\[parquet\]'"):
        _write_results([], ResultFormat.PARQUET)
