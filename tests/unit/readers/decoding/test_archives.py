from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.readers.decoding.archives import Archive
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import split_traces
from tests.unit.readers.inspect_logs import pack_log

LIMITS = Limits()


def with_field(data: bytes, local: int, central: int, value: int) -> bytes:
    """The same archive with a two-byte field of every entry set, here and in the directory."""
    changed = bytearray(data)
    for mark, offset in ((b"PK\x03\x04", local), (b"PK\x01\x02", central)):
        at = data.find(mark)
        while at >= 0:
            struct.pack_into("<H", changed, at + offset, value)
            at = data.find(mark, at + 1)
    return bytes(changed)


def test_a_log_is_an_archive_of_its_samples() -> None:
    source = Source.from_bytes(pack_log(), name="log.eval")
    assert source.form == "archive"
    assert source.document.sample_names == ["task-1_epoch_1", "task-2_epoch_1", "task-3_epoch_1"]
    assert source.digest.startswith("sha256:")


def test_names_lead_nowhere_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = pack_log({"samples/../../escape.json": b"{}", "samples//etc/x.json": b"{}"}, count=0)
    assert [member.source.document for member in split_traces(Source.from_bytes(data))] == [{}, {}]
    assert not list(tmp_path.iterdir())


def test_a_sample_that_unpacks_to_more_than_the_limit_is_refused() -> None:
    data = pack_log({"samples/bomb_epoch_1.json": b" " * 100_000}, count=0)
    archive = Archive(data, "log.eval", Limits(bytes=50_000))
    with pytest.raises(
        InvalidInput, match=r"log.eval#bomb_epoch_1: unpacks to more than the limit"
    ):
        archive.read_sample(0)


def test_a_log_that_unpacks_to_far_more_than_the_limit_is_refused() -> None:
    data = pack_log({f"samples/{n}.json": b" " * 1000 for n in range(17)}, count=0)
    with pytest.raises(InvalidInput, match="unpacks to 17,000 bytes, more than 16 times the limit"):
        Archive(data, "log.eval", Limits(bytes=1000))


def test_too_many_entries_are_refused() -> None:
    with pytest.raises(InvalidInput, match="more than 3 entries"):
        Archive(pack_log(), "log.eval", Limits(entries=3))


def test_a_zip_without_samples_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is a ZIP archive without samples of an Inspect log"):
        Source.from_bytes(pack_log({"notes.txt": b"x"}, count=0))


@pytest.mark.parametrize("cut", [10, 200, -30])
def test_a_zip_that_is_cut_off_is_refused(cut: int) -> None:
    with pytest.raises(InvalidInput, match="is a ZIP archive that can't be read"):
        Source.from_bytes(pack_log()[:cut])


def test_a_broken_sample_does_not_cost_the_others() -> None:
    data = bytearray(pack_log())
    middle = data.find(b"samples/task-2_epoch_1.json") + 60
    data[middle : middle + 20] = b"\xff" * 20
    first, broken, last = split_traces(Source.from_bytes(bytes(data), name="log.eval"))
    assert first.source.document["id"] == "task-1"
    assert last.source.document["id"] == "task-3"
    with pytest.raises(InvalidInput, match=r"log.eval#task-2_epoch_1: is a ZIP archive that can't"):
        _ = broken.source


def test_an_encrypted_sample_is_refused() -> None:
    archive = Archive(with_field(pack_log(), 6, 8, 1), "log.eval", LIMITS)
    with pytest.raises(InvalidInput, match="is encrypted"):
        archive.read_sample(0)


@pytest.mark.parametrize(("method", "said"), [(93, "Zstandard"), (97, "an unknown method")])
def test_an_unknown_compression_is_an_error(method: int, said: str) -> None:
    if method in getattr(zipfile, "compressor_names", {}) and hasattr(zipfile, "ZIP_ZSTANDARD"):
        pytest.skip("this Python unpacks it")
    archive = Archive(with_field(pack_log(), 8, 10, method), "log.eval", LIMITS)
    with pytest.raises(
        InvalidInput, match=rf"compressed with {said}, which this Python can't decompress"
    ):
        archive.read_sample(0)
