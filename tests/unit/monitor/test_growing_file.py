"""A file that is still being written: in parts, truncated, rewritten, replaced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.monitor.growing_file import GrowingFile
from planproof.readers.decoding.source import Source

ONE = '{"kind": "action", "name": "one"}'
TWO = '{"kind": "action", "name": "two"}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


def growing_file(path: Path, size: int = 10_000) -> GrowingFile:
    return GrowingFile(path, Limits(bytes=size))


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text)


def names(source: Source | None) -> list[str]:
    assert source is not None
    if source.form == "json":
        return [source.document["name"]]
    return [value["name"] for _, value in source.document]


def test_lines_are_read_as_they_come(path: Path) -> None:
    file = growing_file(path)
    assert file.read_new() is None
    append(path, f"{ONE}\n")
    assert names(file.read_new()) == ["one"]
    assert file.read_new() is None
    append(path, f"\n{TWO}\nno JSON\n")
    source = file.read_new()
    assert names(source) == ["one", "two"]
    assert source is not None
    assert [skipped.pointer for skipped in source.skipped] == ["L4"]
    assert source.document[1][0] == 3
    assert file.restarts == 1


def test_what_was_read_in_pieces_is_what_is_read_at_once(path: Path) -> None:
    file, last = growing_file(path), None
    text = f"\ufeff{ONE}\n{TWO}\n[1]\n2\n{ONE}\n"
    for start in range(0, len(text), 7):
        append(path, text[start : start + 7])
        last = file.read_new() or last
    assert last is not None
    assert last.document == Source.from_path(path).document


def test_half_a_line_waits_for_the_other_half(path: Path) -> None:
    file = growing_file(path)
    append(path, f"{ONE}\n{TWO[:9]}")
    assert names(file.read_new()) == ["one"]
    append(path, TWO[9:])
    assert file.read_new() is None
    append(path, "\n")
    assert names(file.read_new()) == ["one", "two"]


@pytest.mark.parametrize("rewritten", [f"{TWO}\n", f"{TWO}\n{TWO}\n{TWO}\n"])
def test_a_rewritten_file_is_read_from_the_start(path: Path, rewritten: str) -> None:
    file = growing_file(path)
    append(path, f"{ONE}\n{ONE}\n")
    assert names(file.read_new()) == ["one", "one"]
    path.write_text(rewritten, "utf-8")
    assert set(names(file.read_new())) == {"two"}
    assert file.restarts == 2


def test_a_file_that_is_replaced_begins_again(path: Path) -> None:
    file = growing_file(path)
    append(path, f"{ONE}\n")
    assert names(file.read_new()) == ["one"]
    path.rename(path.with_suffix(".1"))
    assert file.read_new() is None
    append(path, f"{ONE}\n{TWO}\n")
    assert names(file.read_new()) == ["one", "two"]
    assert file.restarts == 2


def test_a_document_is_read_once_it_is_whole(path: Path) -> None:
    file = growing_file(path)
    document = json.dumps({"events": [json.loads(ONE)]}, indent=1)
    path.write_text(document[:20], "utf-8")
    assert file.read_new() is None
    path.write_text(document, "utf-8")
    source = file.read_new()
    assert source is not None
    assert (source.form, source.document) == ("json", json.loads(document))
    path.write_text(document.replace("one", "three"), "utf-8")
    source = file.read_new()
    assert source is not None
    assert source.document["events"][0]["name"] == "three"


def test_an_unreadable_file_is_an_error(path: Path, tmp_path: Path) -> None:
    append(path, f"{ONE}\n" * 10)
    with pytest.raises(InvalidInput, match="more than 50 bytes"):
        growing_file(path, size=50).read_new()
    with pytest.raises(InvalidInput, match="can't be read"):
        growing_file(tmp_path).read_new()
