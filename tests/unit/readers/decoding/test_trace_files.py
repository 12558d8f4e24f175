from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.readers.decoding.case_files import CaseLine
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.trace_files import read_cases
from tests.small_cases import FOLLOWED
from tests.unit.readers.inspect_logs import log, pack_log
from tests.unit.readers.samples import ALL

CHAT = FOLLOWED["execution_trace"]


def read(data: bytes | str, limits: Limits | None = None) -> list[CaseLine]:
    data = data.encode() if isinstance(data, str) else data
    return list(read_cases(io.BytesIO(data), name="f", limits=limits))


def lines(*values: Any) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


SEVERAL: dict[str, bytes | str] = {
    "archive": pack_log(),
    "log": json.dumps(log()),
    "log over many lines": json.dumps(log(), indent=2),
    "lines": lines(*log()["samples"]),
    "blank lines": "\n\n" + lines(*log()["samples"]).replace("\n", "\n\n"),
    "array": json.dumps(log()["samples"]),
    "array over many lines": json.dumps(log()["samples"], indent=1),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_each_trace_of_a_file_is_a_case(name: str) -> None:
    found = read(SEVERAL[name])
    assert [line.id for line in found] == ["task-1_epoch_1", "task-2_epoch_1", "task-3_epoch_1"]
    for line in found:
        assert line.where == f"f#{line.id}"
        assert line.case is not None
        assert isinstance(line.case.trace, Source)
        assert line.case.trace.name == line.where
        assert line.case.plan is None


def test_lines_of_traces_are_read_one_at_a_time() -> None:
    one = lines({"messages": CHAT})
    file = io.BytesIO(one.encode() * 9)
    next(read_cases(file, name="f"))
    assert file.tell() <= 3 * len(one)


def test_an_array_that_is_one_trace_is_one_case() -> None:
    [line] = read(json.dumps(CHAT * 30))
    assert line.case is not None


def test_a_trace_a_line_with_lines_that_are_none() -> None:
    broken = '{"messages": [\n5\nplain text\n'
    found = read(lines({"messages": CHAT}) + broken + lines({"id": "x", "messages": CHAT}))
    assert [line.id for line in found] == ["1", None, None, None, "x"]
    told = [str(line.error) for line in found if line.error]
    assert [error.split(":")[0] for error in told] == [
        "f, line 2",
        "f, line 3",
        "f, line 4",
    ]
    assert told[1].startswith("f, line 3: is not a trace. ")


def test_a_line_of_a_trace_beyond_the_limit_is_left_out() -> None:
    short = lines({"messages": CHAT[:1]})
    found = read(short + lines({"messages": CHAT * 20}) + short, Limits(bytes=2_000))
    assert [line.error is None for line in found] == [True, False, True]


@pytest.mark.parametrize("name", ["openai", "openai lines", "native", "native lines"])
def test_a_single_trace_is_a_single_case(name: str) -> None:
    sample = ALL[name]
    text = sample if isinstance(sample, str) else json.dumps(sample, indent=1)
    [line] = read(text)
    assert line.case is not None


@pytest.mark.parametrize("first", [b"{broken", b'{"id": 1}', b"[]", b"7"])
def test_a_data_set_may_begin_with_a_line_without_a_case(first: bytes) -> None:
    found = read(first + b"\n" + json.dumps(FOLLOWED).encode() + b"\n" + b"x\n")
    assert [line.error is None for line in found] == [False, True, False]


def test_a_sample_that_can_not_be_read_does_not_stop_the_rest() -> None:
    found = read(pack_log({"samples/cut_epoch_1.json": b'{"messages": ['}))
    assert [line.error is None for line in found] == [True, True, True, False]
    assert found[3].id == "cut_epoch_1"


def test_a_document_without_traces_is_refused() -> None:
    with pytest.raises(
        InvalidInput, match="is a single JSON document, but neither a case nor a trace"
    ):
        read(json.dumps({"a": 1}, indent=1))


@pytest.mark.parametrize("blank", [b" ", b"\n", b"\t\r\n"])
def test_blanks_before_a_data_set_are_read_in_few_pieces(blank: bytes) -> None:
    class Counted(io.BytesIO):
        pieces = 0

        def read(self, size: int | None = -1, /) -> bytes:
            self.pieces += 1
            return super().read(size)

    blanks = blank * (300_000 // len(blank))
    for data in (lines(FOLLOWED, FOLLOWED), json.dumps([FOLLOWED, FOLLOWED])):
        file = Counted(blanks + data.encode())
        found = list(read_cases(file, name="f"))
        assert [line.error for line in found] == [None, None]
        # The pieces are joined: byte by byte, that takes time quadratic in the blanks.
        assert file.pieces < 100


def test_blanks_before_a_data_set_count_as_lines() -> None:
    assert [line.where for line in read(" \n" * 200_000 + lines(FOLLOWED))] == ["f, line 200001"]
    assert [line.where for line in read("\n" * 200_000 + json.dumps([FOLLOWED]))] == ["f, item 1"]


def _cases(*sizes: int) -> list[dict[str, Any]]:
    return [{**FOLLOWED, "metadata": {"n": [1] * size}} for size in sizes]


def _as_lines(values: list[Any]) -> str:
    return lines(*values)


@pytest.mark.parametrize("write", [_as_lines, json.dumps])
def test_values_are_limited_for_each_case_of_a_data_set(write: Callable[[Any], str]) -> None:
    limits = Limits(values=1_000)
    found = read(write(_cases(*[500] * 30)), limits)
    assert [line.error for line in found] == [None] * 30
    for sizes in ((1_000, 5, 5), (5, 1_000, 5), (1_000, 1_000, 5)):
        errors = [line.error for line in read(write(_cases(*sizes)), limits)]
        assert [error is not None for error in errors] == [size == 1_000 for size in sizes]
        assert "contains more than 1,000 values" in str(next(error for error in errors if error))


def test_values_are_limited_for_each_line_of_traces() -> None:
    for large in (0, 1, 30):
        made = [{"messages": CHAT, "more": [1] * 500} for _ in range(40)]
        made[large]["more"] *= 2
        found = read(lines(*made), Limits(values=1_000))
        assert [number for number, line in enumerate(found) if line.error is not None] == [large]
        assert len(found) == len(made)


def test_one_document_with_too_many_values_is_an_error() -> None:
    for indent in (None, 1):
        text = json.dumps({"messages": CHAT, "more": [1] * 1_000}, indent=indent)
        with pytest.raises(InvalidInput, match="contains more than 1,000 values"):
            _raise(read(text, Limits(values=1_000)))


def _raise(found: list[CaseLine]) -> None:
    (line,) = found
    assert line.error is not None
    raise line.error
