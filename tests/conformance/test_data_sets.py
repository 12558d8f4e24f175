"""Data sets: the same cases come out of every form, and each fault is named with its place."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from backports import zstd

from planproof.core.case import Case
from planproof.core.content import Content
from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.readers.decoding.case_files import CaseLine
from planproof.readers.decoding.source import Source
from planproof.runs.datasets.data_set import DataSet
from planproof.runs.datasets.field_mapping import parse_map
from tests.small_cases import FOLLOWED, IDLE, PLAN, TASK

CASES: list[dict[str, Any]] = [
    {**FOLLOWED, "metadata": {"team": "a"}},
    {**IDLE, "metadata": {"team": "b", "turns": 2}},
]
TRACE: list[Any] = FOLLOWED["execution_trace"]


def _lines(cases: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(case)}\n" for case in cases).encode()


def _csv(cases: list[dict[str, Any]], separator: str = ",") -> bytes:
    table = io.StringIO()
    rows = csv.DictWriter(table, list(cases[0]), delimiter=separator)
    rows.writeheader()
    for case in cases:
        cells = {key: v if isinstance(v, str) else json.dumps(v) for key, v in case.items()}
        rows.writerow(cells)
    return ("\ufeff" + table.getvalue()).encode()


def _parquet(rows: list[dict[str, Any]], **kinds: Any) -> bytes:
    file = io.BytesIO()
    schema = pa.schema([pa.field(name, kind) for name, kind in kinds.items()]) if kinds else None
    table: Any = pa.Table.from_pylist(rows, schema=schema)
    writing: Any = pq
    writing.write_table(table, file)
    return file.getvalue()


def _replace_text(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**case, "execution_trace": json.dumps(case["execution_trace"])} for case in cases]


FORMS: dict[str, bytes] = {
    "cases.jsonl": _lines(CASES),
    "cases.ndjson": _lines(CASES),
    "cases.json": json.dumps(CASES, indent=1).encode(),
    "flat.json": json.dumps(CASES).encode(),
    "cases.csv": _csv(CASES),
    "cases.tsv": _csv(CASES, "\t"),
    "nested.parquet": _parquet(CASES),
    "text.parquet": _parquet(_replace_text(CASES)),
    "cases.jsonl.gz": gzip.compress(_lines(CASES)),
    "cases.json.zst": zstd.compress(json.dumps(CASES).encode()),
    "cases.csv.gz": gzip.compress(_csv(CASES)),
    "frames.jsonl.zst": b"".join(zstd.compress(_lines([case])) for case in CASES),
    "members.jsonl.gz": b"".join(gzip.compress(_lines([case])) for case in CASES),
}


def _read(*places: Path | str, **how: Any) -> list[CaseLine]:
    return [line for _, line in DataSet(paths=tuple(map(str, places)), **how)]


def _cases(lines: list[CaseLine]) -> list[Case]:
    assert [line.error for line in lines] == [None] * len(lines)
    return [line.case for line in lines if line.case is not None]


def _case_fields(case: Case) -> tuple[Any, ...]:
    """What a case says, whichever way a form writes it."""
    trace: Any = case.trace
    held = Source.from_value(trace).document
    plan: Any = json.loads(case.plan) if isinstance(case.plan, str) else case.plan
    return case.task, plan, held, case.id, case.metadata


@pytest.mark.parametrize("name", FORMS)
def test_every_format_has_the_same_cases(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FORMS[name])
    found = list(map(_case_fields, _cases(_read(path))))
    assert [one[:2] + one[3:4] for one in found] == [
        (Content(TASK), PLAN, "followed"),
        (Content(TASK), PLAN, "idle"),
    ]
    assert [metadata["team"] for *_, metadata in found] == ["a", "b"]
    if name != "nested.parquet":  # a struct has no key that only others have
        assert [held for _, _, held, _, _ in found] == [c["execution_trace"] for c in CASES]


@pytest.mark.parametrize("name", ["cases.jsonl", "cases.json", "cases.jsonl.gz", "cases.json.zst"])
def test_cases_can_come_from_standard_input(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FORMS[name])))
    assert [case.id for case in _cases(_read("-"))] == ["followed", "idle"]


def _folder(path: Path) -> Path:
    (path / "deep").mkdir(parents=True)
    (path / "b.json").write_text(json.dumps(TRACE))
    (path / "b.plan.txt").write_text("1. Read it\n2. Send it")
    (path / "b.task.md").write_text("Send it.")
    (path / "a.jsonl.gz").write_bytes(gzip.compress(_lines(TRACE)))
    (path / "a.plan.json").write_text(json.dumps(PLAN))
    (path / "deep" / "c.log").write_text("10:00 user: go on\n10:01 agent: done\n")
    (path / "deep" / "case.json").write_text(json.dumps(FOLLOWED, indent=2))
    (path / "deep" / "inside.json").write_text(json.dumps(TRACE, indent=2))
    (path / "README.md").write_text("# Not a trace")
    (path / ".hidden.json").write_text("{")
    return path


def test_a_folder_is_read_file_by_file_with_neighbouring_files(tmp_path: Path) -> None:
    found = _cases(_read(_folder(tmp_path / "runs")))
    assert [case.id for case in found] == ["a", "b", "deep/c", "followed", "deep/inside"]
    assert [case.plan for case in found] == [PLAN, "1. Read it\n2. Send it", None, PLAN, None]
    assert [case.task and case.task.text for case in found] == [None, "Send it.", None, TASK, None]


def test_globs_take_no_plan_for_a_trace(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "runs")
    found = _cases(_read(f"{folder}/**/*.json"))
    assert [case.id and case.id.removeprefix(f"{folder.as_posix()}/") for case in found] == [
        "b",
        "followed",
        "deep/inside",
    ]


def test_files_are_read_in_the_order_they_are_named(tmp_path: Path) -> None:
    for name in ("2.jsonl", "1.jsonl"):
        (tmp_path / name).write_bytes(_lines([{**FOLLOWED, "id": name}]))
    found = DataSet(paths=(f"{tmp_path}/2.jsonl", f"{tmp_path}/1.jsonl"))
    assert [(place, line.id) for place, line in found] == [(0, "2.jsonl"), (1, "1.jsonl")]


FOREIGN = {"key": 7, "meta": {"plan": PLAN, "ask": TASK}, "run": {"spans": TRACE}}
MAPPED = ("plan=/meta/plan", "trace=/run/spans", "id=/key")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("f.jsonl", _lines([FOREIGN])),
        ("f.json", json.dumps([FOREIGN]).encode()),
        ("pretty.json", json.dumps(FOREIGN, indent=1).encode()),
        ("f.parquet", _parquet([FOREIGN])),
        ("f.csv", _csv([FOREIGN])),
    ],
)
@pytest.mark.parametrize("task", [None, TASK])
def test_foreign_fields_are_found_by_pointers(
    name: str, data: bytes, task: str | None, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    mapping = parse_map([*MAPPED, *(["task=/meta/ask"] if task else [])])
    [case] = _cases(_read(path, mapping=mapping))
    assert (case.id, case.plan, case.task) == ("7", PLAN, Content(task) if task else None)


CASE = '{"user_task":"","execution_trace":[]}'
FAULTS: list[tuple[str, bytes, str, str]] = [
    ("nowhere.jsonl", b"", "nowhere.jsonl: can't be read: No such file or directory.", ""),
    ("x.jsonl.gz", gzip.compress(_lines(CASES))[:-20], "can't be decompressed: ", "truncated"),
    ("x.jsonl.gz", b"\x1f\x8bno", "can't be decompressed: ", "Copy the file again"),
    ("x.json.zst", zstd.compress(_lines(CASES * 50))[:-9], "can't be decompressed: ", "truncated"),
    ("x.json.zst", b"\x28\xb5\x2f\xfd" + b"x" * 40, "x.json.zst: can't be decompressed: ", "Copy"),
    ("x.parquet", b"no", "x.parquet: is not a valid Parquet file: ", "Export the file again"),
    ("x.parquet", _parquet([{"a": 1}]), "there is no column `execution_trace`.", "Columns: a."),
    (
        "x.csv",
        b"a,b\n1,2\n",
        "x.csv: there is no column `execution_trace`.",
        "--map trace=/COLUMN",
    ),
    ("x.csv", b"execution_trace\n\xff\n", "x.csv, line 2: byte 0 is not valid UTF-8.", "UTF-8"),
    (
        "x.csv",
        b'execution_trace\n"a"b\n',
        "x.csv, row 1: is not valid CSV from line 2 on: ",
        "double",
    ),
    ("x.csv", b'execution_trace\n"a\n', "x.csv, row 1: is not valid CSV from line 2 on: ", "Quote"),
    (
        "x.csv",
        b"execution_trace\n" + b"x" * 3_000,
        "x.csv, line 2: has more than 2,000",
        "max_bytes",
    ),
    (
        "x.json",
        f"[{CASE}".encode(),
        "x.json, line 1 column 39: is truncated or invalid JSON",
        "again",
    ),
    ("x.dat", bytes(range(256)) * 4, "x.dat: is not UTF-8 text.", "JSON Lines"),
    ("x.jsonl", CASE.encode("utf-16") * 2, "x.jsonl: is not UTF-8 text.", "JSON Lines"),
    ("x.json", f"[{CASE},{CASE}".encode(), "x.json: is a truncated JSON array.", "again"),
    (
        "x.json",
        b"{\n}",
        "x.json: is a single JSON document, but neither a case nor a trace.",
        "--map",
    ),
]


@pytest.mark.parametrize(("name", "data", "message", "advice"), FAULTS)
def test_errors_in_a_file_name_their_location(
    name: str, data: bytes, message: str, advice: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if data:
        path.write_bytes(data)
    with pytest.raises(InvalidInput) as caught:
        _read(path, limits=Limits(bytes=2_000))
    assert message in str(caught.value).replace(f"{tmp_path}/", "")
    assert advice in (caught.value.advice or "")


ROWS: list[tuple[str, bytes, str]] = [
    (
        "x.csv",
        b"id,execution_trace\n1\n",
        "x.csv, row 1: has 1 cells, but the table has 2 columns.",
    ),
    ("x.csv", b"id,execution_trace\n1,\n", "x.csv, row 1#/execution_trace: must be text or"),
    ("x.csv", b"metadata,execution_trace\nx,y\n", "x.csv, row 1#/metadata: is not valid JSON."),
    ("x.parquet", _parquet([{"execution_trace": 5}]), "x.parquet, row 1#/execution_trace: must be"),
    ("x.jsonl", b'{"user_task":1,"execution_trace":[]}', "x.jsonl, line 1#/user_task: must be"),
    ("x.json", b'[{"user_task":1,"execution_trace":[]}]', "x.json, item 1#/user_task: must be"),
]


@pytest.mark.parametrize(("name", "data", "message"), ROWS)
def test_what_is_wrong_with_a_record_does_not_stop_the_rest(
    name: str, data: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    good = tmp_path / "good.jsonl"
    good.write_bytes(_lines([FOLLOWED]))
    found = _read(path, good)
    assert message in str(found[0].error).replace(f"{tmp_path}/", "")
    assert [line.id for line in found[1:]] == ["followed"]


def test_a_file_of_several_that_can_not_be_read_does_not_stop_the_rest(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"no")
    (tmp_path / "b.json").write_text("{\n}")
    (tmp_path / "c.jsonl").write_bytes(_lines([FOLLOWED]))
    (tmp_path / "d.json").write_text(json.dumps(TRACE))
    (tmp_path / "d.plan.json").write_text("[")
    found = _read(tmp_path)
    assert [line.id for line in found] == ["a", "b", "followed", "d"]
    assert [line.error is None for line in found] == [False, False, True, False]
    assert "d.plan.json: is not valid JSON" in str(found[3].error)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("", "contains no case or trace files"),
        ("*.jsonl", "no file matches"),
    ],
)
def test_a_path_without_files_is_an_error(place: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=message):
        _read(f"{tmp_path}/{place}")


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["plan"], "`plan` is not a valid mapping. Write FIELD=POINTER"),
        (["plan=meta"], "`plan=meta` is not a valid mapping."),
        (["plna=/x"], "a case has no field `plna`. Did you mean `plan`?"),
    ],
)
def test_an_invalid_mapping_is_an_error(pairs: list[str], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_map(pairs)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("pointer", "message"),
    [
        ("/meta/x", "no value at /meta/x, where --map plan points. The record has /key, /me"),
        ("/key/x", "no value at /key/x"),
        ("/text/x", "no value at /text/x"),
    ],
)
def test_a_dangling_pointer_is_an_error(pointer: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(_lines([{**FOREIGN, "text": "no JSON"}]))
    [line] = _read(path, mapping=parse_map([f"plan={pointer}", "trace=/run/spans"]))
    assert message in str(line.error)
    assert f"{path}, line 1: " in str(line.error)


def test_a_missing_extra_is_named_in_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("pyarrow", "backports.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    for name, extra in (("x.parquet", "parquet"), ("x.jsonl.zst", "zstd")):
        path = tmp_path / name
        path.write_bytes(FORMS["text.parquet" if extra == "parquet" else "cases.json.zst"])
        with pytest.raises(InvalidInput, match=rf"pip install 'planproof\[{extra}\]'"):
            _read(path)


MANY = 400


def _many(form: str) -> bytes:
    cases = [{**FOLLOWED, "user_task": "x" * 20_000, "id": str(n)} for n in range(MANY)]
    writers: dict[str, Callable[[], bytes]] = {
        "jsonl": lambda: _lines(cases),
        "json": lambda: json.dumps(cases).encode(),
        "csv": lambda: _csv(cases),
        "parquet": lambda: _parquet(_replace_text(cases)),
        "jsonl.gz": lambda: gzip.compress(_lines(cases)),
        "jsonl.zst": lambda: zstd.compress(_lines(cases)),
    }
    return writers[form]()


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "jsonl.gz", "jsonl.zst", "parquet"])
def test_cases_are_streamed(form: str, tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / f"many.{form}"
    path.write_bytes(_many(form))
    _read(path, limits=Limits(bytes=1_000_000))  # what is made once is not counted
    tracemalloc.start()
    assert sum(1 for _ in DataSet(paths=(str(path),))) == MANY
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < MANY * 20_000 / 4
