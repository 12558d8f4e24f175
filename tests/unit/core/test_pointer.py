from __future__ import annotations

from typing import Any

import pytest

from planproof.core.content import Json
from planproof.core.pointer import escape, resolve
from planproof.errors import InvalidInput

DOCUMENT: Any = {"a": [{"b/c": 1, "d~e": 2, "": 3}], "01": "x"}
RECORDS = ((1, {"id": "x", "t": "ab"}), (3, {"id": "y", "t": "!"}), (7, {"id": "x", "t": "cd"}))
TEXT = "one\ntwo\r\n\nfour"


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", DOCUMENT),
        ("/a/0/b~1c", 1),
        ("/a/0/d~0e", 2),
        ("/a/0/", 3),
        ("/01", "x"),
    ],
)
def test_json_pointers_lead_to_values(pointer: str, value: Any) -> None:
    assert resolve(DOCUMENT, pointer) == value


@pytest.mark.parametrize("pointer", ["a", "/b", "/a/1", "/a/-1", "/a/00", "/a/x", "/01/0", "L1"])
def test_a_json_pointer_that_leads_nowhere_is_an_error(pointer: str) -> None:
    with pytest.raises(InvalidInput, match="not found in this source"):
        resolve(DOCUMENT, pointer)


@pytest.mark.parametrize(
    ("pointer", "value"),
    [("L1", "one"), ("L2", "two\r"), ("L1-4", TEXT), ("", TEXT), ("L3", ""), ("L1:2-3", "ne")],
)
def test_lines_of_a_text(pointer: str, value: str) -> None:
    assert resolve(TEXT, pointer) == value


@pytest.mark.parametrize(
    "pointer", ["L0", "L5", "L3-2", "L4-5", "L1/a", "/0", "L1-2-3", "L1 ", "L1:2-9", "L9:1-2"]
)
def test_lines_that_are_not_there_are_an_error(pointer: str) -> None:
    with pytest.raises(InvalidInput, match="not found in this source"):
        resolve(TEXT, pointer)


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("L3/t", "!"),
        ("L7", {"id": "x", "t": "cd"}),
        ("", [{"id": "x", "t": "ab"}, {"id": "y", "t": "!"}, {"id": "x", "t": "cd"}]),
        ("L1-7/t", "abcd"),
        ("L1-6/t", "ab"),
        ("L1-7/none", ""),
    ],
)
def test_records_and_values_that_arrived_in_chunks(pointer: str, value: Any) -> None:
    assert resolve(RECORDS, pointer) == value


@pytest.mark.parametrize("pointer", ["L2", "L8/t", "/0", "L3/x"])
def test_a_record_that_is_not_there_is_an_error(pointer: str) -> None:
    with pytest.raises(InvalidInput, match="not found in this source"):
        resolve(RECORDS, pointer)


def test_chunks_that_are_not_text_are_skipped() -> None:
    assert resolve(((1, {"t": "a"}), (2, ["b"]), (3, {"t": 4}), (4, {"t": "c"})), "L1-4/t") == "ac"


def test_objects_in_chunks_are_joined_key_by_key() -> None:
    chunks: tuple[dict[str, Json], ...] = (
        {"call": {"name": "find", "args": "", "of": {"a": "1"}}},
        {"call": {"name": None, "args": '{"x":', "n": 1}},
        {"call": {"args": "2}", "of": {"a": "2", "b": "3"}}},
    )
    records = tuple((line, {"id": "m", **chunk}) for line, chunk in enumerate(chunks, 1))
    whole = {"name": "find", "args": '{"x":2}', "of": {"a": "12", "b": "3"}, "n": 1}
    assert resolve(records, "L1-3/call") == whole
    assert resolve(records, "L1-3") == {"id": "mmm", "call": whole}


@pytest.mark.parametrize("key", ["plain", "a/b", "a~b", "~1/~0", ""])
def test_an_escaped_key_leads_back(key: str) -> None:
    assert resolve({key: 5}, f"/{escape(key)}") == 5
