"""Small files that unpack to huge ones, or parse to huge values: refused in bounded memory."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

from tests.hostile.commands import run_command
from tests.hostile.intensity import choose
from tests.small_cases import FOLLOWED

MEGABYTE = 2**20
UNPACKED = choose(600, 2_000)
"""Megabytes that a bomb unpacks to."""
MEMORY_BYTES = 2**30
CPU_SECONDS = 60.0
_PIECE = b"0" * MEGABYTE


def _write_gzip(path: Path, piece: bytes) -> None:
    with gzip.open(path, "wb", compresslevel=6) as file:
        for _ in range(UNPACKED):
            file.write(piece)


def _write_zstd(path: Path, piece: bytes) -> None:
    with zstd.open(path, "wb") as file:
        for _ in range(UNPACKED):
            file.write(piece)


def _write_zip(path: Path, piece: bytes) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("header.json", "w", force_zip64=True) as entry,
    ):
        for _ in range(UNPACKED):
            entry.write(piece)


def _write_nested_zip(path: Path, piece: bytes) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(50):
            archive.writestr(f"{number}.json", piece * 8)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for number in range(20):
            archive.writestr(f"samples/{number}.json", inner.getvalue())


@pytest.mark.parametrize(
    ("name", "write", "piece"),
    [
        ("cases.jsonl.gz", _write_gzip, _PIECE),
        ("cases.json.gz", _write_gzip, b"[" + b" " * (MEGABYTE - 1)),
        ("cases.jsonl.gz", _write_gzip, b"{}," * (MEGABYTE // 3)),
        ("cases.csv.gz", _write_gzip, b'"' + b"x" * (MEGABYTE - 1)),
        ("cases.jsonl.zst", _write_zstd, _PIECE),
        ("cases.jsonl.zst", _write_zstd, b"[" * MEGABYTE),
        ("log.eval", _write_zip, _PIECE),
        ("log.eval", _write_nested_zip, _PIECE),
    ],
)
def test_packed_data_sets(
    tmp_path: Path, name: str, write: Callable[[Path, bytes], None], piece: bytes
) -> None:
    write(tmp_path / name, piece)
    words = ["run", name, "--store", "none", "-o", "out.jsonl", "--concurrency", "1"]
    done = run_command(words, tmp_path)
    assert done.code in {2, 3}
    assert done.memory < MEMORY_BYTES
    assert done.cpu_seconds < CPU_SECONDS


_ALIASES = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))
_WIDE = json.dumps([{}] * 2_500_000).encode()
_DEEP = b'{"a":' * 200_000 + b"1" + b"}" * 200_000
TEXTS = {
    "aliases": f"a0: &a0 [x]\n{_ALIASES}\n".encode(),
    "deep": _DEEP,
    "deep list": b"[" * 500_000,
    "deep yaml": b"- " * 20_000,
    "wide": _WIDE,
    "long number": b"[" + b"9" * 3_000_000 + b"]",
    "long key": b'{"' + b"k" * 20_000_000 + b'": 1}',
    "merge keys": b"<<: *a\n" * 100_000,
    "many documents": b"---\n{}\n" * 200_000,
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("option", ["--trace", "--plan", "--contract", "--profile"])
def test_values_that_grow_when_they_are_parsed(tmp_path: Path, option: str, text: str) -> None:
    (tmp_path / "trace.json").write_text(json.dumps(FOLLOWED["execution_trace"]), encoding="utf-8")
    suffix = ".yaml" if option in {"--contract", "--profile"} else ".json"
    (tmp_path / f"input{suffix}").write_bytes(TEXTS[text])
    words = ["judge", option, f"input{suffix}"]
    if option != "--trace":
        words += ["--trace", "trace.json"]
    done = run_command(words, tmp_path)
    assert done.memory < MEMORY_BYTES
    assert done.cpu_seconds < CPU_SECONDS


MESSAGES = {
    "lines": "ab\n",
    "words": "ab  cd ",
    "numbers": "12 34,",
    "actions": "Action: f\n",
    "fences": "```\nls\n```\n",
    "quotes": '"a" ',
}


@pytest.mark.parametrize("name", MESSAGES)
def test_one_message_of_many_small_parts(tmp_path: Path, name: str) -> None:
    # The character at the end makes Python keep four bytes for each of the others.
    text = MESSAGES[name] * (choose(2, 10) * MEGABYTE // len(MESSAGES[name])) + "\U0001f600"
    trace = [{"role": "user", "content": "Go"}, {"role": "assistant", "content": text}]
    (tmp_path / "trace.json").write_text(json.dumps(trace), encoding="utf-8")
    (tmp_path / "plan.md").write_text("1. Read a.txt\n2. Copy it to b.txt\n", encoding="utf-8")
    done = run_command(["judge", "--trace", "trace.json", "--plan", "plan.md"], tmp_path)
    assert done.code == 0
    assert done.memory < MEMORY_BYTES
    assert done.cpu_seconds < CPU_SECONDS
